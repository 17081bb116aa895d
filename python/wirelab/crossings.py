"""Where along a series of sizes one contender overtakes the other."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

from wirelab import findings
from wirelab.expectations import Expectation, Outcome
from wirelab.findings import Finding, Judgement, Part
from wirelab.levels import Level, level_words
from wirelab.trial import Trial


@dataclass(frozen=True)
class Crossing:
    """The claim that a ratio is above 1 at the first step of a series and below at the last."""

    finding: Finding
    """Its levels are those at each of which the series is run through."""
    along: tuple[Level, ...]


def evaluate(trials: Iterable[Trial], crossing: Crossing) -> Judgement:
    """Stands when at every level the first step is surely above and the last surely below;
    does not stand when one of these is surely denied."""
    listed = list(trials)
    parts = tuple(_through(listed, crossing, level) for level in crossing.finding.levels)
    return findings.gather(crossing.finding, parts)


def _through(trials: Sequence[Trial], crossing: Crossing, level: Level) -> Part:
    steps = [
        (step, *_sides(trials, crossing.finding, {**level, **step})) for step in crossing.along
    ]
    first, last = steps[0], steps[-1]
    ends = {first[1].outcome, last[2].outcome}
    outcome: Outcome = (
        "does not stand"
        if "does not stand" in ends
        else "cannot be told"
        if "cannot be told" in ends
        else "stands"
    )
    return Part(level, None, outcome, _where(steps), tuple(above for _, above, _ in steps))


Step = tuple[Level, Part, Part]


def _sides(trials: Sequence[Trial], finding: Finding, level: Level) -> tuple[Part, Part]:
    """The step judged as "above" and as "below"."""
    margin = finding.expect.margin
    above = replace(finding, expect=Expectation(above=1.0, margin=margin))
    below = replace(finding, expect=Expectation(below=1.0, margin=margin))
    return findings.at(trials, above, level), findings.at(trials, below, level)


def _where(steps: Sequence[Step]) -> str:
    """The stretch in which the order changes."""
    above = [step for step in steps if step[1].outcome == "stands"]
    below = [step for step in steps if step[2].outcome == "stands"]
    if above and below and steps.index(above[-1]) < steps.index(below[0]):
        start, end = (level_words(step[0]) for step in (above[-1], below[0]))
        return f"surely above up to {start}, surely below from {end}"
    if above and below:
        return "no single crossing"
    side = "above" if above else "below" if below else "on neither side"
    return f"nowhere but {side} for sure"
