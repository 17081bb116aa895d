"""Tests findings in packets by intervention.

The diagnosis states the cost of a cause and the setting that it blames. The test runs the same cell
again, unchanged and with that one setting flipped, interleaved on fresh processes, and compares the
prediction with the result. It is an ordinary experiment in an ordinary run directory, derived from
the run's own file. The predictions are stored in it before its first trial.

Without such a test a finding is not called a cause: see :attr:`Tested.proven`.
"""
