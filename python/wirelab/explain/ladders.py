"""A ladder: a path from one cell to another that changes one thing per rung.

Two kinds of rung. A *near* rung changes one thing of the ladder's start, each
on its own; ``together`` is the start with all of them changed at once, so that
an effect of their combination shows as an interaction. A *far* rung lies between
``together`` and the goal. The counted rungs and the interaction must add up,
on the scale of logarithms, to the whole; rungs that are not counted answer a
question next to the path.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace

from wirelab.errors import UsageError
from wirelab.explain.cell_selector import CellSelector, Level, level_words


@dataclass(frozen=True)
class Rung:
    """One change, and the hypothesis that it matters."""

    id: str
    label: str
    """What is changed, as a noun: ``the HTTP/2 window of 64 KiB``."""
    hypothesis: str
    before: CellSelector
    after: CellSelector
    near: bool = True
    counted: bool = True

    def __post_init__(self) -> None:
        if self.before == self.after:
            raise UsageError(
                f"rung {self.id!r} changes nothing",
                "name an axis or a property that differs from what it begins with",
            )

    @property
    def changes(self) -> dict[str, tuple[str, str]]:
        """What differs between both ends."""
        return self.before.differences(self.after)


@dataclass(frozen=True)
class Ladder:
    """Start, goal and the rungs between."""

    id: str
    question: str
    start: CellSelector
    goal: CellSelector | None
    """None when only the rungs are asked for."""
    together: CellSelector | None
    rungs: tuple[Rung, ...]
    figure: str = "rate"
    """The figure in which the gap is a gap."""
    also: tuple[str, ...] = ("service_cpu", "client_cpu")
    """Figures that are shown next to it."""
    threshold: float = 0.05
    """Smallest ratio minus 1 that counts."""

    def __post_init__(self) -> None:
        names = [rung.id for rung in self.rungs]
        if len(set(names)) != len(names):
            raise UsageError(f"ladder {self.id!r} has two rungs of one name", "rename one of them")

    @property
    def cells(self) -> tuple[CellSelector, ...]:
        """Every cell that must be measured, each once."""
        ends = [end for end in (self.start, self.goal, self.together) if end is not None]
        ends += [end for rung in self.rungs for end in (rung.before, rung.after)]
        return tuple(dict.fromkeys(ends))

    def change_level(self, level: Level) -> Ladder:
        """The same ladder at another level of load or size."""
        rungs = tuple(
            replace(rung, before=rung.before.change(level), after=rung.after.change(level))
            for rung in self.rungs
        )
        return replace(
            self,
            id=f"{self.id}, {level_words(level)}",
            start=self.start.change(level),
            goal=self.goal.change(level) if self.goal else None,
            together=self.together.change(level) if self.together else None,
            rungs=rungs,
        )


def select_counted(rungs: Iterable[Rung], *, near: bool) -> tuple[Rung, ...]:
    """The rungs of one kind that are part of the path."""
    return tuple(rung for rung in rungs if rung.counted and rung.near is near)
