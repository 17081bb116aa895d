"""Whether the machine left the trial alone: processes that waited for a core, pauses, the clock.

A trial that one of these checks marks is spoilt: its figures are those of the machine's other work.
:func:`spoilt_by` decides by the record alone, before any comparison, which trials are repeated.
"""

from __future__ import annotations

from wirelab.documents.event import Pauses
from wirelab.format.units import format_seconds
from wirelab.records.trial import Check, Trial

WAITED_SHARE_MAX = 0.025
"""Of the window: half of the 5 % from which on two stacks count as different
(:data:`wirelab.statistics.comparison.THRESHOLD`)."""
SIDES = 2
"""Caller and service, each with cores of its own where there are enough."""
PAUSED_SHARE_MAX = 0.01
"""Of the window: calls of a longer share reach the 99th percentile."""
PAUSE_S_MAX = 0.1
"""A single pause, or a single call that was sent so late: the largest times are then the
engine's."""
LAB_PAUSE_S_MAX = 1.5
"""Scrapes take up to 0.25 s, and ticks come every 50 ms."""
CLOCK_STEP_S_MAX = 0.005
"""NTP slews the clock by 25 us in 50 ms."""
WAITED, PAUSED, LAB_PAUSED = "waiting for a core", "engine pauses", "wirelab pauses"
CLOCK, SHARED = "system clock", "other runs"
_REPEATED = {WAITED, PAUSED, LAB_PAUSED, CLOCK}


def spoilt_by(trial: Trial) -> str:
    """What spoilt a measured trial; empty if nothing did. Other runs are left out: where these
    share the cores on request, a repeated trial would be spoilt again."""
    if trial.status != "measured":
        return ""
    reasons = (
        f"{check.name}: {check.reason}"
        for check in trial.checks
        if check.name in _REPEATED and check.outcome == "marked" and not _bears(trial, check)
    )
    return "; ".join(reasons)


def _bears(trial: Trial, check: Check) -> bool:
    """Whether the mark is for pauses that reach the 99th percentile, but not the other figures: a
    hypervisor often causes them, and the next trial would have them too."""
    pauses, window_s = trial.engine.pauses, trial.whole_s
    return (
        check.name == PAUSED
        and pauses is not None
        and pauses.longest_s <= PAUSE_S_MAX
        and PAUSED_SHARE_MAX * window_s < pauses.total_s <= WAITED_SHARE_MAX * window_s
    )


def check_waiting(trial: Trial) -> Check | None:
    """Time that caller and service waited for a core that other processes used."""
    noise = trial.noise
    if noise is None or not trial.result.window_s:
        return None
    waited = total_wait_s(trial)
    if waited is None or noise.other_cpu_s is None:
        return Check.unmeasurable(WAITED, _explain_missing(trial))
    share = waited / trial.whole_s
    reason = (
        f"caller and service waited {_percent(share)} of the window (at most "
        f"{_percent(WAITED_SHARE_MAX)}) for cores on which other processes used "
        f"{format_seconds(noise.other_cpu_s)}"
    )
    return Check.judge(WAITED, share <= WAITED_SHARE_MAX, reason)


def total_wait_s(trial: Trial) -> float | None:
    """Seconds of one core: what others take of many cores is shared by all threads. None where it
    is not known."""
    noise = trial.noise
    delays = trial.engine.run_delay_s, trial.service.run_delay_s
    if noise is None or noise.other_cpu_s is None or None in delays or _has_foreign_store(trial):
        return None
    # Threads of one process wait for each other too, which is a property of that process.
    waited = min(sum(filter(None, delays)), noise.other_cpu_s)
    return waited / max(1.0, len(noise.cores) / SIDES)


def _explain_missing(trial: Trial) -> str:
    if _has_foreign_store(trial):
        return "the processes of the database are not known"
    if trial.noise is None or trial.noise.other_cpu_s is None:
        return "the processes of the service are not known, or the window was too short"
    if trial.service.run_delay_s is None:
        return "this kernel does not count the run delay of threads (CONFIG_SCHED_INFO)"
    return "the run delay of this caller's threads is not recorded"


