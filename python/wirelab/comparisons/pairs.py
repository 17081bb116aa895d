"""Measures two services in randomly ordered pairs on fresh processes until a decision."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import yaml

from wirelab.clients.together import ClientPool
from wirelab.comparisons.gate import Gate, gate, is_enough, is_precise, with_findings
from wirelab.comparisons.guards import GUARDED
from wirelab.errors import ExperimentError, UsageError
from wirelab.experiment import loading as experiment_file
from wirelab.experiment import matrix as planning
from wirelab.experiment import yaml_source as documents
from wirelab.experiment.model import Experiment
from wirelab.format.counting import format_count
from wirelab.records.trial import Trial
from wirelab.run import directory as run_directory
from wirelab.run import runner as running
from wirelab.run.manifest import MANIFEST, Comparison
from wirelab.run.progress import Progress
from wirelab.stack import manifests
from wirelab.statistics.cell import point_key
from wirelab.statistics.figure import RATE, RESPONSE_P50, Figure
from wirelab.trial.labels import Names


@dataclass(frozen=True)
class Question:
    """What to compare, and when to stop."""

    text: str
    """An experiment with two cells."""
    name: str
    """Experiment file whose folder is the base of relative paths."""
    figure: Figure | None
    """None: the rate of a closed load, and the median response time of an open one, whose rate
    is ordered."""
    threshold: float
    """Differences up to this share count as equivalent."""
    pairs_max: int
    guards: tuple[str, ...] = GUARDED
    """What must not become worse meanwhile (:mod:`wirelab.comparisons.guards`)."""
    precision: float | None = None
    """Go on until the interval reaches no further than this share to both sides."""
    budget_s: float | None = None
    """Start no pair after these seconds."""


@dataclass(frozen=True)
class Answer:
    """Result of the comparison."""

    gate: Gate
    names: tuple[str, str]
    """Both service names, in the given order."""
    run: running.Run


@dataclass(frozen=True)
class _Plan:
    """The experiment of a comparison."""

    source: str
    experiment: Experiment
    schedule: planning.Schedule
    reason: str = ""
    """Why the services cannot take turns; empty if they do, or were not to."""


def _plan(question: Question, begun: str | None) -> _Plan:
    """Both services take turns in one trial where they can, unless the file or a run that is
    continued has another design."""
    values = documents.read(question.text, question.name).values
    design = begun or values.get("design")
    if design is not None:
        return _plan_as(question, values, design)
    try:
        return _plan_as(question, values, "slices")
    except ExperimentError as error:
        plan = _plan_as(question, values, "trials")
        return replace(plan, reason=error.problems[0])


def _plan_as(question: Question, values: Mapping[str, object], design: object) -> _Plan:
    made = {**values, "repeats": question.pairs_max, "design": design}
    source = yaml.safe_dump(made, sort_keys=False)
    experiment = experiment_file.parse(source, question.name)
    return _Plan(source, experiment, planning.schedule(experiment, manifests.load()))


def _read_design(folder: Path) -> str | None:
    """The design of the comparison in that folder; None if there is none."""
    if not (folder / MANIFEST).exists():
        return None
    return str(run_directory.read_manifest(folder).experiment.get("design", "trials"))


def compare(
    question: Question,
    folder: Path,
    *,
    progress: Progress | None = None,
    any_target: bool = False,
    unverified: bool = False,
    retry_failed: bool = False,
    ready_timeout_s: float | None = None,
    share: bool = False,
    clients: ClientPool | None = None,
) -> Answer:
    """Runs pairs until their confidence sequence decides, or ``pairs_max`` is reached; continues an
    earlier comparison in the same folder. Raises what :func:`wirelab.run.runner.run` raises, and
    :class:`UsageError` if the experiment does not have two cells."""
    plan = _plan(question, _read_design(folder))
    if plan.reason and progress is not None:
        progress.note(f"one service at a time: {plan.reason}")
    experiment, planned = plan.experiment, plan.schedule
    if len(planned.cells) != 2:
        raise UsageError(
            f"the experiment has {format_count(len(planned.cells), 'cell')}, and a comparison "
            "needs two",
            "give two services with one message, one load and one link",
        )
    first, second = (point_key(cell.point) for cell in planned.cells)
    named = Names.of(cell.point for cell in planned.cells).stacks
    a, b = (cell.point.stack for cell in planned.cells)
    names = (named[a], named[b])

    figure = question.figure or _figure_of_load(planned.cells[0])
    began = time.monotonic()

    def so_far(trials: Sequence[Trial]) -> Gate:
        return gate(trials, (first, second), figure, question.threshold, question.guards)

    def is_enough_now(trials: Sequence[Trial]) -> bool:
        if question.budget_s is not None and time.monotonic() - began > question.budget_s:
            return True
        if question.precision is not None:
            return is_precise(so_far(trials), question.precision)
        return is_enough(so_far(trials))

    run = running.run(
        experiment,
        folder,
        source=plan.source,
        progress=progress,
        any_target=any_target,
        unverified=unverified,
        retry_failed=retry_failed,
        ready_timeout_s=ready_timeout_s,
        share=share,
        clients=clients,
        enough=is_enough_now,
        comparison=Comparison(
            figure.name, question.threshold, (first, second), (a, b), names, question.guards
        ),
    )
    return Answer(with_findings(so_far(run.trials)), names, run)


def _figure_of_load(cell: planning.Cell) -> Figure:
    """What a service can change: a rate that is ordered stays what it is as long as it keeps up."""
    return RATE if cell.load.point().is_closed else RESPONSE_P50
