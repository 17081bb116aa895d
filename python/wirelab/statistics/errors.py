"""What can be wrong with the numbers that statistics are asked to judge.

::

    StatisticsError
     +-- NoValues            nothing to judge
     +-- NotPositive         a logarithm of zero or of a negative value was asked for
     +-- NotFinite           a value is NaN or infinite
     +-- UnequalLengths      paired values that do not pair
     +-- TooFewValues        the method needs more values than there are
     +-- OutOfRange          a parameter lies outside its legal range
"""

from __future__ import annotations


class StatisticsError(ValueError):
    """Root of all errors of :mod:`wirelab.statistics`."""


class NoValues(StatisticsError):
    """There is nothing to judge."""


class NotPositive(StatisticsError):
    """The logarithm of a value that is not positive was asked for."""


class NotFinite(StatisticsError):
    """A value is NaN or infinite."""


class UnequalLengths(StatisticsError):
    """Paired values come in two lists of different lengths."""


class TooFewValues(StatisticsError):
    """The method needs more values than there are."""


class OutOfRange(StatisticsError):
    """A parameter lies outside its legal range."""
