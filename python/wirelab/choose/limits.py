"""The highest rate at which each stack of an answer meets an objective."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from wirelab.choose import plan
from wirelab.choose.candidates import Candidate
from wirelab.choose.choosing import Answer, Question
from wirelab.choose.plan import Depth
from wirelab.comparisons.limit import Acceptance, LimitAnswer, LimitQuestion, Objective, limit
from wirelab.comparisons.steady_limit import TooFewCalls
from wirelab.errors import LabError
from wirelab.format.numbers import digits
from wirelab.generate.project import Project
from wirelab.run.directory import write_whole
from wirelab.run.progress import Progress

FOLDER = "limits"
"""In the folder of the answer."""
SEARCHED = Depth("closed", 2.0, (1.0, 4.0), 1, plan.CLOSED.warm_calls)
WINDOW_MAX_S = 4.0
PROBES_MAX = 20
MINUTES_EACH = 2
"""Roughly the time for one stack."""


@dataclass(frozen=True)
class StackLimit:
    """The result for one stack."""

    candidate: Candidate
    found: LimitAnswer | None
    """None where no search was possible."""
    reason: str = ""
    """Why not."""

    @property
    def is_known(self) -> bool:
        """Whether there is an interval of the limit."""
        return (
            self.found is not None
            and self.found.found.is_measurable
            and not self.found.found.search.at_edge
        )

    @property
    def words(self) -> str:
        """``5,210 (5,000 to 5,400)``, a bound, or why it is not known."""
        if self.found is None:
            return self.reason
        search = self.found.found.search
        rates = [probe.rate for probe in search.probes]
        if search.at_edge == "below":
            return f"< {digits(min(rates))}"
        if search.at_edge == "above":
            return f"> {digits(max(rates))}"
        if not self.is_known:
            return "not measurable: the machine held up too many trials"
        low, high = self.found.limit.bounds or (0.0, 0.0)
        sign = "≥ " if self.found.engine_bound else ""
        return f"{sign}{digits(self.found.limit.estimate)} ({digits(low)} to {digits(high)})"

    def to_json(self) -> Mapping[str, object]:
        """As in choice.json; rates in calls per second."""
        low, high = (None, None)
        if self.found is not None and self.is_known:
            low, high = self.found.limit.bounds or (None, None)
        return {
            "limit_per_s": self.found.limit.estimate if self.found and self.is_known else None,
            "low_per_s": low,
            "high_per_s": high,
            "engine_bound": self.found is not None and self.found.engine_bound,
            "text": self.words,
        }


@dataclass(frozen=True)
class Limits:
    """The results of all stacks of the table, the highest first."""

    objective: Objective
    stacks: tuple[StackLimit, ...]

    @property
    def sentence(self) -> str:
        """The limits in words, calls per second."""
        each = "; ".join(f"{one.candidate.reference} {one.words}" for one in self.stacks)
        return f"Calls per second up to which {self.objective.text} holds: {each}."

    def to_json(self) -> Mapping[str, object]:
        """As in choice.json."""
        stacks = {one.candidate.reference: one.to_json() for one in self.stacks}
        return {"objective": self.objective.text, "stacks": stacks}


def find_limits(answer: Answer, objective: Objective, progress: Progress) -> Limits:
    """Searches for the limit of each stack of the table. A search that a run of the same folder has
    begun is continued. Raises :class:`WirelabError`; a stack without a result has its reason."""
    every = [row.candidate for row in answer.choice.rows]
    progress.note(
        f"searching for the limit of {', '.join(one.reference for one in every)}: at most about "
        f"{MINUTES_EACH * len(every)} min"
    )
    found = [_find(answer, one, objective, progress) for one in every]
    return Limits(objective, order_by_limit(found))


def order_by_limit(every: Iterable[StackLimit]) -> tuple[StackLimit, ...]:
    """The highest first; those without a result last."""

    def rank(one: StackLimit) -> tuple[bool, float]:
        return one.found is not None, one.found.limit.estimate if one.found else 0.0

    return tuple(sorted(every, key=rank, reverse=True))


def _find(
    answer: Answer, candidate: Candidate, objective: Objective, progress: Progress
) -> StackLimit:
    file = answer.folder / f"limit.{candidate.name}.yaml"
    text = _text(answer.question, candidate, answer.projects[candidate.language])
    write_whole(file, text)
    question = LimitQuestion(
        text,
        str(file),
        objective,
        probes_max=PROBES_MAX,
        window_max_s=WINDOW_MAX_S,
        curve=False,
        accept=Acceptance(share=answer.question.share),
    )
    folder = answer.folder / FOLDER / folder_name(objective) / candidate.name
    folder.mkdir(parents=True, exist_ok=True)
    try:
        return StackLimit(candidate, limit(question, folder, progress))
    except (LabError, TooFewCalls) as error:
        return StackLimit(candidate, None, error.message)


def folder_name(objective: Objective) -> str:
    """An objective as the name of a folder: ``p99-lt-10ms``."""
    spelt = objective.text.replace("<=", "-le-").replace(">=", "-ge-")
    spelt = spelt.replace("<", "-lt-").replace(">", "-gt-").replace("%", "-percent")
    return "".join(sign if sign.isalnum() or sign in "-." else "_" for sign in spelt)


def _text(question: Question, candidate: Candidate, project: Project) -> str:
    about = f"Up to which rate does {candidate.reference} meet an objective?"
    name = "limit"
    of = {candidate: project}
    return plan.experiment(name, about, question.sample, of, question.conditions, SEARCHED)
