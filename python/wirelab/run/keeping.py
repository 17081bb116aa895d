"""Runs that are kept in a repository: their trials without the files of each trial."""

from __future__ import annotations

import shutil
from pathlib import Path

from wirelab.run import archive, journal
from wirelab.run.manifest import MANIFEST

FILES = ("experiment.yaml", MANIFEST, archive.NAME)
"""Of a kept run directory."""
LEFT_OUT = (
    "This run is kept as an archive. It has every trial with its figures and checks. The folders "
    "of the trials are left out, with plans, histograms, series, captures and logs."
)


def is_kept(folder: Path) -> bool:
    """True for a run directory with an archive in place of its journal."""
    return journal.file_in(folder).name == archive.NAME


def keep(folder: Path, kept: Path) -> None:
    """Copies a run directory without the folders of its trials. Raises :class:`OSError`."""
    kept.mkdir(parents=True, exist_ok=True)
    for name in FILES[:2]:
        shutil.copyfile(folder / name, kept / name)
    archive.write((folder / journal.NAME).read_bytes().splitlines(), kept / archive.NAME)
