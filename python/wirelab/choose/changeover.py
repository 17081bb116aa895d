"""Where the answer changes: the same question for larger messages, and on other links."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from math import sqrt
from pathlib import Path

from wirelab.choose.answer import Choice
from wirelab.choose.candidates import Candidate
from wirelab.choose.choosing import Answer, Question, answer
from wirelab.choose.samples import Sample, scale
from wirelab.contracts.codecs import Codec, encode
from wirelab.errors import UsageError
from wirelab.format.numbers import size
from wirelab.run.progress import Progress

SCALES = (1, 4, 16, 64)
"""How often the items of lists are repeated."""
BYTES_MAX = 4_000_000
"""Largest request in JSON: the usual limit of a gRPC message is 4 MiB."""
REFINEMENTS = 2
"""Sizes that are tried between two with different answers."""
LINKS = ("lan", "wlan", "wan")
STOP_S = 60.0
"""Time for the measurement of each stop."""


@dataclass(frozen=True)
class Stop:
    """The answer at one place of an axis."""

    label: str
    """``4.61 kB of JSON``, ``wlan``."""
    scale: int
    choice: Choice

    @property
    def recommended(self) -> Candidate | None:
        """The stack to take there; None if it is undecided."""
        return self.choice.recommended

    @property
    def words(self) -> str:
        """Its answer."""
        if self.recommended is not None:
            return self.recommended.reference
        rivals = [self.choice.first[0], *(one.candidate for one in self.choice.open)]
        return f"undecided: {', '.join(one.reference for one in rivals)}"


@dataclass(frozen=True)
class Map:
    """Where the answer changes along an axis."""

    axis: str
    stops: tuple[Stop, ...]

    @property
    def changes(self) -> tuple[tuple[Stop, Stop], ...]:
        """Neighbours with different decided answers: the change is between them."""
        return tuple(
            (low, high)
            for low, high in pairwise(self.stops)
            if low.recommended and high.recommended and not _shares(low, high)
        )

    @property
    def sentence(self) -> str:
        """What changes where, or that nothing does."""
        if self.changes:
            found = [
                f"between {low.label} and {high.label} from {low.words} to {high.words}"
                for low, high in self.changes
            ]
            return f"{self.axis}: the answer changes {'; '.join(found)}."
        first, last = self.stops[0].label, self.stops[-1].label
        undecided = sum(stop.recommended is None for stop in self.stops)
        if undecided:
            return (
                f"{self.axis}: no change is shown from {first} to {last}; {undecided} of "
                f"{len(self.stops)} places are undecided."
            )
        return f"{self.axis}: none within the range from {first} to {last}."


def _shares(low: Stop, high: Stop) -> bool:
    """Whether the same stack is in first place at both."""
    return bool(set(low.choice.first) & set(high.choice.first))


def map_size(found: Answer, progress: Progress) -> Map:
    """Larger and larger messages, with a search between two that have different answers. Raises
    :class:`WirelabError`."""
    question = found.question
    require_lists(question.sample)
    scales = [one for one in SCALES if _json_bytes(scale(question.sample, one)) <= BYTES_MAX]

    def stop_at(factor: int) -> Stop:
        sample = scale(question.sample, factor)
        label = f"{size(_json_bytes(sample))} of JSON"
        if factor == 1:
            return Stop(label, 1, found.choice)
        other = _ask(found, replace(question, sample=sample), f"size-{factor}", progress)
        return Stop(label, factor, other)

    return Map("Size", search([stop_at(one) for one in scales], stop_at))


def search(stops: Sequence[Stop], stop_at: Callable[[int], Stop]) -> tuple[Stop, ...]:
    """Adds stops between neighbours with different decided answers, each time in the middle of
    the narrowest place that is known, on a logarithmic scale."""
    every = list(stops)
    for low, high in Map("", tuple(stops)).changes:
        for _ in range(REFINEMENTS):
            middle = round(sqrt(low.scale * high.scale))
            if middle in (low.scale, high.scale):
                break
            made = stop_at(middle)
            every.append(made)
            if made.recommended is None:
                break
            low, high = (low, made) if not _shares(low, made) else (made, high)
    return tuple(sorted(every, key=lambda one: one.scale))


def map_links(found: Answer, progress: Progress) -> Map:
    """The link of the question, and those of other networks. Raises :class:`WirelabError`."""
    question = found.question
    own = question.conditions.link
    stops = [Stop(own, 1, found.choice)]
    for link in LINKS:
        if link != own:
            conditions = replace(question.conditions, link=link)
            other = _ask(found, replace(question, conditions=conditions), f"link-{link}", progress)
            stops.append(Stop(link, 1, other))
    return Map("Link", tuple(stops))


def _ask(found: Answer, question: Question, name: str, progress: Progress) -> Choice:
    """The answer to a changed question, among the stacks that were measured before."""
    patterns = tuple(dict.fromkeys(_reference(row.candidate) for row in found.choice.rows))
    narrowed = replace(question, patterns=patterns, today="", budget_s=STOP_S)
    folder = found.folder / "map" / name
    progress.note(f"where the answer changes: {name}")
    return answer(narrowed, Path(folder), progress).choice


def _reference(candidate: Candidate) -> str:
    return candidate.compress_with("none").reference


def _json_bytes(sample: Sample) -> int:
    return len(encode(sample.contract, sample.contract.request, sample.request, Codec.JSON))


def require_lists(sample: Sample) -> None:
    """Raises :class:`UsageError` for a message that has one size."""
    if _json_bytes(scale(sample, 2)) == _json_bytes(sample):
        raise UsageError(
            "--map size: the message has no list, so it has one size", "use --map link"
        )
