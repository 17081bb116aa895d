"""How long a run may take: it then ends between two trials and stays unfinished."""

from __future__ import annotations

import contextlib
import time
from collections.abc import Callable, Iterator
from math import inf


class TimeLimit:
    """The time that several runs may take together, in seconds.

    With ``counts_preparation`` false only trials count, not what is built, verified or started
    before them.
    """

    def __init__(
        self,
        seconds: float = inf,
        *,
        counts_preparation: bool = True,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._seconds = seconds
        self._counts_preparation = counts_preparation
        self._clock = clock
        self._spent_s = 0.0
        self._planned_s = self._taken_s = 0.0

    @property
    def left_s(self) -> float:
        """Seconds that are left; negative where a trial took longer than planned."""
        return self._seconds - self._spent_s

    @property
    def seconds(self) -> float:
        """The whole limit."""
        return self._seconds

    def allows(self, planned_s: float) -> bool:
        """Whether a trial of this planned length ends in time, if it takes as much longer than
        planned as those before it."""
        pace = self._taken_s / self._planned_s if self._planned_s else 1.0
        return self.left_s >= planned_s * max(1.0, pace)

    @contextlib.contextmanager
    def count_preparation(self) -> Iterator[None]:
        """What comes before trials."""
        began = self._clock()
        try:
            yield
        finally:
            if self._counts_preparation:
                self._spent_s += self._clock() - began

    @contextlib.contextmanager
    def count_trial(self, planned_s: float) -> Iterator[None]:
        """A trial of this planned length."""
        began = self._clock()
        try:
            yield
        finally:
            taken = self._clock() - began
            self._spent_s += taken
            self._taken_s += taken
            self._planned_s += planned_s
