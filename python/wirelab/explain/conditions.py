"""What can be changed from outside of two services, and whether it removes their difference.

The inside of a service that is not of the lab cannot be changed. Its connections, the version of
HTTP, the compression that it is asked for, the calls under way, the writes of its requests and
the network can. Each of these is a *condition* under which both are measured. Differences are
compared in time, not as ratios: a delay that both have alike leaves ``B - A`` as it was.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Literal

from wirelab.explain.findings_text import UnfoundedConclusion, capitalize_words
from wirelab.format.numbers import format_signed
from wirelab.statistics import linear_contrasts
from wirelab.statistics.comparison import ALPHA, holm
from wirelab.statistics.interval import Interval, StatisticsError
from wirelab.statistics.linear_contrasts import Term

Outcome = Literal["cause", "against", "no effect", "undecided", "not measured"]
"""``cause``: the difference gets smaller under the condition. ``against``: it grows.
``no effect``: any change is smaller than the share that counts."""

SHARE_MIN = 0.1
"""Share of the difference from which on a change of it counts."""


@dataclass(frozen=True)
class Condition:
    """One way to measure both services that differs from the plain one in one thing."""

    id: str
    label: str
    """As a sentence has it: ``a connection per call``."""


@dataclass(frozen=True)
class Shift:
    """What a condition does to the difference of two services."""

    condition: Condition
    outcome: Outcome
    reason: str
    gap: Interval | None
    """B - A under the condition, ns."""
    removed: Interval | None
    """Plain difference minus that under the condition, towards zero positive, ns."""
    p_value: float | None = None
    """Two-sided, that nothing is removed; adjusted by Holm's method."""

    def __post_init__(self) -> None:
        if self.outcome in ("cause", "against") and not _excludes_zero(self.removed):
            raise UnfoundedConclusion(
                f"{self.condition.id} would be called {self.outcome} though no interval shows it"
            )


@dataclass(frozen=True)
class Gap:
    """The difference of two services."""

    interval: Interval | None
    """B - A, ns."""
    a: float
    b: float
    """Means, ns."""

    @property
    def is_found(self) -> bool:
        """Whether its interval leaves zero out."""
        return _excludes_zero(self.interval)


Times = Mapping[str, tuple[Sequence[float], Sequence[float]]]
"""Id of a condition, ``""`` for the plain one -> a time of each trial of A and of B, ns."""


def gap(times: Times) -> Gap | None:
    """None where one of the services has no time."""
    a, b = times.get("", ((), ()))
    if not a or not b:
        return None
    interval = linear_contrasts.total([(1.0, b), (-1.0, a)])
    return Gap(interval, sum(a) / len(a), sum(b) / len(b))


def shifts(
    conditions: Sequence[Condition], times: Times, failures: Mapping[str, str]
) -> tuple[Shift, ...]:
    """What each condition does, judged together. ``failures``: id of a condition -> why it was
    not measured."""
    plain = gap(times)
    made = [_shift(one, plain, times, failures.get(one.id, "")) for one in conditions]
    tested = [one for one in made if one.p_value is not None]
    adjusted = iter(holm([one.p_value for one in tested if one.p_value is not None]))
    return tuple(
        _judge(replace(one, p_value=next(adjusted)), plain) if one.p_value is not None else one
        for one in made
    )


def _shift(condition: Condition, plain: Gap | None, times: Times, failure: str) -> Shift:
    a, b = times.get(condition.id, ((), ()))
    if failure or plain is None or not a or not b:
        why = failure or "too few calls for a figure; give a longer --duration"
        return Shift(condition, "not measured", why, None, None)
    towards = 1.0 if plain.b >= plain.a else -1.0
    plain_a, plain_b = times[""]
    terms: list[Term] = [
        (towards, plain_b),
        (-towards, plain_a),
        (-towards, b),
        (towards, a),
    ]
    try:
        removed = linear_contrasts.total(terms)
        p_value = linear_contrasts.p_value(terms)
        under = linear_contrasts.total([(1.0, b), (-1.0, a)])
    except StatisticsError as error:
        return Shift(condition, "not measured", str(error), None, None)
    reason = "" if p_value is not None else "too few trials for an interval"
    return Shift(condition, "undecided", reason, under, removed, p_value)


