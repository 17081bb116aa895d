"""The sections of the page, each with its tables."""
