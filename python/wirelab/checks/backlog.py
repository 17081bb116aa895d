"""What arrived in a window, what was under way, and what an open load left behind.

Apart from the checks, because ``wirelab drive`` needs it too and no check of a trial.
"""

from __future__ import annotations

from math import sqrt

from wirelab.records.group import GroupResult
from wirelab.statistics.interval import OutOfRange

ANYWAY = 0.01
"""This share of the calls may be behind in any case."""
SHORT = 0.05
"""And this one, where a queue as long as there was one varies by as much."""


def arrivals(group: GroupResult) -> tuple[int, str]:
    """What arrived within the window of a group's result: of a sequence only the first call
    is an arrival."""
    if group.sequences is not None:
        return group.sequences.count, "sequences"
    return group.calls, "calls"


def count_unfinished(group: GroupResult, in_flight_max: int) -> tuple[int, float]:
    """How many calls more arrived in the window of an open load's result than ended in it,
    and how many may.

    What has arrived and not ended varies, at either end of the window, as Poisson counts do
    where calls do not wait for each other: at the 0.1 % level. Where they do, it varies about
    as the length of a queue does, exponentially: seven means are exceeded once in a thousand
    times. But the queue of an overload is long too, so that no more than a twentieth of the
    calls may be behind for it. Of a sequence all calls arrive at once. Where the load began
    with the window, what may be under way may be behind.
    """
    calls, behind = group.calls, group.calls - (group.ended or 0)
    if not group.warmup.seconds:
        return behind, max(float(in_flight_max), ANYWAY * calls)
    arrived, _ = arrivals(group)
    times = group.sequences.response if group.sequences else group.times.get("response")
    if not arrived or times is None or not times.count:
        return behind, ANYWAY * calls
    waiting = arrived / group.window_s * times.mean_ns * 1e-9
    varies = max(3.3 * sqrt(2.0 * waiting), min(7.0 * waiting, SHORT * arrived))
    return behind, max(varies * calls / arrived, ANYWAY * calls)


def littles_law(rate_per_s: float, time_s: float) -> float:
    """Calls in a system, averaged over time: ``L = lambda W``.

    ``rate_per_s`` is the rate of calls that pass through, ``time_s`` the mean time
    of a call in the system (Little 1961, Operations Research 9(3), equation 1).
    Exact over a window at whose ends the system is empty; otherwise off by at most
    the calls that cross its ends. Raises :class:`OutOfRange` for negative input.
    """
    if rate_per_s < 0.0 or time_s < 0.0:
        raise OutOfRange(f"rate {rate_per_s:g}, time {time_s:g}: neither can be negative")
    return rate_per_s * time_s


def little_ratio(seen: float, planned: float) -> float:
    """Concurrency that was seen over the one that was planned; 1 is right.

    Raises :class:`OutOfRange` unless ``planned > 0`` and ``seen >= 0``.
    """
    if planned <= 0.0 or seen < 0.0:
        raise OutOfRange(f"seen {seen:g}, planned {planned:g}: need seen >= 0 and planned > 0")
    return seen / planned
