"""From trials to figures with intervals, and from figures to verdicts.

Everything here works on whole trials: the repeats of a cell are the sample, and the
percentiles of a trial are its figures. Calls within one trial share a process, a
connection and a moment, so they are never taken for independent samples. Formulas name
their source; docs/methodology.md explains them.
"""
