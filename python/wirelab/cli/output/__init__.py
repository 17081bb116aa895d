"""Output of each command and the work behind it; imported when the command runs."""
