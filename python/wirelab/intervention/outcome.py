"""Predicted beside found: what the flipped switch did, and whether the finding was right.

A pure function of trials. Fed worlds in which the cause is real, is not, or is more than the
packets showed, it must say so; the tests hold it to that.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal

from wirelab import contrast
from wirelab.intervention.claims import call_ns, captured, occurrences_per_call
from wirelab.intervention.record import Interventions, Planned, Spot, Together
from wirelab.statistics import Cell, Interval, cells, holm, point_key
from wirelab.trial import Point, Trial

TOLERANCE = 0.1
"""A prediction is met where the interval holds a value within this share of it; occurrences
are gone where no more than this share of them is left."""
ALPHA = 0.05
NS_PER_MS = 1e6

Verdict = Literal["held", "partly", "did not hold", "cannot be told"]
"""Of a prediction. ``held``: the time went as predicted. ``partly``: time went, more or less
than predicted. ``did not hold``: less went than was predicted, and perhaps none."""


@dataclass(frozen=True)
class Tested:
    """One finding, its prediction and what came of it."""

    planned: Planned
    found: Interval | None
    """Milliseconds per call that went; None where a side measured nothing."""
    occurrences: tuple[float, float] | None
    """Per exchange, before and after."""
    p_value: float | None
    """Of "nothing went", Holm's over all findings tested in the run; None without intervals."""
    verdict: Verdict
    reason: str

    @property
    def proven(self) -> bool:
        """True where a cause may be spoken of: time went, beyond chance."""
        return self.verdict in ("held", "partly")

    def to_json(self) -> dict[str, Any]:
        """For ``--json``."""
        return {
            **self.planned.model_dump(mode="json"),
            "found_ms_per_call": _interval(self.found),
            "occurrences_per_call": self.occurrences,
            "p_value_holm": self.p_value,
            "verdict": self.verdict,
            "reason": self.reason,
        }


@dataclass(frozen=True)
class Joint:
    """All switches of a cell at once."""

    planned: Together
    found: Interval | None
    """Milliseconds per call that went."""
    interaction: Interval | None
    """What went beyond the sum of the single switches; negative where they take the same time."""

    def to_json(self) -> dict[str, Any]:
        """For ``--json``."""
        return {
            **self.planned.model_dump(mode="json"),
            "found_ms_per_call": _interval(self.found),
            "interaction_ms_per_call": _interval(self.interaction),
        }


@dataclass(frozen=True)
class Outcome:
    """Everything that was found out about the findings of a run."""

    record: Interventions
    tested: tuple[Tested, ...]
    together: tuple[Joint, ...]

    def of(self, point: Point, cause: str) -> Tested | None:
        """The test of that cause at that point, whichever end was captured."""
        key = _anywhere(point)
        for one in self.tested:
            if one.planned.claim.cause == cause and _anywhere(one.planned.before.point) == key:
                return one
        return None

    def to_json(self) -> dict[str, Any]:
        """For ``--json``."""
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
    told = [one.p_value for one in measured if one.p_value is not None]
    adjusted = iter(holm(told))
    tested = [
        _tested(test, one, next(adjusted) if one.p_value is not None else None)
        for test, one in zip(record.tests, measured, strict=True)
    ]
    together = [_joint(found, planned, record.tests) for planned in record.together]
    return Outcome(record, tuple(tested), tuple(together))


@dataclass(frozen=True)
class _Measured:
    found: Interval | None = None
    p_value: float | None = None
    occurrences: tuple[float, float] | None = None

    @classmethod
    def of(cls, found: dict[str, Cell], test: Planned) -> _Measured:
        before, after = _times(found, test.before), _times(found, test.after)
        if not before or not after:
            return cls()
        terms = [(1.0, before), (-1.0, after)]
        gone, p = contrast.total(terms), contrast.p_value(terms)
        return cls(gone, p, (_rate(found, test, test.before), _rate(found, test, test.after)))


def _trials(found: dict[str, Cell], spot: Spot) -> list[Trial]:
    cell = found.get(point_key(spot.point))
    trials = captured(cell) if cell is not None else []
    return [trial for trial in trials if call_ns(trial) is not None]


def _times(found: dict[str, Cell], spot: Spot) -> list[float]:
    """Milliseconds per call, one a trial."""
    return [(call_ns(trial) or 0.0) / NS_PER_MS for trial in _trials(found, spot)]


def _rate(found: dict[str, Cell], test: Planned, spot: Spot) -> float:
    rates = [occurrences_per_call(trial, test.claim.cause) for trial in _trials(found, spot)]
    return sum(rates) / len(rates)


def _tested(test: Planned, measured: _Measured, p_value: float | None) -> Tested:
    verdict, reason = _verdict(test, measured, p_value)
    return Tested(test, measured.found, measured.occurrences, p_value, verdict, reason)


def _verdict(test: Planned, measured: _Measured, p_value: float | None) -> tuple[Verdict, str]:
    found, occurrences = measured.found, measured.occurrences
    if found is None or occurrences is None:
        return "cannot be told", "one of the two sides measured nothing"
    if found.bounds is None or p_value is None:
        return "cannot be told", found.reason
    low, high = found.bounds
    least, most = _predicted(test)
    if high < 0.0 and p_value < ALPHA:
        return "did not hold", "calls became slower"
    if low <= 0.0 or p_value >= ALPHA:
        return _nothing_found(low, high, least)
    if high < least:
        return "partly", "less time went than predicted"
    if low > most:
        return "partly", "more time went than predicted"
    left = _left(occurrences)
    if left > TOLERANCE:
        return "partly", f"the time went, but {100 * left:.0f} % of the occurrences are left"
    return "held", "the time and the occurrences went as predicted"


def _nothing_found(low: float, high: float, least: float) -> tuple[Verdict, str]:
    if high < least:
        return "did not hold", "the time did not go"
    if low > 0.0:
        return "cannot be told", "time went, but by Holm's method it may be chance: more repeats"
    return "cannot be told", "between nothing and the prediction: more repeats, or longer windows"


def _predicted(test: Planned) -> tuple[float, float]:
    predicted = test.ms_predicted
    return predicted * (1.0 - TOLERANCE), predicted * (1.0 + TOLERANCE)


def _left(occurrences: tuple[float, float]) -> float:
    """Share of the occurrences that the flipped switch left."""
    before, after = occurrences
    return after / before if before else float(after > 0.0)


def _joint(found: dict[str, Cell], planned: Together, tests: Sequence[Planned]) -> Joint:
    before, after = _times(found, planned.before), _times(found, planned.after)
    switches = {test.axis: test for test in tests if test.before == planned.before}
    alone = [_times(found, test.after) for test in switches.values()]
    if not before or not after or not all(alone):
        return Joint(planned, None, None)
    gone = contrast.total([(1.0, before), (-1.0, after)])
    # (before - after) - sum of (before - alone)
    terms = [(1.0 - len(alone), before), (-1.0, after), *((1.0, times) for times in alone)]
    return Joint(planned, gone, contrast.total(terms))


def _anywhere(point: Point) -> str:
    return point_key(replace(point, options={**point.options, "capture": ""}))


def _interval(interval: Interval | None) -> dict[str, Any] | None:
    if interval is None:
        return None
    return {
        "estimate": interval.estimate,
        "low": interval.low,
        "high": interval.high,
        "trials": interval.n,
        "reason": interval.reason,
    }
