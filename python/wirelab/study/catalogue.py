"""Finds studies: folders ``studies/<name>`` with a study.yaml in them."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from wirelab import checkout
from wirelab.errors import UsageError
from wirelab.stack.suggestions import did_you_mean
from wirelab.study import published
from wirelab.study.published import Figure

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
    def published(self) -> tuple[Figure, ...]:
        """Its printed figures."""
        return published.read(self.folder.parent / PUBLISHED, self.study.name)

    def part(self, name: str) -> Path:
        """The experiment file of a part."""
        return self.folder / f"{name}.yaml"

    @property
    def sha256(self) -> str:
        """Of all its files: a reproduction names exactly what it tested."""
        digest = hashlib.sha256()
        for path in (self.folder / FILE, *map(self.part, self.study.parts)):
            digest.update(path.read_bytes())
        return digest.hexdigest()


def folder() -> Path:
    """The folder of all studies. Raises :class:`LabError` outside of a checkout."""
    return checkout.root() / "studies"


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
        raise UsageError(f"{home / name / FILE} calls itself {study.name!r}", f"write name: {name}")
    found = Found(home / name, study)
    missing = [part for part in study.parts if not found.part(part).is_file()]
    if missing:
        raise UsageError(
            f"study {name!r} names the part {missing[0]!r}, and {found.part(missing[0])} is "
            "not there",
            "write that experiment file, or take the part out",
        )
    return found


def listing(where: Path | None = None) -> tuple[tuple[str, str], ...]:
    """Name and title of every study."""
    home = where or folder()
    return tuple((name, load(name, home).study.title) for name in names(home))
