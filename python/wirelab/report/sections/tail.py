"""Sentences about the slowest of many exchanges or calls, and about what makes them slow."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass

from wirelab.format.counting import format_count

ALIKE = 1.1
"""The slowest 1 % are not compared part by part if their mean is less than this times that of the
others."""

Parts = Mapping[str, float]
"""Times by part."""


@dataclass(frozen=True)
class Mean:
    """Of the exchanges or calls of some ranks."""

    count: int
    """How many."""
    parts: Parts
    """What one of them took on average."""

    @property
    def whole(self) -> float:
        """All parts."""
        return sum(self.parts.values())


@dataclass(frozen=True)
class Wording:
    """How times are shown to a reader."""

    noun: str
    """What has ranks."""
    time: Callable[[float], str]
    """A time with its unit."""
    largest: Callable[[Parts], str]
    """The parts that make up most of the time."""

    def title(self, listed: int, of: int) -> str:
        """Begins a list."""
        slowest = f"{listed} slowest" if listed > 1 else "slowest"
        return f"the {slowest} of {format_count(of, self.noun)}"

    def too_few(self) -> str:
        """Instead of a comparison."""
        return (
            f"There are fewer than 100 {self.noun}s, too few to compare the slowest 1 % with "
            "others."
        )

    def compare(self, slow: Mean, usual: Mean) -> Iterator[str]:
        """What the slowest 1 % did with its time, what those around the median did, and what makes
        the difference."""
        of_slow, took = format_count(slow.count, self.noun), f"{self.time(slow.whole)} on average"
        if slow.whole <= ALIKE * usual.whole:
            yield (
                f"The slowest 1 % ({of_slow}) take {took}, about as long as those around the "
                f"median ({self.time(usual.whole)})."
            )
            return
        yield f"The slowest 1 % ({of_slow}, {took}){self._name_largest(slow.parts)}."
        yield (
            f"Those around the median ({usual.count:,}, {self.time(usual.whole)} on average)"
            f"{self._name_largest(usual.parts)}."
        )
        longer = {part: time - usual.parts.get(part, 0.0) for part, time in slow.parts.items()}
        longer = {part: time for part, time in longer.items() if time > 0}
        yield f"The difference between them{self._name_largest(longer)}."

    def _name_largest(self, parts: Parts) -> str:
        """Nothing for times that the clock did not show."""
        largest = self.largest(parts)
        return f": {largest}" if largest else ""
