"""Finds studies: folders ``studies/<name>`` with a study.yaml in them."""

from __future__ import annotations

import hashlib
import re
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from wirelab import installation
from wirelab.errors import UsageError
from wirelab.stack.suggestions import did_you_mean
from wirelab.study import published as printed

if TYPE_CHECKING:
    from wirelab.study.model import Study


FILE = "study.yaml"
PUBLISHED = "published.csv"


@dataclass(frozen=True)
class Found:
    """A study and where it is."""

    folder: Path
    study: Study

    @property
    def published(self) -> tuple[printed.Figure, ...]:
        """Its printed figures."""
        return printed.read(self.folder.parent / PUBLISHED, self.study.name)

    def part(self, name: str) -> Path:
        """The experiment file of a part."""
        return self.folder / f"{name}.yaml"

    @property
    def sha256(self) -> str:
        """Of all its files: a reproduction names exactly what it tested."""
        digest = hashlib.sha256()
        for path in (self.folder / FILE, *map(self.part, self.study.every_part)):
            digest.update(path.read_bytes())
        return digest.hexdigest()


def folder() -> Path:
    """The folder of all studies. Raises :class:`LabError` if this installation has none."""
    return installation.folder("studies")


def names(where: Path | None = None) -> tuple[str, ...]:
    """Every study that can be reproduced."""
    return tuple(sorted(path.parent.name for path in (where or folder()).glob(f"*/{FILE}")))


def load(name: str, where: Path | None = None) -> Found:
    """The study of that name. Raises :class:`UsageError` for a name that is not one,
    :class:`ExperimentError` for a study with problems."""
    home = where or folder()
    known = names(home)
    if name not in known:
        raise UsageError(f"there is no study {name!r}", did_you_mean(name, known))
    from wirelab.study import loading as study_file

    study = study_file.load(home / name / FILE)
    if study.name != name:
        raise UsageError(f"{home / name / FILE} has name: {study.name}", f"write name: {name}")
    found = Found(home / name, study)
    missing = [part for part in study.every_part if not found.part(part).is_file()]
    if missing:
        raise UsageError(
            f"study {name!r} names the part {missing[0]!r}, and {found.part(missing[0])} does "
            "not exist",
            "write that experiment file, or remove the part",
        )
    return found


TITLE = re.compile(r"^title: (.+)$", re.MULTILINE)
TAKES = re.compile(r"^takes: \{default: ([^,}]+)(?:, quick: ([^,}]+))?\}", re.MULTILINE)


class Listed(NamedTuple):
    """A study as lists show it."""

    name: str
    title: str
    default: str
    """Time that it takes on two cores at the default scale, such as ``33 min``."""
    quick: str
    """Time of a first look; empty if the study has none."""


def listing(where: Path | None = None) -> tuple[Listed, ...]:
    """Every study, for help and lists. Reads single lines of each file, because a parser of YAML
    takes longer to import than help may take. Raises :class:`LabError` if this installation has no
    studies, and :class:`UsageError` for a file without these lines."""
    home = where or folder()
    return tuple(_read_entry(home / name / FILE) for name in names(home))


def _read_entry(path: Path) -> Listed:
    text = path.read_text(encoding="utf-8")
    title, takes = TITLE.search(text), TAKES.search(text)
    if title is None or takes is None:
        raise UsageError(
            f"{path} has no line that begins with `title: ` or `takes: {{default: `",
            "write for example takes: {default: 33 min, quick: 1 min}",
        )
    return Listed(path.parent.name, title[1].strip("\"'"), takes[1], takes[2] or "")
