"""Options of the commands: what several have in common, and those of one command each."""
