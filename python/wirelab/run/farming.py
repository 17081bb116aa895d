"""Runs an experiment on the hosts of a farm: one journal, one progress, one report."""

from __future__ import annotations

import os
import time
import uuid
from collections import deque
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from math import inf
from pathlib import Path

from wirelab.clients.ray_connection import Cluster
from wirelab.errors import Interrupted, LabError
from wirelab.experiment import matrix as planning
from wirelab.experiment.matrix import PlannedTrial, Schedule
from wirelab.experiment.model import Experiment
from wirelab.farm.blocks import BlockPlan
from wirelab.farm.host import FarmWork, HostOptions, digest_schedule, encode_line
from wirelab.farm.ray_tasks import open_farm
from wirelab.farm.refusals import refuse_impossible
from wirelab.farm.transport import Begun, Files, HostLine, HostLost, Transport
from wirelab.format.counting import format_count
from wirelab.process import engine_binary
from wirelab.process.interruption import Interruption
from wirelab.records.line import cell_id
from wirelab.records.trial import Trial, now
from wirelab.run.directory import RunDirectory
from wirelab.run.finished import Run, read
from wirelab.run.progress import Progress, RemainingWork, Silent
from wirelab.run.repeating import find_done, find_spoilt, run_guarded, shares_cores
from wirelab.stack import manifests
from wirelab.trial.labels import Names

TICK_S = 0.2
"""How often a wait for results looks for Ctrl-C."""
LOOK_S = 1.0
"""How often the front asks Ray which hosts exist."""
_NEW_FILE = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC
EMPTY_S = 5.0
"""Time without any host after which trials have failed."""


def run_on_farm(
    experiment: Experiment,
    out: Path,
    cluster: Cluster,
    *,
    source: str,
    options: HostOptions,
    progress: Progress | None = None,
    retry_failed: bool = False,
) -> Run:
    """As :func:`wirelab.run.runner.run`, each trial on one of the hosts of ``cluster``. A trial
    whose host is lost is measured on another one. Raises the same errors, and :class:`LabError`
    where hosts are not equal or none is left."""
    progress = progress or Silent()
    options = replace(options, share=shares_cores(options.share))
    experiment.secrets.require()
    engine_binary.find()
    planned = planning.schedule(experiment, manifests.load())
    refuse_impossible(experiment, planned)
    with (
        experiment.secrets.known.hide_in_errors(),
        Interruption() as stop,
        open_farm(cluster, stop) as farm,
    ):
        hosts = farm.describe_all()
        progress.note(f"{format_count(len(hosts), 'host')}: {', '.join(h.name for h in hosts)}")
        with RunDirectory(out, experiment, source, machine=hosts[0].machine) as directory:
            digest = digest_schedule(planned)
            work = FarmWork(uuid.uuid4().hex, experiment, options, digest, hosts[0])
            front = Front(experiment, planned, directory, farm, progress, stop)
            todo = front.begin(len(hosts), retry_failed=retry_failed, repeat=not options.share)
            if todo:
                progress.note("preparing the hosts")
                farm.prepare(work)
            front.measure_all(todo, out)
    return read(out)


