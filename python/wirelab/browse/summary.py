"""One line on each run directory: status, number of trials, and result."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Literal

import msgspec

from wirelab.browse import contents, locks
from wirelab.browse.contents import NotShown, Unreadable
from wirelab.browse.locks import Held
from wirelab.browse.tree import Entry, Tree, display_name
from wirelab.format.counting import format_count
from wirelab.format.numbers import quantity
from wirelab.report.findings.sentences import sentences
from wirelab.run import archive, finished, journal
from wirelab.run.manifest import MANIFEST, Manifest
from wirelab.study import manifest as study_manifest
from wirelab.study.claims import NOT_MEASURED

Status = Literal["under way", "finished", "interrupted", "damaged", "not shown"]
UNREADABLE: tuple[Status, ...] = ("damaged", "not shown")
OUTCOMES = ("holds", "does not hold", "undecided")


@dataclass(frozen=True)
class Summary:
    """What the list shows of a run directory."""

    entry: Entry
    status: Status
    experiment: str = ""
    started: str = ""
    """``2026-11-26 10:00:07 UTC``, which sorts by time; empty if it is not known."""
    trials: str = ""
    """``12 of 96``; empty for a directory without trials of its own."""
    failed: int = 0
    result: str = ""
    """The first finding, or the reason why there is none."""


class Reader:
    """Summarises run directories, again only if their files have changed. For several threads."""

    def __init__(self) -> None:
        self._kept: dict[str, tuple[object, Summary]] = {}
        self._lock = threading.Lock()

    def all(self, tree: Tree, deadline: float | None = None) -> dict[str, Summary | None]:
        """By id. After ``deadline``, in seconds of :func:`time.monotonic`, only those that are
        known; None for the others."""
        held = locks.list_held()
        found: dict[str, Summary | None] = {}
        for entry in tree.entries.values():
            found[entry.id] = self._of(entry, held, deadline)
        with self._lock:
            for gone in self._kept.keys() - tree.entries.keys():
                del self._kept[gone]
        return {key: _combine_runs(key, found, tree) for key in found}

    def of(self, entry: Entry) -> Summary:
        """One of them."""
        found = self._of(entry, locks.list_held(), None)
        assert found is not None
        return found

    def _of(self, entry: Entry, held: tuple[Held, ...], deadline: float | None) -> Summary | None:
        running = locks.is_locked(entry.folder, held)
        signature = (running, *(state_of(entry.folder / name) for name in _NAMES))
        with self._lock:
            kept = self._kept.get(entry.id)
        if kept is not None and kept[0] == signature:
            return kept[1]
        if deadline is not None and time.monotonic() > deadline:
            return None
        made = summarise(entry, running)
        with self._lock:
            self._kept[entry.id] = signature, made
        return made


_NAMES = (
    MANIFEST,
    journal.NAME,
    archive.NAME,
    study_manifest.NAME,
    "findings.json",
    "limit.json",
    "wrap.json",
)


def state_of(path: Path) -> tuple[int, int, int] | None:
    """Changes if the file does; None if there is none."""
    try:
        found = path.lstat()
    except OSError:
        return None
    return found.st_mtime_ns, found.st_size, found.st_ino


def _combine_runs(key: str, found: dict[str, Summary | None], tree: Tree) -> Summary | None:
    """A directory of several runs is under way if one of them is, and as old as the oldest."""
    own = found[key]
    if own is None or own.entry.kind == "run" or own.status in UNREADABLE:
        return own
    parts = [one for each in tree.list_inside(own.entry) if (one := found.get(each.id))]
    status: Status = "under way" if any(one.status == "under way" for one in parts) else own.status
    started = min((one.started for one in parts if one.started), default=own.started)
    return Summary(own.entry, status, own.experiment, started, own.trials, own.failed, own.result)


def summarise(entry: Entry, running: bool) -> Summary:
    """Reads a run directory; a reason why it cannot be read is part of the summary."""
    try:
        if entry.problem:
            raise NotShown(entry.problem)
        return contents.attempt(lambda: _SUMMARIES[entry.kind](entry, running))
    except Unreadable as error:
        return Summary(
            entry, status_of_unreadable(error), result=str(error), started=modification_time(entry)
        )


def _run(entry: Entry, running: bool) -> Summary:
    manifest = contents.read_manifest(entry.folder)
    contents.accept_journal(entry.folder)
    if running:
        # Counting lines is cheap; a run under way is not slowed down by reading its records.
        done = _lines(entry.folder / journal.NAME)
        return Summary(
            entry,
            "under way",
            display_name(manifest.name),
            start_time(manifest, entry),
            _progress(done, manifest.trials_planned),
        )
    run = finished.read(entry.folder)
    contents.accept_trials(run.trials)
    return Summary(
        entry,
        status_at_end(is_whole(len(run.trials), run.planned)),
        display_name(manifest.name),
        start_time(manifest, entry),
        finished.count(run.trials, run.planned),
        len(run.failed),
        contents.shorten(sentences(run.trials, manifest.threshold_in_use, manifest.comparison)[0]),
    )


def _progress(done: int, planned: int | None) -> str:
    return f"{done:,}" if planned is None else f"{done:,} of {planned:,}"


def _lines(path: Path) -> int:
    try:
        with path.open("rb") as file:
            return sum(block.count(b"\n") for block in iter(lambda: file.read(1 << 20), b""))
    except FileNotFoundError:
        return 0


class _StudyName(msgspec.Struct):
    study: str


class _Finding(msgspec.Struct):
    outcome: str
    measured: bool = True


class _Findings(msgspec.Struct):
    findings: list[_Finding] = []


def _reproduction(entry: Entry, running: bool) -> Summary:
    name = contents.read_document(entry.folder / study_manifest.NAME, _StudyName).study
    path = entry.folder / "findings.json"
    judged = contents.read_document(path, _Findings).findings if path.exists() else []
    found = [one.outcome if one.measured else NOT_MEASURED for one in judged]
    parts = [
        f"{count} {outcome}"
        for outcome in (*OUTCOMES, NOT_MEASURED)
        if (count := found.count(outcome))
    ]
    result = f"{format_count(len(judged), 'finding')}: {', '.join(parts)}." if parts else ""
    return Summary(
        entry,
        status_at_end(bool(judged)),
        display_name(name),
        modification_time(entry),
        result=result,
    )


class _Limit(msgspec.Struct):
    objective: str
    limit_per_s: float | None = None
    low_per_s: float | None = None
    high_per_s: float | None = None


def _limit(entry: Entry, running: bool) -> Summary:
    found = contents.read_document(entry.marker, _Limit)
    if found.limit_per_s is None:
        result = "No limit was found within the rates that were tried"
    else:
        result = f"Highest rate: {quantity(found.limit_per_s, '1/s')}"
        if found.low_per_s is not None and found.high_per_s is not None:
            low, high = (quantity(one, "1/s") for one in (found.low_per_s, found.high_per_s))
            result += f" (95 % interval {low} to {high})"
    objective = contents.shorten(found.objective)
    return Summary(
        entry, "finished", "limit", modification_time(entry), result=f"{result} at {objective}."
    )


class _Explanation(msgspec.Struct):
    names: list[str] = []
    sentences: list[str] = []


def _explanation(entry: Entry, running: bool) -> Summary:
    found = contents.read_document(entry.marker, _Explanation)
    names = display_name(" and ".join(found.names[:2]))
    result = contents.shorten(found.sentences[0]) if found.sentences else ""
    return Summary(entry, "finished", names, modification_time(entry), result=result)


class _Verdict(msgspec.Struct, frozen=True):
    words: str = ""


class _Wrapped(msgspec.Struct):
    command: list[str] = []
    verdict: _Verdict = _Verdict()


def _summarize_wrap(entry: Entry, running: bool) -> Summary:
    found = contents.read_document(entry.marker, _Wrapped)
    command = display_name(" ".join(found.command))
    result = contents.shorten(found.verdict.words)
    return Summary(entry, "finished", command, modification_time(entry), result=result)


_SUMMARIES: dict[str, Callable[[Entry, bool], Summary]] = {
    "run": _run,
    "reproduction": _reproduction,
    "limit": _limit,
    "explanation": _explanation,
    "wrapped tool": _summarize_wrap,
}


def status_of_unreadable(error: Unreadable) -> Status:
    """The status of a directory that cannot be shown."""
    return "not shown" if isinstance(error, NotShown) else "damaged"


def is_whole(done: int, planned: int | None) -> bool:
    """True if no trial is missing; older runs did not note their number."""
    return done > 0 if planned is None else done >= planned


def status_at_end(whole: bool) -> Status:
    """The status of a directory that no process works on."""
    return "finished" if whole else "interrupted"


def start_time(manifest: Manifest, entry: Entry) -> str:
    """When the run started; for a time that cannot be read, when its manifest was written."""
    text = manifest.sessions[0].started if manifest.sessions else ""
    try:
        return _moment(datetime.fromisoformat(text))
    except (ValueError, OverflowError):
        return modification_time(entry)


def modification_time(entry: Entry) -> str:
    """When the file that makes it a run directory was written last."""
    try:
        return _moment(datetime.fromtimestamp(entry.marker.lstat().st_mtime, UTC))
    except (OSError, ValueError, OverflowError):
        return ""


def _moment(when: datetime) -> str:
    return f"{when.astimezone(UTC):%Y-%m-%d %H:%M:%S} UTC"
