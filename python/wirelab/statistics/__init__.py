"""From trials to figures with intervals, and from figures to verdicts.

Everything here works on whole trials: the repeats of a cell are the sample, and the
percentiles of a trial are its figures. Calls within one trial share a process, a
connection and a moment, so they are never taken for independent samples. Formulas name
their source; docs/methodology.md explains them.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from wirelab.statistics.cell import Cell, cells, point_key, setting_key
    from wirelab.statistics.comparison import THRESHOLD, Comparison, Verdict, family, holm, ratio
    from wirelab.statistics.errors import (
        NotFinite,
        NotPositive,
        NoValues,
        OutOfRange,
        StatisticsError,
        TooFewValues,
        UnequalLengths,
    )
    from wirelab.statistics.exponential import ExponentialFit, anderson_darling_exponential
    from wirelab.statistics.figure import (
        BYTES_RECEIVED,
        BYTES_SENT,
        CLIENT_CPU,
        FIGURES,
        GOOD_CALLS,
        GOOD_MEAN,
        GOOD_P50,
        GOOD_P99,
        RATE,
        RESPONSE_MEAN,
        RESPONSE_P50,
        RESPONSE_P99,
        SERVICE_CPU,
        SERVICE_P50,
        SERVICE_P99,
        Figure,
    )
    from wirelab.statistics.interval import Interval
    from wirelab.statistics.mean import mean_interval
    from wirelab.statistics.percentile import percentile_printable
    from wirelab.statistics.proportion import binomial_interval
    from wirelab.statistics.queueing import little_ratio, littles_law
    from wirelab.statistics.repeats import REPEATS_MAX, Room, Spread, decided_by, further_repeats
    from wirelab.statistics.resampling import resampled_aa
    from wirelab.statistics.stationarity import Stationarity, stationary

__all__ = [
    "BYTES_RECEIVED",
    "BYTES_SENT",
    "CLIENT_CPU",
    "FIGURES",
    "GOOD_CALLS",
    "GOOD_MEAN",
    "GOOD_P50",
    "GOOD_P99",
    "RATE",
    "REPEATS_MAX",
    "RESPONSE_MEAN",
    "RESPONSE_P50",
    "RESPONSE_P99",
    "SERVICE_CPU",
    "SERVICE_P50",
    "SERVICE_P99",
    "THRESHOLD",
    "Cell",
    "Comparison",
    "ExponentialFit",
    "Figure",
    "Interval",
    "NoValues",
    "NotFinite",
    "NotPositive",
    "OutOfRange",
    "Room",
    "Spread",
    "Stationarity",
    "StatisticsError",
    "TooFewValues",
    "UnequalLengths",
    "Verdict",
    "anderson_darling_exponential",
    "binomial_interval",
    "cells",
    "decided_by",
    "family",
    "further_repeats",
    "holm",
    "little_ratio",
    "littles_law",
    "mean_interval",
    "percentile_printable",
    "point_key",
    "ratio",
    "resampled_aa",
    "setting_key",
    "stationary",
]

_HOMES = {
    "cell": (
        "Cell",
        "cells",
        "point_key",
        "setting_key",
    ),
    "comparison": (
        "THRESHOLD",
        "Comparison",
        "Verdict",
        "family",
        "holm",
        "ratio",
    ),
    "errors": (
        "NotFinite",
        "NotPositive",
        "NoValues",
        "OutOfRange",
        "StatisticsError",
        "TooFewValues",
        "UnequalLengths",
    ),
    "exponential": (
        "ExponentialFit",
        "anderson_darling_exponential",
    ),
    "figure": (
        "BYTES_RECEIVED",
        "BYTES_SENT",
        "CLIENT_CPU",
        "FIGURES",
        "GOOD_CALLS",
        "GOOD_MEAN",
        "GOOD_P50",
        "GOOD_P99",
        "RATE",
        "RESPONSE_MEAN",
        "RESPONSE_P50",
        "RESPONSE_P99",
        "SERVICE_CPU",
        "SERVICE_P50",
        "SERVICE_P99",
        "Figure",
    ),
    "interval": ("Interval",),
    "mean": ("mean_interval",),
    "percentile": ("percentile_printable",),
    "proportion": ("binomial_interval",),
    "queueing": (
        "little_ratio",
        "littles_law",
    ),
    "repeats": (
        "REPEATS_MAX",
        "Room",
        "Spread",
        "decided_by",
        "further_repeats",
    ),
    "resampling": ("resampled_aa",),
    "stationarity": (
        "Stationarity",
        "stationary",
    ),
}
_HOME = {name: module for module, names in _HOMES.items() for name in names}


def __getattr__(name: str) -> Any:
    """PEP 562: loads the module that holds a public name. A judgement on a series of counts
    needs neither numpy nor scipy, and commands that need no more do not load them."""
    if name not in _HOME:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f"{__name__}.{_HOME[name]}"), name)
