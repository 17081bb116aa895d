"""Two services in pairs, on fresh processes and in random order, until the answer is known."""

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
from wirelab.run import runner as running
from wirelab.run.progress import Progress
from wirelab.stack import manifests
from wirelab.statistics.cell import point_key
from wirelab.statistics.figure import Figure
from wirelab.trial.labels import Names
from wirelab.trial.record import Trial


@dataclass(frozen=True)
class Question:
    """What is compared, and when to stop."""

    text: str
    """An experiment of two cells."""
    name: str
    """Its file, from whose folder paths in it start."""
    figure: Figure
    threshold: float
    """Share up to which a difference is none."""
    pairs_max: int


@dataclass(frozen=True)
class Answer:
    """What came of it."""

    gate: Gate
    names: tuple[str, str]
    """Of both, in the order in which they were given."""
    run: running.Run


def compare(
    question: Question,
    folder: Path,
    *,
    progress: Progress | None = None,
    any_target: bool = False,
    unverified: bool = False,
    retry_failed: bool = False,
) -> Answer:
    """Runs pairs until their confidence sequence decides, or ``pairs_max`` are made; goes on where
    an earlier call of the same folder stopped. Raises what :func:`wirelab.run.runner.run` raises,
    and :class:`UsageError` where the experiment has not two cells."""
    values = documents.read(question.text, question.name).values
    source = yaml.safe_dump({**values, "repeats": question.pairs_max}, sort_keys=False)
    experiment = experiment_file.parse(source, question.name)
    planned = planning.schedule(experiment, manifests.load())
    if len(planned.cells) != 2:
        raise UsageError(
            f"the experiment has {counted(len(planned.cells), 'cell')}",
            "a comparison is of two: two services with one message, one load and one link",
        )
    first, second = (point_key(cell.point) for cell in planned.cells)

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
        enough=lambda trials: is_enough(so_far(trials)),
    )
    names = Names.of(cell.point for cell in planned.cells)
    stacks = [names.stacks[cell.point.stack] for cell in planned.cells]
    return Answer(so_far(run.trials), (stacks[0], stacks[1]), run)
