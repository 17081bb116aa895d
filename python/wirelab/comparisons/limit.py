"""How many calls a second a service takes before it misses an objective, on fresh processes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import yaml

from wirelab.checks.load import client_bound
from wirelab.comparisons.capacity import MOST, Probe, Search, range_around
from wirelab.errors import LabError, UsageError
from wirelab.experiment import loading as experiment_file
from wirelab.experiment import matrix as planning
from wirelab.experiment import yaml_source as documents
from wirelab.explain.thresholds import Condition
from wirelab.format.counting import counted
from wirelab.run import runner as running
from wirelab.run.progress import Progress
from wirelab.stack import manifests
from wirelab.statistics.interval import Interval
from wirelab.trial.record import Trial

IN_FLIGHT_MAX = 2_000
"""Calls under way at most; the rest of an overload waits in the engine's queue."""
USERS = 16
"""Of the closed load whose rate says where to look."""
CURVE = (0.5, 0.75, 0.9, 1.0, 1.1, 1.25, 1.5)
"""Rates of the overload curve, as shares of the limit."""
CURVE_REPEATS = 1
DIGITS = 4
"""Significant digits of a rate."""
KEPT_UP = "kept up"
FLIPPED = {"<": ">", "<=": ">=", ">": "<", ">=": "<="}


@dataclass(frozen=True)
class Objective:
    """What must hold of every trial: ``p99<50ms, errors<0.1%``."""

    text: str
    conditions: tuple[Condition, ...]
    """Each as what must not be."""

    @classmethod
    def parse(cls, text: str) -> Objective:
        """Raises :class:`UsageError`."""
        parts = [part.strip() for part in text.split(",") if part.strip()]
        if not parts:
            raise UsageError("--objective is empty", "write for example 'p99<50ms, errors<0.1%'")
        return cls(text, tuple(map(_condition, parts)))

    def is_met(self, trial: Trial) -> bool:
        """Whether the trial meets all of it and kept up with its arrivals. Raises
        :class:`UsageError` where a trial has too few calls to tell."""
        if any(check.name == KEPT_UP and check.outcome == "marked" for check in trial.checks):
            return False
        for condition in self.conditions:
            judged = condition.judge_run(trial.point.stack, trial)
            if judged.verdict == "undecided":
                raise UsageError(
                    f"{condition.text}: {judged.reason} at {trial.point.load.rate:g} calls a "
                    "second",
                    "give a longer --duration, or an objective of a lower percentile",
                )
            if judged.verdict == "does not hold":
                return False
        return True


@dataclass(frozen=True)
class LimitQuestion:
    """What is asked."""

    text: str
    """An experiment of one cell; its loads and repeats are not used."""
    objective: Objective
    probes_max: int = MOST
    curve: bool = True


@dataclass(frozen=True)
class LimitAnswer:
    """What was found."""

    limit: Interval
    """Calls per second."""
    search: Search
    closed_rate: float
    """What users without a pause reached."""
    engine_bound: bool
    """The engine was the limit: the service may take more."""
    curve: tuple[Trial, ...]
    folder: Path


def limit(question: LimitQuestion, folder: Path, progress: Progress) -> LimitAnswer:
    """Searches, then measures the curve; goes on where an earlier call of the same folder stopped.

    Raises what :func:`wirelab.run.runner.run` raises, :class:`UsageError` where the experiment has
    more than one cell, and :class:`LabError` where trials fail or the limit lies outside of the
    range."""
    values = documents.read(question.text, "limit").values
    closed = _measured(values, [{"closed": {"users": USERS}}], folder / "closed", progress)
    rate = _only(closed).result.rate_per_s
    if rate <= 0.0:
        raise LabError("no call was answered by users without a pause", "look at the service's log")
    search = Search(*range_around(rate), probes_max=question.probes_max)
    engine_bound = False
    while not search.done:
        asked = float(f"{search.next_rate:.{DIGITS}g}")
        name = f"probe-{len(search.probes) + 1:02}"
        trial = _only(_measured(values, [_open(asked)], folder / name, progress))
        is_met = question.objective.is_met(trial)
        engine_bound |= not is_met and client_bound(trial)
        search = search.after(Probe(asked, is_met))
    if search.at_edge:
        raise LabError(
            f"the limit lies {search.at_edge} the range from {search.least:,.0f} to "
            f"{search.most:,.0f} calls a second",
            "give another --objective: at these rates it is always or never met",
        )
    found = search.interval
    curve: tuple[Trial, ...] = ()
    if question.curve:
        rates = [float(f"{share * found.estimate:.{DIGITS}g}") for share in CURVE]
        loads = [_open(one) for one in rates]
        made = _measured(values, loads, folder / "curve", progress, CURVE_REPEATS)
        curve = tuple(sorted(made, key=lambda trial: (trial.point.load.rate or 0.0, trial.repeat)))
    return LimitAnswer(found, search, rate, engine_bound, curve, folder)


def _condition(text: str) -> Condition:
    """``p99<50ms`` as the condition that must not be met."""
    for operator in ("<=", ">=", "<", ">"):
        name, found, value = text.partition(operator)
        if found:
            try:
                parsed = Condition.parse(f"{name}{FLIPPED[operator]}{value}")
            except UsageError as error:
                message = error.message.replace("--fail-if", "--objective")
                raise UsageError(message, "write for example 'p99<50ms, errors<0.1%'") from error
            return replace(parsed, text=text)
    raise UsageError(
        f"--objective {text!r} is no condition", "write for example 'p99<50ms, errors<0.1%'"
    )


def _open(rate: float) -> dict[str, Any]:
    return {"poisson": {"rate": rate, "in_flight_max": IN_FLIGHT_MAX}}


def _measured(
    values: dict[str, Any],
    loads: Sequence[dict[str, Any]],
    folder: Path,
    progress: Progress,
    repeats: int = 1,
) -> tuple[Trial, ...]:
    """The trials of that folder, measured where they are not there yet."""
    source = yaml.safe_dump({**values, "loads": list(loads), "repeats": repeats}, sort_keys=False)
    experiment = experiment_file.parse(source, "the search")
    cells = len(planning.schedule(experiment, manifests.load()).cells)
    if cells != len(loads):
        raise UsageError(
            f"the experiment has {counted(cells // len(loads), 'cell')} at one load",
            "a limit is that of one service with one message and one link",
        )
    run = running.run(experiment, folder, source=source, progress=progress, unverified=True)
    for trial in run.trials:
        if trial.status != "measured":
            raise LabError(f"a trial failed: {trial.reason}", f"its files are in {folder}")
    return tuple(run.trials)


def _only(trials: Sequence[Trial]) -> Trial:
    (trial,) = trials
    return trial
