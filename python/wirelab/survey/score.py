"""Computes the scale, its intervals and the comparison of the two libraries from answers."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from math import log
from statistics import median

from wirelab.statistics.comparison import holm
from wirelab.statistics.distributions import binomial_interval
from wirelab.statistics.interval import Interval
from wirelab.statistics.linear_contrasts import exponential
from wirelab.statistics.paired import Crossover, crossover, mean_of, sign_flip_p
from wirelab.survey.answers import Answers, Participant, TaskAnswers
from wirelab.survey.questionnaire import questionnaire

ORDER_MIN = 2
"""Minimum number of participants per order to correct for the order effect."""


@dataclass(frozen=True)
class Contrast:
    """One quantity for both libraries, paired by participant."""

    name: str
    means: tuple[Interval, Interval]
    """Means for HTTP and for gRPC."""
    difference: Interval
    """HTTP minus gRPC, of the same participants."""
    p_value: float
    """p value of equality; for an item, adjusted for all items (Holm)."""


@dataclass(frozen=True)
class Outcome:
    """Results of the participants with one library."""

    task: str
    solved: tuple[Interval, ...]
    """Share of participants who solved part 1, part 2."""
    seconds_median: float | None
    """Median total time of participants who solved both parts; None if no one did."""


@dataclass(frozen=True)
class Score:
    """The evaluation of one survey."""

    participants: int
    left_out: int
    """Participants with only one task."""
    began: dict[str, int]
    """Number of participants by first task."""
    total: Contrast
    """Contrast of the sums of all items, 0 to 36."""
    without_order: Crossover | None
    """The same, corrected for the order effect; None if an order has too few participants."""
    items: tuple[Contrast, ...]
    outcomes: tuple[Outcome, ...]
    time_ratio: Interval | None
    """Ratio of times, gRPC to HTTP, of participants who solved all parts of both; None if no one
    did."""


def score(answers: Answers) -> Score:
    """Evaluates at least two complete participants; the caller checks that."""
    people = answers.complete
    names = questionnaire().names
    total = _contrast("sum", people, lambda task: sum(task.points))
    items = [
        _contrast(f"{place}. {item.name}", people, _points_at(place - 1))
        for place, item in enumerate(questionnaire().items, start=1)
    ]
    adjusted = holm([item.p_value for item in items])
    return Score(
        participants=len(people),
        left_out=len(answers.incomplete),
        began={name: sum(one.first == name for one in people) for name in names},
        total=total,
        without_order=_remove_order_effect(people),
        items=tuple(
            Contrast(item.name, item.means, item.difference, p)
            for item, p in zip(items, adjusted, strict=True)
        ),
        outcomes=tuple(_outcome(name, people) for name in names),
        time_ratio=_time_ratio(people),
    )


def _points_at(place: int) -> Callable[[TaskAnswers], float]:
    return lambda task: task.points[place]


def _pair(one: Participant, value: Callable[[TaskAnswers], float]) -> tuple[float, float]:
    http, grpc = questionnaire().names
    return value(one.tasks[http]), value(one.tasks[grpc])


def _contrast(
    name: str, people: Sequence[Participant], value: Callable[[TaskAnswers], float]
) -> Contrast:
    pairs = [_pair(one, value) for one in people]
    differences = [http - grpc for http, grpc in pairs]
    means = mean_of([http for http, _ in pairs]), mean_of([grpc for _, grpc in pairs])
    return Contrast(name, means, mean_of(differences), sign_flip_p(differences))


def _remove_order_effect(people: Sequence[Participant]) -> Crossover | None:
    http_first, grpc_first = (
        [_pair(one, lambda task: sum(task.points)) for one in people if one.first == name]
        for name in questionnaire().names
    )
    if min(len(http_first), len(grpc_first)) < ORDER_MIN:
        return None
    return crossover(http_first, grpc_first)


def _outcome(name: str, people: Sequence[Participant]) -> Outcome:
    tasks = [one.tasks[name] for one in people]
    solved = [
        binomial_interval(sum(task.parts[place].solved for task in tasks), len(tasks))
        for place in range(len(tasks[0].parts))
    ]
    seconds = [task.seconds for task in tasks if task.solved]
    return Outcome(name, tuple(solved), median(seconds) if seconds else None)


def _time_ratio(people: Sequence[Participant]) -> Interval | None:
    """Geometric mean of the participants' ratios, with a t interval on logarithms."""
    both = [one for one in people if all(task.solved for task in one.tasks.values())]
    logs = [
        log(max(1.0, grpc) / max(1.0, http))
        for http, grpc in (_pair(one, lambda task: task.seconds) for one in both)
    ]
    return exponential(mean_of(logs)) if logs else None
