"""The pages of a run directory: the report, written before or made now, and its dissections."""

from __future__ import annotations

from collections import OrderedDict
from dataclasses import dataclass
from itertools import islice
from pathlib import Path

from wirelab.browse import contents, tree
from wirelab.browse.contents import Unreadable
from wirelab.browse.tree import NAMES_MAX, TRIALS, Entry
from wirelab.report.page import NAME
from wirelab.run import journal
from wirelab.run.manifest import MANIFEST

KEPT_MAX = 4
"""Maximum number of reports that are kept in memory."""
DISSECTIONS_MAX = 400


@dataclass(frozen=True)
class DissectionFile:
    """A dissection that a run has stored."""

    path: Path
    trial: str
    side: str


class Reports:
    """Makes reports and keeps the last ones. Not for several threads at once."""

    def __init__(self) -> None:
        self._kept: OrderedDict[tuple[object, ...], bytes] = OrderedDict()

    def page(self, entry: Entry) -> bytes:
        """The report. Raises :class:`Unreadable`."""
        if entry.problem:
            raise Unreadable(entry.problem)
        return contents.attempt(lambda: self._page(entry))

    def _page(self, entry: Entry) -> bytes:
        if is_current(entry):
            path = entry.folder / NAME
            contents.accept(path)
            return path.read_bytes()
        if entry.kind not in ("run", "reproduction"):
            raise Unreadable(f"it has no {NAME}, and the command that measured it writes it")
        signature = (entry.id, *map(_modification_ns, _sources(entry)))
        if signature in self._kept:
            return self._kept[signature]
        made = _render_report(entry).encode("utf-8", "replace")
        self._kept[signature] = made
        while len(self._kept) > KEPT_MAX:
            self._kept.popitem(last=False)
        return made


def is_current(entry: Entry) -> bool:
    """True if the directory has a report that is not older than its records."""
    try:
        written = (entry.folder / NAME).lstat().st_mtime_ns
    except OSError:
        return False
    return all(_modification_ns(path) <= written for path in _sources(entry))


def _sources(entry: Entry) -> list[Path]:
    if entry.kind == "run":
        folders = [entry.folder, entry.folder / "tests"]
    elif entry.kind == "reproduction":
        folders = [path.parent for path in sorted(entry.folder.glob(f"*/{MANIFEST}"))]
    else:
        return []
    return [journal.file_in(folder) for folder in folders]


def _modification_ns(path: Path) -> int:
    try:
        return path.lstat().st_mtime_ns
    except OSError:
        return 0


def _render_report(entry: Entry) -> str:
    refused = tree.refusal(entry.folder)
    if refused:
        raise Unreadable(refused)
    if entry.kind == "reproduction":
        return _reproduction(entry)
    from wirelab.report.page import render
    from wirelab.report.source import Source

    contents.read_manifest(entry.folder)
    contents.accept_journal(entry.folder)
    source = Source.read(entry.folder)
    contents.accept_trials(source.trials)
    contents.accept_settings(source.trials)
    return render(source)


def _reproduction(entry: Entry) -> str:
    from wirelab.study import reproduction, sections

    for journal_file in _sources(entry):
        contents.read_manifest(journal_file.parent)
        contents.accept_journal(journal_file.parent)
    made = reproduction.judge_folder(entry.folder)
    for run in made.runs.values():
        contents.accept_trials(run.trials)
    return sections.html(made)


def dissections(entry: Entry) -> list[DissectionFile]:
    """The stored dissections of a run, a bounded number, by trial."""
    trials = entry.folder / TRIALS
    if entry.kind != "run" or entry.problem or trials.is_symlink():
        return []
    try:
        folders = sorted(islice(trials.iterdir(), NAMES_MAX))
    except OSError:
        return []
    found: list[DissectionFile] = []
    for folder in folders:
        if folder.is_symlink() or not folder.is_dir():
            continue
        for path in sorted(islice(folder.glob("dissection-*.json"), DISSECTIONS_MAX)):
            if tree.is_regular(path):
                side = path.stem.removeprefix("dissection-")
                found.append(DissectionFile(path, folder.name, side))
        if len(found) >= DISSECTIONS_MAX:
            break
    return found[:DISSECTIONS_MAX]


def dissection(file: DissectionFile) -> bytes:
    """The page of a dissection. Raises :class:`Unreadable`."""

    def render_dissection() -> bytes:
        from wirelab.report.dissection_page import html
        from wirelab.trial import dissected

        contents.accept(file.path)
        return html(dissected.read(file.path)).encode("utf-8", "replace")

    return contents.attempt(render_dissection)
