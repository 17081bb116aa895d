"""One trial: its record, and what runs it, places it, links it and captures its packets."""
