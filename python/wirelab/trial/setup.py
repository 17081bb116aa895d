"""What is known of a trial before it begins: the values that all trials of a run share, the planned
trial, and the folder that keeps what it leaves."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

from wirelab.clients.together import ClientPool
from wirelab.documents.axes import Axes
from wirelab.documents.event import Progress
from wirelab.documents.link_ready import Nominal
from wirelab.experiment import placement
from wirelab.experiment.link_profiles import Profile
from wirelab.experiment.matrix import Cell, PlannedTrial
from wirelab.experiment.model import NO_CAPTURE, Experiment
from wirelab.identity import Admission
from wirelab.loadtools import Tools
from wirelab.process import proxies
from wirelab.process.callers import CallerPrograms
from wirelab.process.databases import Stores
from wirelab.process.interruption import Interruption
from wirelab.process.scratch import Scratch
from wirelab.process.services import Programs
from wirelab.trial import reconciliation
from wirelab.trial.observer import OnRuntime
from wirelab.trial.reconciliation import CallLog
from wirelab.trial.slice_length import SliceLengths

Json = dict[str, object]


@dataclass(frozen=True)
class Lab:
    """Values shared by all trials of a run."""

    experiment: Experiment
    programs: Programs
    admission: Admission
    scratch: Scratch
    interruption: Interruption
    stores: Stores
    slice_lengths: SliceLengths
    on_progress: Callable[[Progress], None] = lambda _: None
    on_runtime: OnRuntime = lambda _: None
    tools: Tools = field(default_factory=Tools)
    callers: CallerPrograms = field(default_factory=CallerPrograms)
    clients: ClientPool | None = None
    """Several engines that divide the loads; None: one makes them."""
    nominal: dict[Profile, Nominal] = field(default_factory=dict)
    """Nominal values of links, once they have been tried out."""
    ready_timeout_s: float | None = None
    """See :class:`wirelab.process.children.ProcessOptions`; for services."""
    other_runs: Callable[[], str] = lambda: ""
    """Describes the runs that use the same cores at this moment; empty: none."""
    repeats_spoilt: bool = True
    """Trials that the machine's other work spoilt are repeated once."""


@dataclass(frozen=True)
class TrialSetup:
    """A trial before it begins."""

    lab: Lab
    planned: PlannedTrial
    folder: Path
    table: placement.Table
    """Cores of its processes."""

    @classmethod
    def of(cls, lab: Lab, planned: PlannedTrial, folder: Path) -> TrialSetup:
        """Chooses the cores as the experiment has it."""
        return cls(lab, planned, folder, placement.choose(planned.cell.placement))

    @property
    def experiment(self) -> Experiment:
        return self.lab.experiment

    @property
    def interruption(self) -> Interruption:
        return self.lab.interruption

    @property
    def cell(self) -> Cell:
        return self.planned.cell

    @property
    def axes(self) -> Axes:
        return self.cell.stack.axes

    @property
    def is_direct(self) -> bool:
        """Whether calls go to the service without a proxy."""
        return self.axes.via == proxies.NONE

    @property
    def has_captures(self) -> bool:
        """Whether packets are captured."""
        return self.cell.capture != NO_CAPTURE

    @property
    def keylog(self) -> Path:
        """Secrets of TLS, where the engine writes them."""
        return self.folder / "keys.log"

    @property
    def call_log(self) -> CallLog:
        """The log of calls that the trial is planned to write."""
        return reconciliation.call_log(self.experiment, self.cell, self.folder)

    def write_json(self, name: str, content: Json) -> None:
        """Writes a file of the trial, without secrets."""
        content = self.experiment.secrets.known.hide_json(content)
        self.write_text(name, json.dumps(content, indent=1, default=str) + "\n")

    def write_text(self, name: str, text: str) -> None:
        """Writes a file of the trial as it is."""
        (self.folder / name).write_text(text, encoding="utf-8")
