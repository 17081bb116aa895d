"""How often the cells of a study are measured, from the variance of its first repeats.

The number depends on the variance of the pilot and never on its estimates, as in the two-stage
procedure of Stein 1945 (Annals of Mathematical Statistics 16(3), 243-258). The trials of the pilot
stay in the result.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from math import log, sqrt

from wirelab.explain import figures
from wirelab.records.trial import Trial
from wirelab.statistics.cell import Cell, cells
from wirelab.statistics.distributions import student_t_quantile
from wirelab.study.model import Study
from wirelab.study.reproduction import Reproduction

PILOT = 5
"""Repeats of the pilot, and the fewest of a study."""
REPEATS_MAX = 15
"""More are not planned: a part that needs them stays undecided."""


def count_repeats_needed(spread: float, threshold: float) -> int:
    """Repeats of each of two cells with this standard deviation of logarithms, after which half of
    the 95 % interval of their ratio is no wider than the threshold; at most
    :data:`REPEATS_MAX`."""
    for repeats in range(PILOT, REPEATS_MAX):
        quantile = student_t_quantile(0.975, 2.0 * (repeats - 1))
        if quantile * spread * sqrt(2.0 / repeats) <= log(1.0 + threshold):
            return repeats
    return REPEATS_MAX


def pool_spread(found: Iterable[Cell], figure: str) -> float:
    """The standard deviation of the figure's logarithms within cells; 0 where no cell has two
    positive values."""
    squares = degrees = 0.0
    for cell in found:
        values = [
            log(value) for value in cell.values(figures.require_figure(figure)) if value > 0.0
        ]
        if len(values) > 1:
            mean = sum(values) / len(values)
            squares += sum((value - mean) ** 2 for value in values)
            degrees += len(values) - 1
    return sqrt(squares / degrees) if degrees else 0.0


def count_repeats_of_part(study: Study, part: str, trials: Sequence[Trial]) -> int:
    """The repeats that the findings about a part need, by the figure with the widest spread."""
    found = cells(first_repeats(trials))
    judged = {
        claim.figure
        for claim in study.findings
        if part in study.parts_of(claim) and claim.expect is not None
    }
    return max(
        (count_repeats_needed(pool_spread(found, figure), study.threshold) for figure in judged),
        default=PILOT,
    )


def first_repeats(trials: Iterable[Trial]) -> list[Trial]:
    """The trials of the pilot."""
    return [trial for trial in trials if trial.repeat <= PILOT]


def seconds_per_repeat(trials: Iterable[Trial]) -> float:
    """Measured length of one repeat of all cells, each trial once though services share it."""
    lengths = {(trial.repeat, trial.order): trial.seconds for trial in first_repeats(trials)}
    return sum(lengths.values()) / PILOT


def afford(want: Mapping[str, int], cost_s: Mapping[str, float], budget_s: float) -> dict[str, int]:
    """Repeats of each part, one more at a time for the part that lacks most, while the seconds of
    the further ones are within the budget."""
    planned = dict.fromkeys(want, PILOT)
    while lacking := [
        part for part in want if planned[part] < want[part] and cost_s[part] <= budget_s
    ]:
        part = max(lacking, key=lambda name: want[name] - planned[name])
        planned[part] += 1
        budget_s -= cost_s[part]
    return planned


def plan_repeats(made: Reproduction, total_s: float) -> dict[str, int]:
    """The repeats of every part of a reproduction whose pilot is finished, so that all takes at
    most ``total_s``."""
    trials = {part: run.trials for part, run in made.runs.items()}
    want = {
        part: count_repeats_of_part(made.found.study, part, every) for part, every in trials.items()
    }
    cost_s = {part: seconds_per_repeat(every) for part, every in trials.items()}
    return afford(want, cost_s, total_s - PILOT * sum(cost_s.values()))
