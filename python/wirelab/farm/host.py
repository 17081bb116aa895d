"""What runs on a host of a farm: prepares it once, and measures one trial at a time."""

from __future__ import annotations

import hashlib
import json
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path

from wirelab.checks.system_noise import spoilt_by
from wirelab.clients.client import describe
from wirelab.documents.link_ready import Nominal
from wirelab.errors import LabError
from wirelab.experiment import matrix as planning
from wirelab.experiment import placement
from wirelab.experiment.link_profiles import Profile
from wirelab.experiment.matrix import PlannedTrial, Schedule
from wirelab.experiment.model import Experiment
from wirelab.farm.transport import Files, HostInfo, HostLine, refuse_other_program, refuse_unequal
from wirelab.identity import Admission
from wirelab.loadtools import Tools
from wirelab.process import machine, rust_programs
from wirelab.process.callers import CallerPrograms
from wirelab.process.core_locks import CoreLocks
from wirelab.process.databases import Stores
from wirelab.process.interruption import Interruption
from wirelab.process.scratch import Scratch, sweep
from wirelab.process.services import Programs
from wirelab.records.line import to_line
from wirelab.records.trial import Trial
from wirelab.stack import manifests
from wirelab.stack.axes import CLIENTS, ENGINE
from wirelab.trial.acceptance import accept_files, needs_json_library
from wirelab.trial.runner import try_out
from wirelab.trial.setup import Lab
from wirelab.trial.slice_length import SliceLengths
from wirelab.trial.sliced import measure_trial


@dataclass(frozen=True)
class HostOptions:
    """Options of a run that hosts follow."""

    unverified: bool = False
    ready_timeout_s: float | None = None
    share: bool = False
    """See :func:`wirelab.run.runner.run`."""


@dataclass(frozen=True)
class FarmWork:
    """The work of all hosts; the same object reaches each."""

    run: str
    """Distinguishes it from the work of other runs."""
    experiment: Experiment
    options: HostOptions
    schedule_sha256: str
    """Of :func:`digest_schedule` on the front."""
    pattern: HostInfo
    """A host to which all others are equal, with the programs of the front."""

    def prepare(self, host: str) -> dict[str, str]:
        """Builds and verifies what the trials need, and tries out links and captures. Returns the
        digests of the services' binaries by name. Raises :class:`LabError`."""
        return _find_bench(self, host).prepare()

    def measure(self, host: str, order: int, earlier: str) -> list[HostLine]:
        """Measures the trial at that place of the schedule, and again if the host's other work
        spoilt it; ``earlier`` is what spoilt it before. Raises :class:`LabError`,
        :class:`Interrupted`."""
        return _find_bench(self, host).measure(order, earlier)


def digest_schedule(planned: Schedule) -> str:
    """Changes with every cell, message and file of an experiment."""
    ids = [(trial.id, [cell.point.to_json() for cell in trial.cells]) for trial in planned.trials]
    return hashlib.sha256(json.dumps(ids, sort_keys=True).encode()).hexdigest()


def describe_host(name: str) -> HostInfo:
    """This host. Raises :class:`EngineMissing`."""
    return HostInfo(name=name, client=describe(), machine=machine.describe())


_benches: dict[str, Bench] = {}
"""Of this process, by run: Ray gives it one task after the other."""


def _find_bench(work: FarmWork, host: str) -> Bench:
    if work.run not in _benches:
        _benches.clear()
        _benches[work.run] = Bench(work, host)
    return _benches[work.run]


