"""Little's law: how many calls are under way, told from outside."""

from __future__ import annotations

from wirelab.statistics.interval import OutOfRange


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
