"""Writes a reproduction's pages: one for the study, one for each of its parts."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from wirelab.errors import UsageError
from wirelab.report.page import render, save, write_page
from wirelab.report.source import Source
from wirelab.study.reproduction import Reproduction
from wirelab.study.sections import claims, count, sections, sentences

__all__ = ["claims", "count", "sentences", "write"]


def write(made: Reproduction) -> Path:
    """The study's page stands on its first part that was run, and shows all its figures; the other
    parts have pages of their own in their run directories. Raises
    :class:`StorageError`."""
    if not made.runs:
        raise UsageError(
            f"{made.folder} holds no part of {made.found.study.name} yet",
            f"`wirelab reproduce {made.found.study.name} --out {made.folder}` goes on with it",
        )
    for run in made.runs.values():
        write_page(run.folder)
    main = _titled(Source.read(next(iter(made.runs.values())).folder), made)
    return save(made.folder, render(main, first=sections(made)))


def _titled(main: Source, made: Reproduction) -> Source:
    """The first part under the study's name and question."""
    study = made.found.study
    experiment = {**main.experiment, "name": study.name, "about": study.question}
    return replace(main, manifest={**main.manifest, "experiment": experiment})
