"""Compares prediction and result: the effect of a flipped setting, and the verdict.

A pure function of trials. Tests use simulated runs in which the cause is real, is not, or costs
more than the packets showed.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Literal

from wirelab.records.trial import Point, Trial
from wirelab.run.adaptive.record import (
    Interventions,
    Planned,
    Spot,
    Together,
    call_ns,
    occurrences_per_call,
    select_captured,
    time_of_cause_ns,
)
from wirelab.statistics import linear_contrasts
from wirelab.statistics.cell import Cell, cells, point_key
from wirelab.statistics.comparison import holm
from wirelab.statistics.interval import Interval
from wirelab.statistics.repeats import Room, Spread, further_repeats, suggest_repeats

TOLERANCE = 0.1
"""A prediction is met if the interval contains a value within this share of it; occurrences are
gone if at most this share of them is left. Of a saving of which only the most is predicted, at
least this share must be there."""
ALPHA = 0.05
NS_PER_MS = 1e6

Verdict = Literal["holds", "does not hold", "undecided"]
"""Verdict on a finding. ``holds``: the flipped setting saves a significant amount of time, so the
finding names a cause. ``does not hold``: the saved time is less than predicted and not significant,
or calls became slower."""
Prediction = Literal["met", "less", "more", "occurrences left"]
"""For a finding that holds: whether time and occurrences decreased as predicted."""


@dataclass(frozen=True)
class Tested:
    """One finding, its prediction and its result."""

    planned: Planned
    found: Interval | None
    """Saved milliseconds per call; None if a side has no measurements."""
    occurrences: tuple[float, float] | None
    """Occurrences per exchange, before and after."""
    p_value: float | None
    """p value of "no time saved", adjusted over all findings of the run (Holm); None without
    intervals."""
    verdict: Verdict
    reason: str
    prediction: Prediction | None = None
    """None if the finding does not hold or is undecided."""
    further_repeats: int | None = None
    """For an undecided finding: number of further trials of both sides that may decide it; None if
    no practical number does."""

    @property
    def proven(self) -> bool:
        """True if a cause may be named: time was saved, significantly."""
        return self.verdict == "holds"

    def to_json(self) -> dict[str, object]:
        """Document for ``--json``."""
        return {
            **self.planned.model_dump(mode="json"),
            "found_ms_per_call": _interval(self.found),
            "occurrences_per_call": self.occurrences,
            "p_value_holm": self.p_value,
            "verdict": self.verdict,
            "prediction": self.prediction,
            "reason": self.reason,
            "further_repeats": self.further_repeats,
        }


@dataclass(frozen=True)
class Joint:
    """All settings of a cell flipped together."""

    planned: Together
    found: Interval | None
    """Saved milliseconds per call."""
    interaction: Interval | None
    """Saving beyond the sum of the single settings; negative if they save the same time."""

    def to_json(self) -> dict[str, object]:
        """Document for ``--json``."""
        return {
            **self.planned.model_dump(mode="json"),
            "found_ms_per_call": _interval(self.found),
            "interaction_ms_per_call": _interval(self.interaction),
        }


@dataclass(frozen=True)
class Outcome:
    """Results for the findings of a run."""

    record: Interventions
    tested: tuple[Tested, ...]
    together: tuple[Joint, ...]

    def of(self, point: Point, cause: str) -> Tested | None:
        """The test of that cause at that point, at either capture end."""
        key = _anywhere(point)
        for one in self.tested:
            if one.planned.claim.cause == cause and _anywhere(one.planned.before.point) == key:
                return one
        return None

    @property
    def verdict(self) -> Verdict | None:
        """Verdict on all findings: they hold if each one does. None if none was tested."""
        verdicts = {one.verdict for one in self.tested}
        order: tuple[Verdict, ...] = ("does not hold", "undecided", "holds")
        return next((verdict for verdict in order if verdict in verdicts), None)

    def to_json(self) -> dict[str, object]:
        """Document for ``--json``."""
        return {
            "minimum_share": self.record.minimum_share,
            "tolerance": TOLERANCE,
            "tested": [one.to_json() for one in self.tested],
            "together": [one.to_json() for one in self.together],
            "untested": [one.model_dump(mode="json") for one in self.record.untested],
        }


def judge(record: Interventions, trials: Iterable[Trial]) -> Outcome:
    """The verdict on every finding that was to be tested."""
    found = {point_key(cell.point): cell for cell in cells(trials)}
    measured = [_Measured.of(found, test) for test in record.tests]
    known = [one.p_value for one in measured if one.p_value is not None]
    adjusted = holm(known)
    # p value that the next finding must reach, by Holm's procedure.
    level = ALPHA / max(1, sum(p >= ALPHA for p in adjusted))
    family = iter(adjusted)
    tested = [
        _judge(test, one, next(family) if one.p_value is not None else None, level)
        for test, one in zip(record.tests, measured, strict=True)
    ]
    together = [_joint(found, planned, record.tests) for planned in record.together]
    return Outcome(record, tuple(tested), tuple(together))


@dataclass(frozen=True)
class _Measured:
    found: Interval | None = None
    p_value: float | None = None
    occurrences: tuple[float, float] | None = None
    spread: Spread | None = None

    @classmethod
    def of(cls, found: dict[str, Cell], test: Planned) -> _Measured:
        cause = test.claim.cause
        before, after = _times(found, test.before, cause), _times(found, test.after, cause)
        if not before or not after:
            return cls()
        terms = [(1.0, before), (-1.0, after)]
        gone, p = linear_contrasts.total(terms), linear_contrasts.p_value(terms)
        rates = _rate(found, test, test.before), _rate(found, test, test.after)
        return cls(gone, p, rates, linear_contrasts.spread(terms))


def _trials(found: dict[str, Cell], spot: Spot) -> list[Trial]:
    cell = found.get(point_key(spot.point))
    trials = select_captured(cell) if cell is not None else []
    return [trial for trial in trials if call_ns(trial) is not None]


def _times(found: dict[str, Cell], spot: Spot, cause: str = "") -> list[float]:
    """Milliseconds per call charged to ``cause``, one value per trial."""
    return [(time_of_cause_ns(trial, cause) or 0.0) / NS_PER_MS for trial in _trials(found, spot)]


def _rate(found: dict[str, Cell], test: Planned, spot: Spot) -> float:
    rates = [occurrences_per_call(trial, test.claim.cause) for trial in _trials(found, spot)]
    return sum(rates) / len(rates)


def _judge(test: Planned, measured: _Measured, p_value: float | None, level: float) -> Tested:
    found, rates = measured.found, measured.occurrences
    if found is None or rates is None:
        why = "one of the two sides has no measurements"
        return Tested(test, found, rates, p_value, "undecided", why)
    if found.bounds is None or p_value is None:
        why = f"{found.reason}; more repeats give an interval"
        return Tested(test, found, rates, p_value, "undecided", why)
    low, high = found.bounds
    least, _ = _prediction_range(test)
    if high < 0.0 and p_value < ALPHA:
        return Tested(test, found, rates, p_value, "does not hold", "calls became slower")
    if low > 0.0 and p_value < ALPHA:
        prediction, reason = _compare_prediction(test, low, high, rates)
        return Tested(test, found, rates, p_value, "holds", reason, prediction)
    if high < least:
        return Tested(test, found, rates, p_value, "does not hold", "no time was saved")
    why = "the interval contains both zero and the prediction"
    if low > 0.0:
        why = "significant alone, but not when corrected for all tested findings (Holm)"
    further = _further(measured, least, level)
    why = f"{why}; {suggest_repeats(further, 'limit')}"
    return Tested(test, found, rates, p_value, "undecided", why, None, further)


def _compare_prediction(
    test: Planned, low: float, high: float, occurrences: tuple[float, float]
) -> tuple[Prediction, str]:
    """Whether the prediction was met, if time was saved."""
    least, most = _prediction_range(test)
    if high < least:
        return "less", "time was saved, but less than predicted"
    if low > most:
        return "more", "more time was saved than predicted"
    left = _share_left(occurrences)
    if left > TOLERANCE:
        share = f"{100 * left:.0f} %"
        return "occurrences left", f"time was saved, but {share} of the occurrences remain"
    return "met", "time and occurrences decreased as predicted"


def _further(measured: _Measured, least: float, level: float) -> int | None:
    """Repeats after which the interval may exclude zero, or the prediction."""
    if measured.found is None or measured.spread is None:
        return None
    estimate = measured.found.estimate
    shown = further_repeats(measured.spread, Room(abs(estimate)), 1.0 - level)
    denied = further_repeats(measured.spread, Room(least - estimate), 1.0 - ALPHA)
    return min((number for number in (shown, denied) if number is not None), default=None)


def _prediction_range(test: Planned) -> tuple[float, float]:
    """The least and the most that meets the prediction, milliseconds per call."""
    most = test.ms_predicted
    return max(test.least * (1.0 - TOLERANCE), most * TOLERANCE), most * (1.0 + TOLERANCE)


def _share_left(occurrences: tuple[float, float]) -> float:
    """Share of the occurrences that remain after the flip."""
    before, after = occurrences
    return after / before if before else float(after > 0.0)


def _joint(found: dict[str, Cell], planned: Together, tests: Sequence[Planned]) -> Joint:
    before, after = _times(found, planned.before), _times(found, planned.after)
    switches = {test.axis: test for test in tests if test.before == planned.before}
    alone = [_times(found, test.after) for test in switches.values()]
    if not before or not after or not all(alone):
        return Joint(planned, None, None)
    gone = linear_contrasts.total([(1.0, before), (-1.0, after)])
    # (before - after) - sum of (before - alone)
    terms = [(1.0 - len(alone), before), (-1.0, after), *((1.0, times) for times in alone)]
    return Joint(planned, gone, linear_contrasts.total(terms))


def _anywhere(point: Point) -> str:
    return point_key(replace(point, options={**point.options, "capture": ""}))


def _interval(interval: Interval | None) -> dict[str, object] | None:
    if interval is None:
        return None
    return {
        "estimate": interval.estimate,
        "low": interval.low,
        "high": interval.high,
        "trials": interval.n,
        "reason": interval.reason,
    }
