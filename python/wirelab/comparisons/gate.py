"""Verdict on two services that were measured in pairs: is the second one worse?"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass, field, replace
from math import log, log1p
from typing import Literal

from wirelab.checks.load import fell_behind
from wirelab.comparisons.findings import FigureFinding, findings
from wirelab.comparisons.guards import (
    ERRORS,
    Calls,
    Guard,
    confidence_of_figure,
    confidence_of_guard,
    errors_guard,
    fails_more,
    figure_guard,
)
from wirelab.records.trial import Trial
from wirelab.run.manifest import Comparison
from wirelab.statistics import sequential
from wirelab.statistics.cell import point_key
from wirelab.statistics.figure import CODEC, FIGURES, FIRST_CALLS, RUNTIME, Figure
from wirelab.statistics.interval import Interval, StatisticsError
from wirelab.statistics.sequential import Decision, judge

Outcome = Literal["better", "worse", "equivalent", "undecided", "failed"]
KNOWN = {figure.name: figure for figure in (*FIGURES, *RUNTIME, *CODEC, *FIRST_CALLS)}
"""Figures that can be compared, by name."""
FAILED_MAX = 3
"""Number of failed pairs after which the comparison ends."""
OVERLOADED_PAIRS = 5
"""Number of pairs after which a comparison ends if neither service kept up in any of them."""


@dataclass(frozen=True)
class Pairs:
    """Figures of both services, pair by pair."""

    a: tuple[float, ...]
    b: tuple[float, ...]
    failed: tuple[str, ...]
    """Reasons why other pairs have no figures."""
    calls: tuple[Calls, Calls]
    """Calls of a and of b."""
    trials: tuple[tuple[Trial, Trial], ...] = field(default=(), repr=False)
    """Those of the pairs that have figures."""


@dataclass(frozen=True)
class Gate:
    """Result of the comparison of b with a."""

    figure: Figure
    threshold: float
    pairs: Pairs
    verdict: Decision
    guards: tuple[Guard, ...] = ()
    confidence: float = 0.95
    """Of the interval of the figure."""
    findings: tuple[FigureFinding, ...] = ()
    """What is known of other figures."""
    fails_more: bool = False
    """True if calls of b fail more often than those of a."""

    @property
    def outcome(self) -> Outcome:
        """Verdict on replacing a with b. *failed*: pairs could not be measured, or none was. If
        calls of b fail more often or a guarded figure is worse, b is worse, whatever its other
        figures. Where a guard is not known to hold, nothing better than *undecided*."""
        if len(self.pairs.failed) >= FAILED_MAX:
            return "failed"
        if self.fails_more or self.guards_of("worse"):
            return "worse"
        if not self.pairs.a:
            return "failed"
        of_figure = self.outcome_of_figure
        return "undecided" if self.unguarded and of_figure != "worse" else of_figure

    @property
    def outcome_of_figure(self) -> Outcome:
        """That of the figure alone."""
        if self.verdict.outcome in ("equivalent", "undecided"):
            return "equivalent" if self.verdict.outcome == "equivalent" else "undecided"
        return "better" if self.verdict.outcome == self.figure.better else "worse"

    @property
    def unguarded(self) -> tuple[Guard, ...]:
        """Guards that are not known to hold."""
        return self.guards_of("lacking", "undecided")

    def guards_of(self, *outcomes: str) -> tuple[Guard, ...]:
        """Guards with one of these outcomes."""
        return tuple(guard for guard in self.guards if guard.outcome in outcomes)

    @property
    def overloaded(self) -> bool:
        """Whether neither service kept up with the arrivals of any pair: queues grew, and response
        times are those of the length of the window."""
        measured = self.pairs.trials
        return len(measured) >= OVERLOADED_PAIRS and all(
            fell_behind(trial) for pair in measured for trial in pair
        )

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
            "confidence": self.confidence,
            "method": self.ratio.method,
            "pairs": len(self.pairs.a),
            "a": self.pairs.a,
            "b": self.pairs.b,
            "calls": {name: asdict(one) for name, one in zip("ab", self.pairs.calls, strict=True)},
            "failed": self.pairs.failed,
            "guards": [guard.to_json() for guard in self.guards],
            "findings": [finding.to_json() for finding in self.findings],
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
    a, b, failed, measured = [], [], [], []
    for repeat, both in sorted(found.items()):
        if len(both) < len(cells):
            continue
        first, second = (both[key] for key in cells)
        reasons = [one.reason for one in (first, second) if one.status != "measured"]
        values = None if reasons else (figure.of(first), figure.of(second))
        if values is not None and values[0] and values[1]:
            a.append(values[0])
            b.append(values[1])
            measured.append((first, second))
        else:
            failed.append(reasons[0] if reasons else f"pair {repeat} has no {figure.title}")
    both_calls = (calls[cells[0]], calls[cells[1]])
    return Pairs(tuple(a), tuple(b), tuple(failed), both_calls, tuple(measured))


def gate(
    trials: Sequence[Trial],
    cells: tuple[str, str],
    figure: Figure,
    threshold: float,
    guards: Sequence[str] = (),
) -> Gate:
    """The verdict so far; can be computed after any pair."""
    found = pairs(trials, cells, figure)
    guards = [name for name in guards if name != figure.name]
    confidence = confidence_of_figure(guards)
    if found.a:
        decision = judge(found.a, found.b, threshold, confidence)
    else:
        nothing = Interval(float("nan"), None, None, 0, "none", "no pair has been measured")
        decision = Decision("undecided", nothing)
    of_errors = confidence_of_guard(guards) if ERRORS in guards else 0.95
    return Gate(
        figure,
        threshold,
        found,
        decision,
        tuple(_guard(name, found, threshold, confidence_of_guard(guards)) for name in guards),
        confidence,
        fails_more=fails_more(found.calls, of_errors, len(found.a) if ERRORS in guards else 0),
    )


def _guard(name: str, found: Pairs, threshold: float, confidence: float) -> Guard:
    if name == ERRORS:
        return errors_guard(found.calls, confidence, len(found.a))
    return figure_guard(KNOWN[name], found.trials, threshold, confidence)


def with_findings(made: Gate) -> Gate:
    """The verdict with what is known of other figures."""
    return replace(made, findings=findings(made.pairs.trials, made.figure, made.threshold))


def read_gate(trials: Sequence[Trial], comparison: Comparison) -> Gate | None:
    """The verdict on the question that a manifest keeps, with what is known of other figures; None
    if it cannot be answered, for example for a figure that this version of wirelab does not
    know."""
    figure = KNOWN.get(comparison.figure)
    asked = [trial for trial in trials if point_key(trial.point) in comparison.cells]
    known = all(name in KNOWN or name == ERRORS for name in comparison.guards)
    if figure is None or not known or not 0.0 <= comparison.threshold <= 1.0:
        return None
    try:
        made = gate(asked, comparison.cells, figure, comparison.threshold, comparison.guards)
        return with_findings(made)
    except StatisticsError:
        return None


def further_pairs(made: Gate) -> int | None:
    """Further pairs after which an undecided result may be decided, if they vary about the ratio as
    those so far; None beyond :data:`wirelab.statistics.repeats.REPEATS_MAX`, or if nothing is
    known of how they vary."""
    values = made.pairs.a, made.pairs.b
    return sequential.further_pairs(*values, made.threshold, made.confidence)


def is_enough(made: Gate) -> bool:
    """True if more pairs are useless: the result is decided, pairs fail, or both services are
    overloaded. A service that is worse in its figure needs no guard."""
    if len(made.pairs.failed) >= FAILED_MAX or made.guards_of("worse") or made.overloaded:
        return True
    if made.verdict.decided and made.outcome_of_figure == "worse":
        return True
    return made.verdict.decided and all(guard.settled for guard in made.guards)


def is_precise(made: Gate, precision: float) -> bool:
    """True if the interval reaches at most ``precision`` to both sides of the estimate, pairs fail,
    or both services are overloaded."""
    if len(made.pairs.failed) >= FAILED_MAX or made.overloaded:
        return True
    low, high = made.ratio.bounds or (0.0, float("inf"))
    return low > 0.0 and log(high / low) <= 2.0 * log1p(precision)
