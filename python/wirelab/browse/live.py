"""The state of a run, also while it is under way: progress, and the figures of each cell so far."""

from __future__ import annotations

import os
import threading
from collections import OrderedDict
from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace
from itertools import islice
from pathlib import Path

from wirelab.browse import contents, locks
from wirelab.browse.contents import NotShown, Unreadable
from wirelab.browse.summary import Status, is_whole, state_of, status_at_end, status_of_unreadable
from wirelab.browse.tree import NAMES_MAX, TRIALS, Entry, display_name
from wirelab.checks.marks import marks_of
from wirelab.comparisons.finished_runs import SHOWN
from wirelab.format.numbers import NONE, stack_limits
from wirelab.format.sanitize import sanitize
from wirelab.records.trial import Point, Trial
from wirelab.run import finished, journal
from wirelab.run.journal import Content, Follower
from wirelab.run.manifest import Manifest
from wirelab.run.progress import time_left
from wirelab.statistics.cell import Cell, cells
from wirelab.statistics.figure import Figure
from wirelab.statistics.verdict import THRESHOLD
from wirelab.trial.labels import Names

CELLS_MAX = 300
"""Maximum number of cells that are shown."""
FOLLOWED_MAX = 4
"""Maximum number of runs whose records are kept in memory."""


@dataclass(frozen=True)
class CellState:
    """The trials of a cell so far."""

    name: str
    trials: str
    """``2 of 5``."""
    figures: tuple[str, ...]
    """Of :data:`SHOWN`: the mean and, on a line of its own, its 95 % interval."""


@dataclass(frozen=True)
class RunState:
    """What the page of a run shows and its script asks for again."""

    status: Status
    done: int = 0
    planned: int | None = None
    failed: int = 0
    left: str = ""
    """Estimate of the time left; empty if the run is not under way."""
    current: str = ""
    """Id of the trial that is being measured."""
    cells: tuple[CellState, ...] = ()
    cells_all: int = 0
    """Number of cells, shown or not."""
    notes: tuple[str, ...] = ()
    """Sentences on missing, incomplete or repeated trials."""
    problem: str = ""
    """Why it cannot be read."""

    @property
    def progress(self) -> str:
        """``12 of 96 trials``."""
        return finished.trials_of(range(self.done), self.planned)

    def to_json(self) -> dict[str, object]:
        """For the script of the page."""
        return {**asdict(self), "progress": self.progress}


def cell_name(names: Names, point: Point) -> str:
    """Stack and setting, of a bounded length."""
    return contents.shorten(sanitize(f"{names.stacks[point.stack]}: {names.setting(point)}"))


def figure_text(cell: Cell, figure: Figure, threshold: float = THRESHOLD) -> str:
    """The mean, and on lines of their own the 95 % interval if there is one, and what marked it
    (``threshold``: a share, up to which nothing does)."""
    shown = stack_limits(cell.interval_to_show(figure), figure.unit).removesuffix(f"\n{NONE}")
    return "\n".join([shown, *(mark.text for mark in marks_of(cell, figure, threshold))])


class Watcher:
    """Follows the journals of a few runs, so that each request reads only new lines. For several
    threads."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._followed: OrderedDict[str, Follower] = OrderedDict()
        self._states: OrderedDict[str, tuple[object, RunState]] = OrderedDict()

    def state(self, entry: Entry) -> RunState:
        """Its state now; a reason why it cannot be read is part of it."""
        try:
            if entry.problem:
                raise NotShown(entry.problem)
            return contents.attempt(lambda: self._read(entry))
        except Unreadable as error:
            return RunState(status_of_unreadable(error), problem=str(error))

    def _read(self, entry: Entry) -> RunState:
        """The state; between two trials only the current trial is looked up."""
        running = locks.is_locked(entry.folder, locks.list_held())
        signature = (running, state_of(entry.marker), state_of(entry.folder / journal.NAME))
        with self._lock:
            kept = self._states.get(entry.id)
        if kept is not None and kept[0] == signature:
            made = kept[1]
        else:
            made = self._read_state(entry, running)
            with self._lock:
                self._states[entry.id] = signature, made
                while len(self._states) > FOLLOWED_MAX:
                    self._states.popitem(last=False)
        if not running:
            return made
        known = {line[0].id for line in self._content(entry).lines}
        return replace(made, current=_current(entry.folder, known))

    def _read_state(self, entry: Entry, running: bool) -> RunState:
        manifest = contents.read_manifest(entry.folder)
        contents.accept_journal(entry.folder)
        content = self._content(entry)
        trials = content.trials
        contents.accept_trials(trials)
        every = cells(trials)
        names = Names.of(cell.point for cell in every)
        repeats = manifest.experiment.get("repeats")
        planned = manifest.trials_planned
        notes = finished.sentences(trials, planned, torn=content.torn, repeated=content.repeated)
        shown = tuple(
            CellState(
                cell_name(names, cell.point),
                f"{len(cell.trials)} of {repeats}"
                if isinstance(repeats, int) and repeats >= len(cell.trials)
                else str(len(cell.trials)),
                tuple(figure_text(cell, one, manifest.threshold_in_use) for one in SHOWN),
            )
            for cell in every[:CELLS_MAX]
        )
        return RunState(
            "under way" if running else status_at_end(is_whole(len(trials), planned)),
            len(trials),
            planned,
            sum(trial.status == "failed" for trial in trials),
            _estimate_time_left(trials, planned) if running else "",
            cells=shown,
            cells_all=len(every),
            notes=() if running else notes,
        )

    def _content(self, entry: Entry) -> Content:
        with self._lock:
            follower = self._followed.pop(entry.id, None)
            if follower is None:
                follower = Follower(entry.folder / journal.NAME)
            self._followed[entry.id] = follower
            while len(self._followed) > FOLLOWED_MAX:
                self._followed.popitem(last=False)
            return follower.read()


def _estimate_time_left(trials: Sequence[Trial], planned: int | None) -> str:
    if planned is None or not trials:
        return ""
    mean_s = sum(trial.seconds for trial in trials) / len(trials)
    return time_left(mean_s * max(0, planned - len(trials)))


def _current(folder: Path, known: set[str]) -> str:
    """The trial whose folder was made last, if the journal has no line of it yet."""
    try:
        with os.scandir(folder / TRIALS) as names:
            begun = [
                (one.stat(follow_symlinks=False).st_mtime_ns, one.name)
                for one in islice(names, NAMES_MAX)
                if one.is_dir(follow_symlinks=False) and _is_new(one.name, known)
            ]
    except OSError:
        return ""
    return display_name(max(begun)[1]) if begun else ""


def _is_new(name: str, known: set[str]) -> bool:
    return name not in known and ".failed-" not in name and ".unfinished-" not in name


def facts(manifest: Manifest) -> list[tuple[str, str]]:
    """Names and values for the head of a run's page."""
    machine = f"{manifest.cpu}, {manifest.cores_text}, Linux {manifest.machine.get('kernel', '?')}"
    revision = (manifest.git_revision or "")[:12]
    return [
        ("Question", contents.shorten(manifest.about)),
        ("Machine", contents.shorten(machine)),
        ("Revision", revision or NONE),
        ("Seed", manifest.seed_text),
    ]
