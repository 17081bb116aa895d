"""Runs: the directory, its journal, progress, and what executes an experiment."""
