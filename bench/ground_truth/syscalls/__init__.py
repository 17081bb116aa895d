"""Traces of strace(1) read as connections and exchanges."""
