"""Measures two services in randomly ordered pairs on fresh processes until a decision."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import yaml

from wirelab.comparisons.gate import Gate, gate, is_enough
from wirelab.errors import UsageError
from wirelab.experiment import loading as experiment_file
from wirelab.experiment import matrix as planning
from wirelab.experiment import yaml_source as documents
from wirelab.format.counting import counted
from wirelab.records.trial import Trial
from wirelab.run import runner as running
from wirelab.run.manifest import Comparison
from wirelab.run.progress import Progress
from wirelab.stack import manifests
from wirelab.statistics.cell import point_key
from wirelab.statistics.figure import Figure
from wirelab.trial.labels import Names


@dataclass(frozen=True)
class Question:
    """What to compare, and when to stop."""

    text: str
    """An experiment with two cells."""
    name: str
    """Experiment file whose folder is the base of relative paths."""
    figure: Figure
    threshold: float
    """Differences up to this share count as equivalent."""
    pairs_max: int


@dataclass(frozen=True)
class Answer:
    """Result of the comparison."""

    gate: Gate
    names: tuple[str, str]
    """Both service names, in the given order."""
    run: running.Run


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
) -> Answer:
    """Runs pairs until their confidence sequence decides, or ``pairs_max`` is reached; continues an
    earlier comparison in the same folder. Raises what :func:`wirelab.run.runner.run` raises, and
    :class:`UsageError` if the experiment does not have two cells."""
    values = documents.read(question.text, question.name).values
    source = yaml.safe_dump({**values, "repeats": question.pairs_max}, sort_keys=False)
    experiment = experiment_file.parse(source, question.name)
    planned = planning.schedule(experiment, manifests.load())
    if len(planned.cells) != 2:
        raise UsageError(
            f"the experiment has {counted(len(planned.cells), 'cell')}, and a comparison needs two",
            "give two services with one message, one load and one link",
        )
    first, second = (point_key(cell.point) for cell in planned.cells)
    named = Names.of(cell.point for cell in planned.cells).stacks
    a, b = (cell.point.stack for cell in planned.cells)
    names = (named[a], named[b])

    def so_far(trials: Sequence[Trial]) -> Gate:
        return gate(trials, (first, second), question.figure, question.threshold)

    run = running.run(
        experiment,
        folder,
        source=source,
        progress=progress,
        any_target=any_target,
        unverified=unverified,
        retry_failed=retry_failed,
        ready_timeout_s=ready_timeout_s,
        share=share,
        enough=lambda trials: is_enough(so_far(trials)),
        comparison=Comparison(
            question.figure.name, question.threshold, (first, second), (a, b), names
        ),
    )
    return Answer(so_far(run.trials), names, run)