@dataclass
class Front:
    """The only process that writes the run directory. What it keeps of a trial has the same size
    whatever was measured."""

    experiment: Experiment
    planned: Schedule
    directory: RunDirectory
    transport: Transport
    progress: Progress
    interruption: Interruption
    clock: Callable[[], float] = time.monotonic
    """Seconds."""
    _earlier: dict[str, str] = field(default_factory=dict)
    """What spoilt a trial in an earlier session, by its id."""
    _kept: int = 0
    """Cells in the journal."""
    _running: dict[Begun, tuple[PlannedTrial, str]] = field(default_factory=dict)
    """Trials under way, and the host on which each began."""
    _hosts: set[str] = field(default_factory=set)
    _idle: deque[str] = field(default_factory=deque)
    _looked_s: float = -inf
    _empty_since_s: float | None = None
    _begun_by: dict[int, str] = field(default_factory=dict)
    """Host of each repeat of which an earlier session measured a part."""

    def begin(self, at_once: int, *, retry_failed: bool, repeat: bool) -> list[PlannedTrial]:
        """Reads the journal and shows what is to do; returns the trials that are not done."""
        journal, planned = self.directory.journal, self.planned
        done = find_done(journal, retry_failed, repeat_spoilt=repeat)
        todo = [trial for trial in planned.trials if trial.id not in done]
        latest = {line[0].id: line for line in journal.latest}
        for trial in todo if repeat else ():
            line = latest.get(trial.id)
            if line is not None and (reason := find_spoilt(journal, line)):
                self._earlier[trial.id] = reason
        self._kept = len(journal.trials)
        ids = {trial.id for trial in todo}
        # Only folders of trials that are measured again need their earlier lines.
        journal.lines = [line for line in journal.lines if line[0].id in ids]
        self._begun_by = {line[0].repeat: line[0].node for line in latest.values()}
        cells = [cell.point for trial in planned.trials for cell in trial.cells]
        self.progress.begin(
            RemainingWork(
                [planning.seconds(self.experiment, trial) for trial in todo],
                len(planned.trials) - len(todo),
                at_most=self.experiment.window.calls is not None,
                names=Names.of(cells).stacks,
                at_once=at_once,
            )
        )
        for text in (*planned.sizes, *(f"one service at a time: {why}" for why in planned.apart)):
            self.progress.note(text)
        if journal.torn:
            self.progress.note("the last line of the journal was incomplete; its trial is repeated")
        for reason in planned.skipped:
            self.progress.note(f"left out: {reason}")
        run_guarded(
            self.directory.folder,
            lambda: self.directory.note(planned.cell_trials, planned.skipped, ()),
        )
        return todo

    def measure_all(self, todo: Sequence[PlannedTrial], named: Path) -> None:
        """Measures trials until none is left. ``named`` is the folder in messages. Raises
        :class:`Interrupted`, :class:`LabError`, :class:`StorageError`."""
        places = {trial.id: place for place, trial in enumerate(self.planned.trials)}
        plan = BlockPlan(todo, self._begun_by)
        try:
            while plan.left or self._running:
                self.interruption.check()
                self._look(plan)
                self._begin_trials(plan, places)
                self._take_results()
        except Interrupted as error:
            raise Interrupted(
                f"interrupted; {self._kept} of {self.planned.cell_trials} trials are kept in "
                f"{named}",
                "repeat the command with the same --out to continue",
            ) from error
        finally:
            self.transport.cancel(list(self._running))
            self.directory.journal.sync()
            self.progress.end()

    def _look(self, plan: BlockPlan) -> None:
        """Which hosts exist. Raises :class:`LabError` where none has for a while."""
        at = self.clock()
        if at - self._looked_s < LOOK_S:
            return
        self._looked_s = at
        there = set(self.transport.hosts())
        for host in self._hosts - there:
            self.progress.note(f"{host} is gone: its trials go to other hosts")
            plan.release(host)
        self._idle = deque(host for host in self._idle if host in there)
        self._idle.extend(sorted(there - self._hosts))
        self._hosts = there
        if there:
            self._empty_since_s = None
        elif self._empty_since_s is None:
            self._empty_since_s = at
        elif at - self._empty_since_s > EMPTY_S:
            self._fail_all("and no other host is left")
            raise LabError(
                "no host of the farm is left",
                "start its nodes again, and repeat the command with the same --out to continue",
            )

    def _begin_trials(self, plan: BlockPlan, places: dict[str, int]) -> None:
        for _ in range(min(len(self._idle), plan.left)):
            host = self._idle.popleft()
            trial = plan.take(host)
            if trial is None:
                self._idle.append(host)
                continue
            earlier = self._earlier.get(trial.id, "")
            begun = self.transport.begin(host, places[trial.id], earlier)
            self._running[begun] = (trial, host)
            self.progress.trial(trial)

    def _take_results(self) -> None:
        for begun in self.transport.wait(list(self._running), TICK_S):
            trial, host = self._running.pop(begun)
            if host in self._hosts:
                self._idle.append(host)
            try:
                lines = self.transport.result(begun)
            except HostLost as lost:
                lines = [_describe_failed(trial, host, lost.reason)]
            self._keep(trial, lines)

    def _keep(self, trial: PlannedTrial, lines: Iterable[HostLine]) -> None:
        """Files first: a line in the journal is that of a trial whose files are there."""
        directory, journal = self.directory, self.directory.journal
        cells: tuple[Trial, ...] = ()
        for place, made in enumerate(lines):
            if place:
                # So that the folders of the first one get their name.
                journal.lines.append(cells)
            run_guarded(directory.folder, partial(_write_folders, directory, made))
            cells = journal.append_encoded(made.line)
            self._kept += 0 if place or trial.id in self._earlier else len(cells)
        self.progress.end_trial(cells[0])

    def _fail_all(self, reason: str) -> None:
        for trial, host in self._running.values():
            failed = _describe_failed(trial, host, f"{host} was lost during the trial, {reason}")
            self._keep(trial, [failed])
        self._running.clear()


def _write_folders(directory: RunDirectory, made: HostLine) -> None:
    for trial_id, files in made.folders:
        _write_files(directory.fresh_folder(trial_id), files)


def _write_files(folder: Path, files: Files) -> None:
    """By the descriptor of the folder: with paths, this is most of what a trial costs the front."""
    descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        for name, content in files.items():
            if name.startswith("/") or ".." in name.split("/"):
                raise LabError(f"a host returned the file {name!r}, which is outside of its trial")
            if "/" in name:
                (folder / name).parent.mkdir(parents=True, exist_ok=True)
            file = os.open(name, _NEW_FILE, 0o644, dir_fd=descriptor)
            try:
                view = memoryview(content)
                while view:
                    view = view[os.write(file, view) :]
            finally:
                os.close(file)
    finally:
        os.close(descriptor)


def _describe_failed(trial: PlannedTrial, host: str, reason: str) -> HostLine:
    """The record of a trial that no host measured."""
    cells = tuple(
        Trial(
            id=cell_id(trial.id, number),
            point=cell.point,
            repeat=trial.repeat,
            order=trial.order,
            status="failed",
            reason=reason,
            started=now(),
            node=host,
        )
        for number, cell in enumerate(trial.cells)
    )
    return HostLine(encode_line(cells), ())
