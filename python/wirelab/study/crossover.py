"""Where along a series of sizes one contender overtakes the other."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

from wirelab.explain.cell_selector import Level, level_words
from wirelab.records.trial import Trial
from wirelab.study import claims as findings
from wirelab.study.claims import Expectation, Finding, Judgement, Outcome, Part
from wirelab.study.evidence import Evidence


@dataclass(frozen=True)
class Crossing:
    """The claim that a ratio is above 1 at the first step of a series and below at the last."""

    finding: Finding
    """Its levels are those at each of which the series is run through."""
    along: tuple[Level, ...]


def evaluate(trials: Iterable[Trial], crossing: Crossing) -> Judgement:
    """Holds when at every level the first step is certainly above and the last certainly below;
    does not hold when one of these is certainly denied."""
    evidence = Evidence.of(trials)
    parts = tuple(_judge_crossing(evidence, crossing, level) for level in crossing.finding.levels)
    return findings.gather(crossing.finding, parts)


def _judge_crossing(evidence: Evidence, crossing: Crossing, level: Level) -> Part:
    steps = [
        (step, *_sides(evidence, crossing.finding, {**level, **step})) for step in crossing.along
    ]
    first, last = steps[0], steps[-1]
    outcomes = {first[1].outcome, last[2].outcome}
    outcome: Outcome = (
        "does not hold"
        if "does not hold" in outcomes
        else "undecided"
        if "undecided" in outcomes
        else "holds"
    )
    along = tuple(above for _, above, _ in steps)
    ends = [end for end in (first[1], last[2]) if end.outcome == outcome == "undecided"]
    reason = "; ".join([_describe_stretch(steps), *(end.reason for end in ends)])
    more = "; ".join(dict.fromkeys(end.decided_by for end in ends if end.decided_by))
    return Part(level, None, outcome, reason, along, more)


Step = tuple[Level, Part, Part]


def _sides(evidence: Evidence, finding: Finding, level: Level) -> tuple[Part, Part]:
    """The step judged as "above" and as "below"."""
    margin = finding.expect.margin
    above = replace(finding, expect=Expectation(above=1.0, margin=margin))
    below = replace(finding, expect=Expectation(below=1.0, margin=margin))
    return findings.evaluate_level(evidence, above, level), findings.evaluate_level(
        evidence, below, level
    )


def _describe_stretch(steps: Sequence[Step]) -> str:
    """The stretch in which the order changes."""
    above = [step for step in steps if step[1].outcome == "holds"]
    below = [step for step in steps if step[2].outcome == "holds"]
    if above and below and steps.index(above[-1]) < steps.index(below[0]):
        start, end = (level_words(step[0]) for step in (above[-1], below[0]))
        return f"above up to {start}, below from {end}"
    if above and below:
        return "no single crossing"
    if not above and not below:
        return "undecided at every step"
    return f"{'above' if above else 'below'} at every decided step"