def _has_foreign_store(trial: Trial) -> bool:
    """Whether the database was not started by wirelab (``--postgres``)."""
    store = trial.store
    return store is not None and store.kind == "postgres" and store.cpu_s() is None


def check_pauses(trial: Trial) -> Check | None:
    """Times at which the engine did not run: calls that were due or under way then are late because
    of the engine."""
    window = trial.whole_s
    if trial.noise is None or not window:
        return None
    lag_s, pauses = _largest_lag_s(trial), trial.engine.pauses
    if pauses is None and lag_s is None:
        return Check.unmeasurable(PAUSED, "this caller does not report them")
    right = pauses is not None and are_short(pauses, window)
    if pauses is None or (right and (lag_s or 0.0) > PAUSE_S_MAX):
        return Check.judge(
            PAUSED,
            (lag_s or 0.0) <= PAUSE_S_MAX,
            f"the latest call was sent {format_seconds(lag_s or 0.0)} after it was due (at most "
            f"{format_seconds(PAUSE_S_MAX)}); response times up to this are the caller's",
        )
    if not pauses.count:
        return Check(PAUSED, "ok", "the engine never paused for 10 ms or more")
    reason = (
        f"the engine did not run for {format_seconds(pauses.total_s)}, "
        f"{_percent(pauses.total_s / window)} of the window (at most "
        f"{_percent(PAUSED_SHARE_MAX)}), the longest time {format_seconds(pauses.longest_s)} (at "
        f"most {format_seconds(PAUSE_S_MAX)}), from {format_seconds(pauses.longest_at_s)} on"
    )
    if not right:
        reason += "; response and service times up to this are the engine's, not the service's"
    return Check.judge(PAUSED, right, reason)


def are_short(pauses: Pauses, window_s: float) -> bool:
    """Whether pauses spoil no figure of a window of that length in seconds."""
    return pauses.longest_s <= PAUSE_S_MAX and pauses.total_s <= PAUSED_SHARE_MAX * window_s


def _largest_lag_s(trial: Trial) -> float | None:
    """By how much the latest call of an open load was sent too late."""
    lag_ns = None if trial.point.load.is_closed else trial.time_ns("lag", "max")
    return None if lag_ns is None else lag_ns * 1e-9


def check_lab_pauses(trial: Trial) -> Check | None:
    """Whether wirelab could take its samples."""
    noise = trial.noise
    if noise is None:
        return None
    paused = noise.lab_pause_s
    reason = f"wirelab took no sample for at most {format_seconds(paused)}"
    right = paused <= LAB_PAUSE_S_MAX
    if not right:
        reason += (
            f" (at most {format_seconds(LAB_PAUSE_S_MAX)}): it was stopped or had no core; CPU "
            "time and metrics of the window are interpolated"
        )
    return Check.judge(LAB_PAUSED, right, reason)


def check_clock(trial: Trial) -> Check | None:
    """Whether CLOCK_REALTIME, which stamps packets, ran evenly."""
    noise = trial.noise
    if noise is None:
        return None
    step = noise.clock_step_s
    if abs(step) <= CLOCK_STEP_S_MAX:
        return Check(CLOCK, "ok", "it was not set within the window")
    direction = "forward" if step > 0 else "back"
    return Check.judge(
        CLOCK,
        False,
        f"it was set {direction} by {format_seconds(abs(step))} within the window: times between "
        "packets before and after that are wrong; times of calls are not affected",
    )


def check_sharing(trial: Trial) -> Check | None:
    """Whether another run used the same cores."""
    if trial.noise is None or not trial.noise.sharing:
        return None
    return Check.judge(SHARED, False, f"{trial.noise.sharing} used the same cores (--share)")


CHECKS = (check_waiting, check_pauses, check_lab_pauses, check_clock, check_sharing)
"""In the order in which they are shown."""


def _percent(share: float) -> str:
    return f"{100.0 * share:.3g} %"