def _judge(shift: Shift, plain: Gap | None) -> Shift:
    """With its outcome; ``p_value`` is the adjusted one."""
    removed = shift.removed
    if plain is None or removed is None or removed.bounds is None or shift.p_value is None:
        return shift
    if not plain.is_found:
        return replace(shift, reason="no difference was found that it could explain")
    least = SHARE_MIN * abs(plain.b - plain.a)
    low, high = removed.bounds
    if -least <= low and high <= least:
        share = f"{100 * SHARE_MIN:g} %"
        return replace(shift, outcome="no effect", reason=f"it changes less than {share} of it")
    if not _excludes_zero(removed) or -least < removed.estimate < least:
        return replace(shift, reason="its interval includes both an effect and no effect")
    if shift.p_value >= ALPHA:
        return replace(
            shift, reason="an effect by its own interval, not confirmed among all (Holm)"
        )
    return replace(shift, outcome="cause" if removed.estimate > 0 else "against")


def sentence(shift: Shift, plain: Gap) -> str:
    """What may be said of it."""
    words = shift.condition.label
    if shift.removed is None or shift.gap is None:
        return f"{capitalize_words(words)}: not measured, {shift.reason}."
    amount = time(shift.removed)
    if shift.outcome == "cause":
        share = _share(shift, plain)
        if share > 1.0:
            return (
                f"{capitalize_words(words)} reduces the difference by {amount}, more than all "
                "of it: "
                "what it changes is a cause, and something else acts against it."
            )
        return (
            f"{capitalize_words(words)} reduces the difference by {amount} ({100 * share:.0f} "
            "%): what "
            "it changes is part of the cause."
        )
    if shift.outcome == "against":
        grows = time(_negate(shift.removed))
        return f"{capitalize_words(words)} increases the difference by {grows}."
    if shift.outcome == "no effect":
        return f"{capitalize_words(words)} is ruled out: {shift.reason} ({amount})."
    if not plain.is_found and shift.p_value is not None:
        return (
            f"{capitalize_words(words)}: with it the difference is {time(shift.gap)}; without it "
            f"{shift.reason}."
        )
    changes = f"decreases by {amount}"
    if shift.removed.estimate < 0.0:
        changes = f"increases by {time(_negate(shift.removed))}"
    return f"{capitalize_words(words)}: undecided, the difference {changes}; {shift.reason}."


def sum_shares(every: Sequence[Shift], plain: Gap) -> float:
    """Sum of the shares of all causes; more than 1 where they overlap."""
    return sum(_share(one, plain) for one in every if one.outcome == "cause")


def _share(shift: Shift, plain: Gap) -> float:
    if shift.removed is None or plain.b == plain.a:
        return 0.0
    return abs(shift.removed.estimate / (plain.b - plain.a))


def time(interval: Interval) -> str:
    """``43.5 µs (41.0 µs to 46.1 µs)``."""
    middle = format_signed(interval.estimate, "ns", plus="")
    if interval.bounds is None:
        return f"{middle} (no interval: {interval.reason})"
    low, high = (format_signed(bound, "ns", plus="") for bound in interval.bounds)
    return f"{middle} ({low} to {high})"


def _negate(interval: Interval) -> Interval:
    low, high = interval.bounds or (None, None)
    return replace(
        interval,
        estimate=-interval.estimate,
        low=None if high is None else -high,
        high=None if low is None else -low,
    )


def _excludes_zero(interval: Interval | None) -> bool:
    if interval is None or interval.bounds is None:
        return False
    low, high = interval.bounds
    return low > 0.0 or high < 0.0
