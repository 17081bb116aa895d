"""Whether every stage of a load, and every burst, reached what was planned for it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import pairwise
from math import sqrt
from statistics import median

from wirelab.format.counting import format_count
from wirelab.format.numbers import percent
from wirelab.format.units import format_seconds
from wirelab.records.group import GroupResult, PeriodResult
from wirelab.records.load import LoadRecord
from wirelab.records.trial import Check, Trial

REACHED = 0.95
"""Share of the planned users, or calls per second, that a stage has to reach."""
NAME = "stages and bursts"


def check(trial: Trial) -> Check | None:
    """The probe's and those of what runs next to it, in one check."""
    groups = [group for group in _groups(trial) if _has_periods(group[1])]
    if not groups:
        return None
    if not all(result.periods for _, _, result in groups):
        return Check.unmeasurable(NAME, "the record has no counts of them")
    found = [(name, *judge(load, result)) for name, load, result in groups]
    words = [f"{name}: {reason}" if len(found) > 1 else reason for name, _, reason in found]
    return Check.judge(NAME, all(right for _, right, _ in found), "; ".join(words))


def _groups(trial: Trial) -> Iterator[tuple[str, LoadRecord, GroupResult]]:
    yield "probe", trial.point.load, trial.result
    planned = trial.point.load.background
    for group, result in zip(planned, trial.background, strict=False):
        yield group.name, group.load, result


def _has_periods(load: LoadRecord) -> bool:
    return load.kind == "bursts" or bool(load.stages)


def judge(load: LoadRecord, result: GroupResult) -> tuple[bool, str]:
    """Whether they reached it, and in which words."""
    if load.kind == "bursts":
        return _bursts(load, result.periods)
    return _stages(load, result.periods)


def _stages(load: LoadRecord, stages: Sequence[PeriodResult]) -> tuple[bool, str]:
    """The stage that reached the least decides."""
    stage = min(stages, key=lambda one: _margin(load, one))
    unit = "users" if load.is_closed else "calls/s"
    planned, reached = levels(stage)
    reason = (
        f"of {format_count(len(stages), 'stage')}, the one from {format_seconds(stage.start_s)} to "
        f"{format_seconds(end_s(stage))} reached the least, {reached:,.4g} of {planned:,.4g} {unit}"
    )
    right = _margin(load, stage) >= 0.0
    if right:
        return True, reason
    few = (
        "users did not start in time"
        if load.is_closed
        else "calls waited at the load's limit of calls in flight"
    )
    return False, f"{reason}, less than {percent(REACHED)}: {few}"


def _margin(load: LoadRecord, stage: PeriodResult) -> float:
    """By how much of what was planned a stage is above what it has to reach."""
    planned, reached = levels(stage)
    if planned <= 0.0:
        return 1.0
    # Random arrivals vary by the root of their number: at the 0.1 % level. One call, or half a
    # user, is lost at the ends of a stage.
    spare = 0.5 if load.is_closed else 1.0 / stage.duration_s
    if load.gaps != "constant":
        spare += 3.3 * sqrt(planned / stage.duration_s)
    return (reached + spare) / planned - REACHED


def levels(stage: PeriodResult) -> tuple[float, float]:
    """What was planned for a stage and what it reached: users on average, or calls per second
    that were sent."""
    if stage.users_planned is not None:
        return stage.users_planned, stage.users or 0.0
    lasts = stage.duration_s or 1.0
    return (stage.calls_planned or 0.0) / lasts, stage.sent / lasts


def end_s(period: PeriodResult) -> float:
    """When a period ends, seconds from the begin of the window."""
    return period.start_s + period.duration_s


def _bursts(load: LoadRecord, bursts: Sequence[PeriodResult]) -> tuple[bool, str]:
    planned = sum(burst.calls_planned or 0.0 for burst in bursts)
    sent = sum(burst.sent for burst in bursts)
    late = [burst for burst, after in pairwise(bursts) if _overlaps(burst, after)]
    took = [burst.sent_after_s for burst in bursts if burst.sent_after_s is not None]
    reason = f"{format_count(len(bursts), 'burst')} sent {sent:,} of {planned:,.0f} calls"
    if took:
        reason += f", each within {format_seconds(median(took))} (median)"
        if load.rate:
            lasts = ((load.calls or 1) - 1) / load.rate
            reason += f", planned {format_seconds(lasts)}"
    if late:
        reason += f"; {len(late):,} still sent calls when the next one began"
    # The window's ends cut a call off where a burst lies across them.
    return sent >= REACHED * planned - 2 and not late, reason


def _overlaps(burst: PeriodResult, after: PeriodResult) -> bool:
    return burst.start_s + (burst.sent_after_s or 0.0) > after.start_s
