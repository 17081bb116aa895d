"""The search for a limit over windows that grow until they no longer change it.

Close to saturation a queue takes longer to build up than a short window lasts, so short windows
meet an objective at rates that a service does not sustain. A first search finds the limit for the
given window. Searches with windows of twice the length follow, each with what the one before found,
until the limit no longer moves, or the longest window is reached. Pure: the trials are those of a
function that is given.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from math import floor, log2

from wirelab.comparisons.capacity import CHECKED, MOST, Probe, Search, range_around
from wirelab.errors import UsageError
from wirelab.statistics.interval import Interval

MOVED = 0.02
"""A smaller change of the limit from one window to the next does not count."""
SHARE_OF_PROBES = 0.5
"""Probes of a search with a longer window, as a share of those of the first."""
NEAR_FROM = 0.6
"""Share of the rate of a closed load from which on a limit may be close to saturation."""
DOUBLINGS_MIN = 2
"""The error of a short window halves with its length: one doubling hides most of it."""
ENOUGH_FROM = 1.25
"""Factor by which the search range starts above a rate whose windows have too few calls."""
ATTEMPTS = 2
"""Trials in a row that must miss the objective for a check to fail."""

Ask = Callable[[float, float], bool]
"""Whether a trial at this rate, in calls per second, with a window of this many seconds meets the
objective. Raises :class:`TooFewCalls`."""


class TooFewCalls(UsageError):
    """A trial has too few calls for a figure of the objective."""


@dataclass(frozen=True)
class Windows:
    """The lengths of windows, in seconds."""

    first_s: float
    longest_s: float

    @property
    def can_grow(self) -> bool:
        """Whether there is a window of twice the length."""
        return self.longest_s >= 2.0 * self.first_s


@dataclass(frozen=True)
class SteadyLimit:
    """Result of all searches."""

    search: Search
    """That of the last window."""
    window_s: float
    """Length of the last window."""
    moved: float | None
    """Limit with the last window over that with the one before, less 1; None with one window."""
    probes: tuple[tuple[float, Probe], ...]
    """All probes with the seconds of their windows."""
    checks: int
    """Number of trials of the checks."""
    failed_check: float | None
    """Rate clearly below the limit that missed the objective again and again; otherwise None."""

    @property
    def limit(self) -> Interval:
        """Calls per second."""
        return self.search.interval

    @property
    def trials(self) -> int:
        """Number of all probes and checks."""
        return len(self.probes) + self.checks

    @property
    def held_up(self) -> float:
        """Estimated share of trials that missed the objective for other reasons than their rate."""
        if self.failed_check is None:
            return self.search.held_up
        missed = [Probe(self.failed_check, met=False)] * ATTEMPTS
        return self.search.add_probes(*missed).held_up

    @property
    def settled(self) -> bool:
        """Whether the last two windows agree."""
        return self.moved is not None and abs(self.moved) <= MOVED

    @property
    def is_measurable(self) -> bool:
        """False if rates clearly below the limit miss the objective, so that something other than
        the rate decides."""
        return self.failed_check is None


def trials_max(probes_max: int, windows: Windows) -> int:
    """The largest number of trials of :func:`find_limit`, without those with too few calls."""
    longer = floor(log2(windows.longest_s / windows.first_s)) if windows.can_grow else 0
    return probes_max + longer * _probes(probes_max) + ATTEMPTS * len(CHECKED)


def find_limit(
    ask: Ask, closed_rate: float, windows: Windows, probes_max: int = MOST
) -> SteadyLimit:
    """Searches around the rate of a closed load. Raises what ``ask`` raises; :class:`TooFewCalls`
    only where no rate in the range has enough calls."""
    search = _run_search(
        ask, Search(*range_around(closed_rate), probes_max=probes_max), windows.first_s
    )
    seconds = windows.first_s
    probes = [(seconds, one) for one in search.probes]
    moves: list[float] = []
    is_near = search.interval.estimate >= NEAR_FROM * closed_rate
    while is_near and not search.at_edge and 2.0 * seconds <= windows.longest_s:
        seconds *= 2.0
        longer = _run_search(ask, search.with_longer_windows(_probes(probes_max)), seconds)
        probes += [(seconds, one) for one in longer.probes]
        moves.append(longer.interval.estimate / search.interval.estimate - 1.0)
        search = longer
        if len(moves) >= DOUBLINGS_MIN and abs(moves[-1]) <= MOVED:
            break
    failed, made = (None, 0) if search.at_edge else _check(ask, search, seconds)
    moved = moves[-1] if moves else None
    return SteadyLimit(search, seconds, moved, tuple(probes), made, failed)


def _probes(probes_max: int) -> int:
    return max(1, round(SHARE_OF_PROBES * probes_max))


def _run_search(ask: Ask, search: Search, seconds: float) -> Search:
    while not search.done:
        rate = round_rate(search.next_rate)
        try:
            search = search.add_probes(Probe(rate, ask(rate, seconds)))
        except TooFewCalls:
            # Windows at lower rates have too few calls: search above this rate.
            if rate * ENOUGH_FROM >= search.most:
                raise
            search = search.raise_least(rate * ENOUGH_FROM)
    return search


def _check(ask: Ask, search: Search, seconds: float) -> tuple[float | None, int]:
    """The lowest rate that fails, and the number of trials."""
    made = 0
    for share in CHECKED:
        rate = round_rate(share * search.interval.estimate)
        try:
            for _ in range(ATTEMPTS):
                made += 1
                if ask(rate, seconds):
                    break
            else:
                return rate, made
        except TooFewCalls:
            # The search itself had no trials at such a rate either.
            continue
    return None, made


def round_rate(rate: float) -> float:
    """With four significant digits: rates appear in file names and on the page."""
    return float(f"{rate:.4g}")
