"""What each command prints, and what it does to have it; imported when the command runs."""
