"""Which trial a host gets next: a host keeps its block.

A repeat of an experiment is a block: it visits every cell once. A host that measures whole blocks
meets all cells alike, so its speed cancels in comparisons (randomised complete block design,
Montgomery, *Design and Analysis of Experiments*, chapter 4). Where no block is left that nobody has
begun, a host takes the second half of what the slowest block has left. That part is then a block of
its own: trials are of one block if repeat and host are the same.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Mapping

from wirelab.experiment.matrix import PlannedTrial

Part = deque[PlannedTrial]
"""Trials of one repeat, in their random order."""


class BlockPlan:
    """The trials that nobody has begun."""

    def __init__(self, todo: Iterable[PlannedTrial], begun_by: Mapping[int, str] = {}) -> None:
        """``begun_by`` has the host of each repeat of which an earlier session measured a part."""
        self._free: dict[int, Part] = {}
        for trial in todo:
            self._free.setdefault(trial.repeat, deque()).append(trial)
        self._begun_by = dict(begun_by)
        self._of_host: dict[str, Part] = {}
        self.left = sum(map(len, self._free.values()))
        """Number of trials."""

    def take(self, host: str) -> PlannedTrial | None:
        """The next trial of a host; None where nothing is left for it."""
        part = self._of_host.get(host)
        if not part:
            part = self._claim(host) or self._divide()
            if part is None:
                self._of_host.pop(host, None)
                return None
            self._of_host[host] = part
        self.left -= 1
        return part.popleft()

    def release(self, host: str) -> None:
        """Gives what a lost host had not begun to the others."""
        part = self._of_host.pop(host, None)
        if part:
            self._free.setdefault(part[0].repeat, deque()).extend(part)

    def _claim(self, host: str) -> Part | None:
        """A block that is nobody's: first one that this host began, then one that no other did."""
        if not self._free:
            return None
        own = [repeat for repeat in self._free if self._begun_by.get(repeat) == host]
        new = (repeat for repeat in self._free if repeat not in self._begun_by)
        repeat = own[0] if own else next(new, next(iter(self._free)))
        return self._free.pop(repeat)

    def _divide(self) -> Part | None:
        longest = max(self._of_host.values(), key=len, default=None)
        if not longest:
            return None
        half: Part = deque()
        for _ in range((len(longest) + 1) // 2):
            half.appendleft(longest.pop())
        return half
