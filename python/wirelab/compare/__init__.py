"""Comparisons between runs. Pure: nothing here starts a trial."""
