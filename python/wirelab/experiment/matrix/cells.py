"""What a run measures: cells, and the trials that measure them."""

from __future__ import annotations

from dataclasses import dataclass, field, replace

from wirelab.experiment.external import ExternalMessage, ExternalService
from wirelab.experiment.link_profiles import Profile
from wirelab.experiment.loads import Load
from wirelab.experiment.matrix.fitness import Fitness
from wirelab.experiment.messages import Message
from wirelab.experiment.model import CaptureChoice, PlacementChoice
from wirelab.records.line import cell_id
from wirelab.records.trial import Point
from wirelab.stack.reference import Stack


@dataclass(frozen=True)
class Cell:
    """A point with everything needed to measure it."""

    point: Point
    stack: Stack
    message: Message | ExternalMessage
    load: Load
    placement: PlacementChoice
    link: Profile
    capture: CaptureChoice
    external: ExternalService | None = None
    """The declaration of a user-defined service; None for wirelab's services."""
    records_host: bool = False
    """Whether what the service's threads do is recorded."""
    fitness: Fitness = field(default_factory=Fitness)
    """Whether it can share a trial."""

    def workload(self, seed: int) -> dict[str, object]:
        """The object ``workload`` of the probe in the engine's plan."""
        if isinstance(self.message, ExternalMessage):
            assert self.external is not None  # the matrix pairs them
            return self.external.workload(self.message, seed)
        return self.message.workload(seed)


@dataclass(frozen=True)
class PlannedTrial:
    """One planned trial."""

    id: str
    cells: tuple[Cell, ...]
    """More than one where services take turns in slices."""
    repeat: int
    order: int
    seed: int
    """Seed of the arrivals; follows from the experiment's seed, differs between settings and
    repeats, and is the same for the services of one setting."""

    @property
    def cell(self) -> Cell:
        """The first cell, with which the others have everything but their services in common."""
        return self.cells[0]

    def of_cell(self, number: int) -> PlannedTrial:
        """What a trial with only that cell, counted from 0, would be."""
        return replace(self, id=cell_id(self.id, number), cells=(self.cells[number],))


@dataclass(frozen=True)
class Schedule:
    """All trials in their order, and everything that is left out, with the reasons."""

    trials: tuple[PlannedTrial, ...]
    skipped: tuple[str, ...]
    """Impossible combinations."""
    unavailable: tuple[str, ...] = ()
    """Programs that are not available on this machine."""
    cells: tuple[Cell, ...] = ()
    """Cells to measure, in the order of the experiment file."""
    apart: tuple[str, ...] = ()
    """Why services that could be compared within a trial are measured one at a time."""

    @property
    def sizes(self) -> tuple[str, ...]:
        """What the size of each message is in the codecs of its cells."""
        codecs: dict[Message, list[str]] = {}
        for cell in self.cells:
            if isinstance(cell.message, Message):
                codecs.setdefault(cell.message, []).append(cell.stack.axes.codec)
        return tuple(
            line for message, named in codecs.items() for line in message.describe_size(named)
        )

    @property
    def cell_trials(self) -> int:
        """Number of results that the trials give."""
        return sum(len(trial.cells) for trial in self.trials)
