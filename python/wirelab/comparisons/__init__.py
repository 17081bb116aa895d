"""Comparisons of two finished runs, and of two services that are measured in pairs.

Only :mod:`wirelab.comparisons.pairs`, :mod:`~wirelab.comparisons.limit` and
:mod:`~wirelab.comparisons.causes` start trials; the other modules are pure.
"""
