"""What arrived in a window of an open load, and what it left behind.

Apart from the checks, because ``wirelab drive`` needs it too and no check of a trial.
"""

from __future__ import annotations

from math import sqrt

from wirelab.trial.record import GroupResult

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


def left_behind(group: GroupResult, in_flight_max: int) -> tuple[int, float]:
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
