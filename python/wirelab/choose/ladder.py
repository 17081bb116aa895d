"""Why: the way from today's stack to the recommended one, one change a step."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise

from wirelab.choose.candidates import Candidate
from wirelab.choose.choosing import Answer
from wirelab.explain.figures import phrase
from wirelab.explain.findings_text import factor
from wirelab.report.findings.ranking import Ranking, rankings
from wirelab.statistics.comparison import Comparison

NOT_MEASURED = "not measured: one of its ends is not among the stacks that were measured again"


@dataclass(frozen=True)
class Rung:
    """One step of the way."""

    before: Candidate
    after: Candidate
    comparison: Comparison | None
    """after / before; None where an end was not measured."""

    @property
    def label(self) -> str:
        """``rest@go → grpc@go``."""
        return f"{self.before.reference} → {self.after.reference}"

    @property
    def words(self) -> str:
        """Its effect, or why it is not known."""
        if self.comparison is None:
            return NOT_MEASURED
        return f"{factor(self.comparison.ratio)}, {self.comparison.verdict}"


def rungs(answer: Answer) -> tuple[Rung, ...]:
    """The steps; none without a stack of today, or without a recommendation."""
    if len(answer.ladder) < 2:
        return ()
    question, choice = answer.question, answer.choice
    trials = [trial for trial in answer.runs[0].trials if trial.status == "measured"]
    found = rankings(trials, choice.figure, question.conditions.threshold)
    ranking = found[0] if found else None
    return tuple(
        Rung(before, after, _compare_step(ranking, before, after))
        for before, after in pairwise(answer.ladder)
    )


def _compare_step(
    ranking: Ranking | None, before: Candidate, after: Candidate
) -> Comparison | None:
    if ranking is None:
        return None
    by_name = {cell.point.stack: cell for cell in ranking.cells}
    first, second = by_name.get(after.name), by_name.get(before.name)
    if first is None or second is None:
        return None
    pair = ranking.find_pair(first, second)
    if pair.comparison is None or pair.first is first:
        return pair.comparison
    return pair.comparison.invert()


def words(answer: Answer) -> Iterator[str]:
    """What the change from today's stack gains as a whole, in a sentence."""
    if len(answer.ladder) < 2:
        return
    start, goal = answer.ladder[0], answer.ladder[-1]
    every = (*answer.choice.behind, *answer.choice.open)
    for one in every:
        if one.candidate == start and goal == answer.choice.first[0]:
            size = factor(one.comparison.invert().ratio)
            title = phrase(answer.choice.figure.name)
            yield f"From {start.reference} of today to {goal.reference}: {title} {size}."
