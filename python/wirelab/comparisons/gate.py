"""Verdict on two services that were measured in pairs: is the second one worse?"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Literal

from wirelab.records.trial import Trial
from wirelab.run.manifest import Comparison
from wirelab.statistics import sequential
from wirelab.statistics.cell import point_key
from wirelab.statistics.distributions import binomial_interval
from wirelab.statistics.figure import CODEC, FIGURES, FIRST_CALLS, RUNTIME, Figure
from wirelab.statistics.interval import Interval, StatisticsError
from wirelab.statistics.sequential import Decision, judge

Outcome = Literal["better", "worse", "equivalent", "undecided", "failed"]
KNOWN = {figure.name: figure for figure in (*FIGURES, *RUNTIME, *CODEC, *FIRST_CALLS)}
"""Figures that can be compared, by name."""
FAILED_MAX = 3
"""Number of failed pairs after which the comparison ends."""


@dataclass(frozen=True)
class Calls:
    """Calls of all measured trials of a service."""

    made: int = 0
    failed: int = 0

    @property
    def failed_share(self) -> Interval:
        """Share of failed calls with its interval; without calls it is unknown."""
        if not self.made:
            return Interval(0.0, 0.0, 1.0, 0, "none", "no calls")
        return binomial_interval(self.failed, self.made)


@dataclass(frozen=True)
class Pairs:
    """Figures of both services, pair by pair."""

    a: tuple[float, ...]
    b: tuple[float, ...]
    failed: tuple[str, ...]
    """Reasons why other pairs have no figures."""
    calls: tuple[Calls, Calls]
    """Calls of a and of b."""

    @property
    def fails_more(self) -> bool:
        """True if calls of b fail more often than those of a: the 95 % intervals do not overlap."""
        a, b = (calls.failed_share.bounds or (0.0, 1.0) for calls in self.calls)
        return b[0] > a[1]


@dataclass(frozen=True)
class Gate:
    """Result of the comparison of b with a."""

    figure: Figure
    threshold: float
    pairs: Pairs
    verdict: Decision

    @property
    def outcome(self) -> Outcome:
        """Verdict on replacing a with b. *failed*: pairs could not be measured, or none was. If
        calls of b fail more often, b is worse, whatever the times of its other calls."""
        if len(self.pairs.failed) >= FAILED_MAX:
            return "failed"
        if self.pairs.fails_more:
            return "worse"
        if not self.pairs.a:
            return "failed"
        if self.verdict.outcome in ("equivalent", "undecided"):
            return "equivalent" if self.verdict.outcome == "equivalent" else "undecided"
        return "better" if self.verdict.outcome == self.figure.better else "worse"

    @property
    def ratio(self) -> Interval:
        """Ratio of b to a; without an estimate if no pair has a figure."""
        return self.verdict.ratio

    def to_json(self) -> dict[str, object]:
        """Document for ``--json``."""
        low, high = self.ratio.bounds or (None, None)
        return {
            "outcome": self.outcome,
            "figure": self.figure.name,
            "unit": self.figure.unit,
            "threshold": self.threshold,
            "ratio": {
                "estimate": self.ratio.estimate if self.pairs.a else None,
                "low": low,
                "high": high,
            },
            "method": self.ratio.method,
            "pairs": len(self.pairs.a),
            "a": self.pairs.a,
            "b": self.pairs.b,
            "calls": {name: asdict(one) for name, one in zip("ab", self.pairs.calls, strict=True)},
            "failed": self.pairs.failed,
        }


def pairs(trials: Sequence[Trial], cells: tuple[str, str], figure: Figure) -> Pairs:
    """The complete pairs of a run with two cells, which are named by
    :func:`wirelab.statistics.cell.point_key`. A pair is two trials with the same repeat."""
    found: dict[int, dict[str, Trial]] = {}
    calls = dict.fromkeys(cells, Calls())
    for trial in trials:
        key = point_key(trial.point)
        found.setdefault(trial.repeat, {})[key] = trial
        if trial.status == "measured":
            made = calls[key].made + trial.result.calls
            calls[key] = Calls(made, calls[key].failed + trial.result.errors)
    a, b, failed = [], [], []
    for repeat, both in sorted(found.items()):
        if len(both) < len(cells):
            continue
        first, second = (both[key] for key in cells)
        reasons = [one.reason for one in (first, second) if one.status != "measured"]
        values = None if reasons else (figure.of(first), figure.of(second))
        if values is not None and values[0] and values[1]:
            a.append(values[0])
            b.append(values[1])
        else:
            failed.append(reasons[0] if reasons else f"pair {repeat} has no {figure.title}")
    return Pairs(tuple(a), tuple(b), tuple(failed), (calls[cells[0]], calls[cells[1]]))


def gate(trials: Sequence[Trial], cells: tuple[str, str], figure: Figure, threshold: float) -> Gate:
    """The verdict so far; can be computed after any pair."""
    found = pairs(trials, cells, figure)
    if not found.a:
        nothing = Interval(float("nan"), None, None, 0, "none", "no pair has been measured")
        return Gate(figure, threshold, found, Decision("undecided", nothing))
    return Gate(figure, threshold, found, judge(found.a, found.b, threshold))


def kept(trials: Sequence[Trial], comparison: Comparison) -> Gate | None:
    """The verdict on the question that a manifest keeps; None if it cannot be answered, for
    example for a figure that this version of wirelab does not know."""
    figure = KNOWN.get(comparison.figure)
    asked = [trial for trial in trials if point_key(trial.point) in comparison.cells]
    if figure is None or not 0.0 <= comparison.threshold <= 1.0:
        return None
    try:
        return gate(asked, comparison.cells, figure, comparison.threshold)
    except StatisticsError:
        return None


def further_pairs(made: Gate) -> int | None:
    """Further pairs after which an undecided result may be decided, if they vary about the ratio as
    those so far; None beyond :data:`wirelab.statistics.repeats.REPEATS_MAX`, or if nothing is
    known of how they vary."""
    return sequential.further_pairs(made.pairs.a, made.pairs.b, made.threshold)


def is_enough(made: Gate) -> bool:
    """True if more pairs are useless: the result is decided, or pairs fail."""
    return made.verdict.decided or len(made.pairs.failed) >= FAILED_MAX
