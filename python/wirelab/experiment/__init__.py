"""Experiments: the file, its models, and the matrix of trials that it describes."""
