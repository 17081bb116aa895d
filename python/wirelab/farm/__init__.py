"""Trials of one experiment on many equal hosts, as tasks of Ray."""
