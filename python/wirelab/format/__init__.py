"""Text for people: units, numbers, names of things, and what a terminal shows."""
