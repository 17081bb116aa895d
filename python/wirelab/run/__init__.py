"""Runs: their directory, journal and progress, and the execution of an experiment."""
