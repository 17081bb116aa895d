"""How many calls a second a service takes before it misses an objective, on fresh processes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

import yaml

from wirelab.checks.load import KEPT_UP, client_bound
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
TOLD_FROM = 1.25
"""Factor above a rate whose windows have too few calls, from which on is looked again."""
DIGITS = 4
"""Significant digits of a rate."""
FLIPPED = {"<": ">", "<=": ">=", ">": "<", ">=": "<="}


class TooFewCalls(UsageError):
    """A trial has too few calls for a figure of the objective."""


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
                raise TooFewCalls(
                    f"{condition.text}: {judged.reason} at {trial.point.load.rate:g} calls a "
                    "second",
                    "give a longer --duration, or an objective of a lower percentile",
                )
            if judged.verdict == "does not hold":
                return False
        return True


@dataclass(frozen=True)
class Acceptance:
    """What of :func:`wirelab.run.runner.run` a user may allow."""

    unverified: bool = False
    any_target: bool = False
    retry_failed: bool = False


@dataclass(frozen=True)
class LimitQuestion:
    """What is asked."""

    text: str
    """An experiment of one cell; its loads and repeats are not used."""
    name: str
    """Its file, from whose folder paths in it start."""
    objective: Objective
    probes_max: int = MOST
    curve: bool = True
    accept: Acceptance = Acceptance()


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
    more than one cell, and :class:`LabError` where a trial fails."""
    bench = _Bench(question, folder, progress)
    (closed,) = bench.measured([{"closed": {"users": USERS}}], "closed")
    rate = closed.result.rate_per_s
    if rate <= 0.0:
        examples = closed.result.error_examples
        why = f": {examples[0]}" if examples else ""
        raise UsageError(
            f"no call was answered well by users without a pause{why}",
            f"correct the request or the service; its log is in {folder / 'closed' / 'trials'}",
        )
    search = Search(*range_around(rate), probes_max=question.probes_max)
    engine_bound, asked_times = False, 1
    while not search.done:
        asked = float(f"{search.next_rate:.{DIGITS}g}")
        (trial,) = bench.measured([_open(asked)], f"probe-{asked_times:02}")
        asked_times += 1
        try:
            is_met = question.objective.is_met(trial)
        except TooFewCalls:
            # Below this rate no window tells: the limit is looked for above it.
            if asked * TOLD_FROM >= search.most:
                raise
            search = replace(search, least=asked * TOLD_FROM)
            continue
        engine_bound |= not is_met and client_bound(trial)
        search = search.after(Probe(asked, is_met))
    found = search.interval
    curve: tuple[Trial, ...] = ()
    if question.curve and not search.at_edge:
        rates = [float(f"{share * found.estimate:.{DIGITS}g}") for share in CURVE]
        made = bench.measured([_open(one) for one in rates], "curve")
        curve = tuple(sorted(made, key=lambda trial: trial.point.load.rate or 0.0))
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


@dataclass(frozen=True)
class _Bench:
    """Measures the question's cell at other loads."""

    question: LimitQuestion
    folder: Path
    progress: Progress

    def measured(self, loads: Sequence[dict[str, Any]], name: str) -> tuple[Trial, ...]:
        """One trial of each load, measured where the run directory of that name lacks it."""
        written = documents.read(self.question.text, self.question.name).values
        values = {**written, "loads": list(loads), "repeats": 1}
        source = yaml.safe_dump(values, sort_keys=False)
        experiment = experiment_file.parse(source, self.question.name)
        cells = len(planning.schedule(experiment, manifests.load()).cells)
        if cells != len(loads):
            raise UsageError(
                f"the experiment has {counted(cells // len(loads), 'cell')} at one load",
                "a limit is that of one service with one message and one link",
            )
        folder = self.folder / name
        run = running.run(
            experiment,
            folder,
            source=source,
            progress=self.progress,
            **asdict(self.question.accept),
        )
        trials = {trial.id: trial for trial in run.trials}
        for trial in trials.values():
            if trial.status != "measured":
                raise LabError(f"a trial failed: {trial.reason}", f"its files are in {folder}")
        return tuple(trials.values())
