"""Comparisons: of two finished runs, and of two services that are measured in pairs.

Only :mod:`wirelab.comparisons.pairs` starts trials; the rest is pure.
"""
