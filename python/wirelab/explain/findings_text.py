"""What may be said of a ladder: sentences, each with what it rests on.

**No sentence about a cause without a rung whose interval excludes no effect.**
The rule is kept by the type: a :class:`Conclusion` of such a kind cannot be made
without the comparison that shows it.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import Literal

from wirelab.explain import figures
from wirelab.explain.ladders import Ladder
from wirelab.explain.rung_effects import Balance, Cells, Climbed
from wirelab.format.numbers import digits, format_range
from wirelab.statistics.comparison import Comparison
from wirelab.statistics.interval import Interval, NoValues
from wirelab.statistics.mean import mean_interval
from wirelab.statistics.verdict import verdict

Kind = Literal["gap", "cause", "against", "effect", "no effect", "unknown", "sum", "limit"]


class UnfoundedConclusion(ValueError):
    """A cause was to be named without an interval that shows it. A fault of the lab."""


@dataclass(frozen=True)
class Conclusion:
    """One sentence and what it rests on."""

    kind: Kind
    text: str
    rung: str = ""
    """Id of the rung; empty for the whole."""
    evidence: Comparison | None = None

    def __post_init__(self) -> None:
        if self.kind in ("cause", "against", "effect") and not _is_shown(self.evidence):
            raise UnfoundedConclusion(
                f"{self.text!r} names an effect of {self.rung!r} that no interval shows"
            )


def conclude(
    ladder: Ladder,
    cells: Cells,
    whole: Comparison | None,
    climbed: Sequence[Climbed],
    balance: Balance | None,
) -> tuple[Conclusion, ...]:
    """The gap first, then each rung, then the sum, then who was the limit."""
    if not any(step.effect for step in climbed):
        return (Conclusion("unknown", "No step between the two stacks was measured."),)
    return (
        *_conclude_whole_gap(ladder, whole),
        *(_of_rung(ladder, step) for step in climbed),
        *_none_found(climbed),
        *_sum(balance),
        *_limits(ladder, cells),
    )


def factor(interval: Interval) -> str:
    """``×1.52 (1.44 to 1.61)``."""
    if interval.bounds is None:
        return f"×{digits(interval.estimate)} (no interval: {interval.reason})"
    return f"×{format_range(interval)}"


def _is_shown(evidence: Comparison | None) -> bool:
    """True when a difference was found and its own interval lies beyond the threshold."""
    if evidence is None or not evidence.found:
        return False
    return verdict(evidence.ratio, evidence.threshold) == evidence.verdict


def _conclude_whole_gap(ladder: Ladder, whole: Comparison | None) -> Iterator[Conclusion]:
    if ladder.goal is None:
        return
    title = figures.phrase(ladder.figure)
    path = f"from {ladder.start} to {ladder.goal}"
    if whole is None:
        yield Conclusion("unknown", f"The gap {path} was not measured.")
    elif whole.found:
        yield Conclusion(
            "gap", f"The step {path} changes {title} by {factor(whole.ratio)}.", evidence=whole
        )
    elif whole.verdict == "equivalent":
        yield Conclusion(
            "unknown",
            f"There is no gap in {title} {path}: {factor(whole.ratio)}; {whole.reason}. "
            "There is nothing to explain.",
            evidence=whole,
        )
    else:
        yield Conclusion(
            "unknown",
            f"Whether there is a gap in {title} {path} is undecided: {factor(whole.ratio)}; "
            f"{whole.explanation}.",
            evidence=whole,
        )


def _of_rung(ladder: Ladder, step: Climbed) -> Conclusion:
    name, words = step.rung.id, step.rung.label
    title = figures.phrase(ladder.figure)
    if step.effect is None:
        return Conclusion(
            "unknown", f"{capitalize_words(words)}: not measured, {step.reason}.", name
        )
    size = factor(step.effect.ratio)
    if step.outcome == "cause":
        text = f"{capitalize_words(words)} is a cause: {_step(step)} changes {title} by {size}"
        return Conclusion("cause", text + _share(step) + _bundle(step), name, step.effect)
    if step.outcome == "against":
        text = (
            f"{capitalize_words(words)} acts against the gap: changing it changes {title} by {size}"
        )
        return Conclusion("against", f"{text}.", name, step.effect)
    if step.outcome == "effect":
        text = f"{capitalize_words(words)} has an effect of {size} on {title}"
        why = "it explains no gap, because none is shown"
        return Conclusion("effect", f"{text}; {why}.", name, step.effect)
    if step.outcome == "no effect":
        limit = f"{100 * step.effect.threshold:g} %"
        text = (
            f"{capitalize_words(words)} is ruled out: its effect, {size}, is smaller than {limit}."
        )
        return Conclusion("no effect", text, name, step.effect)
    text = f"{capitalize_words(words)}: undecided, {size}; {step.reason}."
    return Conclusion("unknown", text, name, step.effect)


BROUGHT = MappingProxyType(
    {"caller": ("client library", "its threads and memory management", "its HTTP/2 windows")}
)
"""What an axis cannot be changed without, and no other axis names."""


def _list_changes(step: Climbed) -> list[str]:
    """Axes and properties; a stream's chunks come with the streaming operation."""
    named = [name for name in step.rung.changes if name != "chunk"]
    return named + [more for name in named for more in BROUGHT.get(name, ())]


def _step(step: Climbed) -> str:
    return "changing it alone" if len(_list_changes(step)) == 1 else "the step across it"


def _share(step: Climbed) -> str:
    if step.share is None or step.share.bounds is None:
        return ""
    if step.share.estimate > 1.0:
        return ", which is the whole gap and more: other rungs act against it"
    low, high = (min(100.0, 100.0 * bound) for bound in step.share.bounds)
    value = 100.0 * step.share.estimate
    return f", which is {value:.0f} % ({low:.0f} to {high:.0f} %) of the gap on the log scale"


def _bundle(step: Climbed) -> str:
    """A rung that changes several things at once shows a difference, not a mechanism."""
    changed = _list_changes(step)
    if len(changed) == 1:
        return "."
    return f". It changes {', '.join(changed)} at once; which of them matters is not shown."


def _none_found(climbed: Sequence[Climbed]) -> Iterator[Conclusion]:
    if not any(step.outcome in ("cause", "effect") for step in climbed):
        yield Conclusion("unknown", "No step between the two stacks was found to be a cause.")


def _sum(balance: Balance | None) -> Iterator[Conclusion]:
    if balance is None:
        return
    text = f"The product of the rungs is {factor(balance.rungs)}"
    text += f"; the interaction of the near rungs is {factor(balance.interaction)}"
    rest = balance.unexplained
    if rest.bounds is not None and rest.bounds == (rest.estimate, rest.estimate):
        text += "; together they are the whole, because every step between its ends was measured."
    else:
        text += f"; {factor(rest)} remains unexplained."
    yield Conclusion("sum", text)


def _limits(ladder: Ladder, cells: Cells) -> Iterator[Conclusion]:
    """How busy each side was: a measured fact that names no cause."""
    for end in (ladder.start, ladder.goal):
        if end is None or end not in cells:
            continue
        try:
            sides = [
                mean_interval(cells[end].values(figures.require_figure(name))).estimate
                for name in ("service_cores", "client_cores")
            ]
        except NoValues:
            continue
        text = f"With {end} the service kept {sides[0]:.2f} cores busy, the client {sides[1]:.2f}."
        yield Conclusion("limit", text)


def capitalize_words(words: str) -> str:
    """Begins a sentence; a name such as ``gRPC`` keeps its letters."""
    first = words.split(" ", 1)[0]
    return words if first != first.lower() else words[:1].upper() + words[1:]
