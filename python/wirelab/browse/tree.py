"""Finds the run directories below a folder, without following symbolic links.

Every directory gets an id that is a digest of its path, so that a request never contains a path.
"""

from __future__ import annotations

import hashlib
import os
import stat
from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import islice
from pathlib import Path
from typing import Literal

from wirelab.format.counting import format_count
from wirelab.format.sanitize import sanitize
from wirelab.run.manifest import MANIFEST
from wirelab.study import manifest as study_manifest

Kind = Literal["reproduction", "limit", "explanation", "wrapped tool", "run"]

MARKERS: dict[str, Kind] = {
    study_manifest.NAME: "reproduction",
    "limit.json": "limit",
    "explanation.json": "explanation",
    "wrap.json": "wrapped tool",
    MANIFEST: "run",
}
"""File that makes a directory one of its kind; the first that exists counts."""
TRIALS = "trials"
"""Folder of a run with the files of each trial; it contains no runs."""
DEPTH_MAX = 6
FOLDERS_MAX = 5_000
"""Maximum number of folders that are searched."""
NAMES_MAX = 10_000
"""Maximum number of names that are read of one folder."""
RUNS_MAX = 1_000
FILES_MAX = 200_000
"""Maximum number of files of one run that is shown."""
NAME_MAX = 160
"""Maximum number of characters of a name that is shown."""
ID_DIGITS = 20


@dataclass(frozen=True)
class Entry:
    """A run directory."""

    id: str
    """Hexadecimal digits; the same for the same path below the folder."""
    folder: Path
    name: str
    """Path below the folder, for display only."""
    kind: Kind
    parent: str = ""
    """Id of the entry that contains it; empty if there is none."""
    problem: str = ""
    """Why it cannot be read; empty if it can."""

    @property
    def marker(self) -> Path:
        """The file that makes it one of its kind."""
        name = next(name for name, kind in MARKERS.items() if kind == self.kind)
        return self.folder / name


@dataclass(frozen=True)
class Tree:
    """The run directories below a folder."""

    root: Path
    entries: dict[str, Entry] = field(default_factory=dict)
    """By id."""
    notes: tuple[str, ...] = ()
    """Sentences on everything that is left out."""

    def list_inside(self, entry: Entry) -> list[Entry]:
        """Entries directly inside another one, by name."""
        inside = (one for one in self.entries.values() if one.parent == entry.id)
        return sorted(inside, key=lambda one: one.name)


def scan(root: Path) -> Tree:
    """The run directories of ``root`` and below it, to a bounded depth and number. ``root`` is an
    absolute path without symbolic links."""
    return _Scan(root).tree()


def display_name(text: str) -> str:
    """One line of a bounded length without control characters."""
    shown = sanitize(text).replace("\n", "\ufffd").replace("\t", "\ufffd")
    return shown if len(shown) <= NAME_MAX else f"{shown[: NAME_MAX - 1]}…"


def is_regular(path: Path) -> bool:
    """True for a file that is neither a symbolic link nor a device, pipe or socket. Raises
    :class:`OSError`."""
    return stat.S_ISREG(path.lstat().st_mode)


def refusal(folder: Path) -> str:
    """Why the contents of a run directory are not read; empty if they are. Symbolic links and
    special files would lead out of the folder, or block the reader."""
    if folder.resolve() != folder:
        return "its path contains a symbolic link"
    seen = 0
    for parent, folders, files in os.walk(folder):
        for name in (*folders, *files):
            seen += 1
            path = Path(parent) / name
            mode = path.lstat().st_mode
            if not (stat.S_ISREG(mode) or stat.S_ISDIR(mode)):
                kind = "a symbolic link" if stat.S_ISLNK(mode) else "a special file"
                return f"{display_name(str(path.relative_to(folder)))} is {kind}"
        if seen > FILES_MAX:
            return f"it has more than {FILES_MAX:,} files"
    return ""


class _Scan:
    def __init__(self, root: Path) -> None:
        self._root = root
        self._entries: dict[str, Entry] = {}
        self._folders = self._links = self._unreadable = self._deep = 0
        self._cut: list[str] = []

    def tree(self) -> Tree:
        waiting = [(self._root, 0, "")]
        while waiting:
            if self._folders >= FOLDERS_MAX:
                self._cut.append(f"Only the first {FOLDERS_MAX:,} folders were searched.")
                break
            if len(self._entries) >= RUNS_MAX:
                self._cut.append(f"Only the first {RUNS_MAX:,} run directories are listed.")
                break
            folder, depth, parent = waiting.pop()
            self._folders += 1
            inside, parent = self._visit(folder, parent)
            if depth < DEPTH_MAX:
                waiting += [(path, depth + 1, parent) for path in inside]
            else:
                self._deep += bool(inside)
        return Tree(self._root, self._entries, (*self._cut, *self._describe_omissions()))

    def _visit(self, folder: Path, parent: str) -> tuple[list[Path], str]:
        """The folders to search, and the id of the entry that contains them."""
        try:
            with os.scandir(folder) as names:
                found = list(islice(names, NAMES_MAX + 1))
        except OSError:
            self._unreadable += 1
            return [], parent
        if len(found) > NAMES_MAX:
            name = display_name(str(folder.relative_to(self._root)))
            self._cut.append(f"Of the folder {name} only {NAMES_MAX:,} names were read.")
        entry = self._entry(folder, {one.name: one for one in found[:NAMES_MAX]}, parent)
        if entry is not None:
            self._entries[entry.id] = entry
            parent = entry.id
        inside = []
        for one in found[:NAMES_MAX]:
            if one.is_symlink():
                self._links += 1
            elif _is_searched(one, entry):
                inside.append(folder / one.name)
        return sorted(inside, reverse=True), parent

    def _entry(self, folder: Path, names: dict[str, os.DirEntry[str]], parent: str) -> Entry | None:
        for name, kind in MARKERS.items():
            if name in names:
                regular = names[name].is_file(follow_symlinks=False)
                problem = "" if regular else f"{name} is not a regular file"
                relative = str(folder.relative_to(self._root))
                shown = display_name(self._root.name if relative == "." else relative)
                return Entry(_id(relative), folder, shown, kind, parent, problem)
        return None

    def _describe_omissions(self) -> Iterator[str]:
        if self._links:
            yield f"{format_count(self._links, 'symbolic link')} not followed."
        if self._unreadable:
            yield f"{format_count(self._unreadable, 'folder')} could not be read."
        if self._deep:
            yield f"Folders more than {DEPTH_MAX} levels down were not searched."


def _is_searched(found: os.DirEntry[str], entry: Entry | None) -> bool:
    if found.name.startswith(".") or (entry is not None and found.name == TRIALS):
        return False
    return found.is_dir(follow_symlinks=False)


def _id(relative: str) -> str:
    return hashlib.sha256(os.fsencode(relative)).hexdigest()[:ID_DIGITS]