@dataclass
class Bench:
    """One host's own part of a run."""

    work: FarmWork
    host: str
    _interruption: Interruption = field(default_factory=Interruption)

    def __post_init__(self) -> None:
        """Raises :class:`LabError` for a host that is not like the others."""
        own = describe_host(self.host)
        refuse_other_program(own, self.work.pattern.client)
        refuse_unequal([self.work.pattern, own])
        self._lengths = SliceLengths(self.work.experiment.slice)
        self._tools, self._callers = Tools(), CallerPrograms()
        self._nominal: dict[Profile, Nominal] | None = None

    @cached_property
    def planned(self) -> Schedule:
        """Raises :class:`LabError` where it differs from that of the front."""
        planned = planning.schedule(self.work.experiment, manifests.load())
        if digest_schedule(planned) != self.work.schedule_sha256:
            raise LabError(
                f"{self.host} plans other trials than this machine: files that the experiment "
                "names differ there",
                "copy the experiment's folder to the same path on every host",
            )
        return planned

    @cached_property
    def _programs(self) -> Programs:
        return Programs(manifests.load())

    @cached_property
    def _admission(self) -> Admission:
        options = self.work.options
        return Admission(
            self._programs,
            self._interruption,
            unverified=options.unverified,
            ready_timeout_s=options.ready_timeout_s,
        )

    def prepare(self) -> dict[str, str]:
        """See :meth:`FarmWork.prepare`."""
        cells = [cell for trial in self.planned.trials for cell in trial.cells]
        accept_files(self.planned)
        with self._open_lab() as lab:
            if any(map(needs_json_library, cells)):
                rust_programs.program(rust_programs.JSON_ENGINE, lab.interruption)
            for name in sorted({cell.stack.axes.caller for cell in cells} - {ENGINE}):
                if name in CLIENTS:
                    lab.callers.program(name, lab.interruption)
                else:
                    lab.tools.tool(name, lab.interruption, lambda _: None)
            self._try_out(lab)
            digests = {}
            for cell in (cell for cell in cells if cell.external is None):
                contract = cell.message.contract
                program = lab.programs.program(cell.stack, lab.interruption, contract)
                digests[program.manifest.title] = program.sha256
                lab.admission.prepare(cell.stack, contract, lambda _: None)
        return digests

    def measure(self, order: int, earlier: str) -> list[HostLine]:
        """See :meth:`FarmWork.measure`."""
        planned = self.planned.trials[order]
        with self._open_lab() as lab:
            self._try_out(lab)
            lines = [] if earlier else [self._measure_once(lab, planned, "")]
            spoilt = earlier or next(filter(None, map(spoilt_by, lines[0][0])), "")
            if spoilt and lab.repeats_spoilt:
                lines.append(self._measure_once(lab, planned, spoilt))
            return [made for _, made in lines]

    def _try_out(self, lab: Lab) -> None:
        """Links and captures, once in each process."""
        if self._nominal is None:
            try_out(lab, self.planned.trials)
            self._nominal = lab.nominal

    def _measure_once(
        self, lab: Lab, planned: PlannedTrial, repeats: str
    ) -> tuple[Sequence[Trial], HostLine]:
        folders = HostFolders(Path(tempfile.mkdtemp(dir=lab.scratch.folder)))
        cells = measure_trial(lab, planned, folders.make_fresh)
        cells = tuple(replace(cell, repeats=repeats, node=self.host) for cell in cells)
        return cells, HostLine(encode_line(cells), folders.take())

    @contextmanager
    def _open_lab(self) -> Iterator[Lab]:
        """The values of one task, whose processes and temporary files end with it."""
        experiment, options = self.work.experiment, self.work.options
        cores = {core for one in experiment.placement for core in placement.choose(one).used}
        self._interruption.requested = False
        with (
            self._interruption as stop,
            CoreLocks(
                sorted(cores), share=options.share, interruption=stop, on_note=lambda _: None
            ) as locks,
            Scratch() as scratch,
            Stores(stop) as stores,
        ):
            yield Lab(
                experiment,
                self._programs,
                self._admission,
                scratch,
                stop,
                stores,
                self._lengths,
                tools=self._tools,
                callers=self._callers,
                nominal={} if self._nominal is None else self._nominal,
                ready_timeout_s=options.ready_timeout_s,
                other_runs=locks.others,
                repeats_spoilt=not options.share,
            )


def encode_line(cells: Sequence[Trial]) -> bytes:
    """The line of the journal for the cells of one trial, without its end."""
    return json.dumps(to_line(cells), separators=(",", ":"), allow_nan=False).encode()


class HostFolders:
    """Folders of one trial on a host, until they are taken back."""

    def __init__(self, where: Path) -> None:
        """Creates nothing yet."""
        self._where = where
        self._made: list[tuple[str, Path]] = []

    def make_fresh(self, trial_id: str) -> Path:
        """An empty folder, also where there is one for this trial."""
        folder = self._where / f"{len(self._made)}" / trial_id
        folder.mkdir(parents=True)
        self._made.append((trial_id, folder))
        return folder

    def take(self) -> tuple[tuple[str, Files], ...]:
        """The files of all folders, in the order in which these were made, without database rows
        of a service that was killed."""
        return tuple((trial_id, _read_files(folder)) for trial_id, folder in self._made)


def _read_files(folder: Path) -> Files:
    sweep(folder)
    return {
        str(path.relative_to(folder)): path.read_bytes()
        for path in sorted(folder.rglob("*"))
        if path.is_file() and not path.is_symlink()
    }
