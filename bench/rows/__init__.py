"""The rows of the bench, each with what it measures."""
