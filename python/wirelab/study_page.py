"""Writes a reproduction's pages: one for the study, one for each of its parts."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from wirelab import report
from wirelab.report.page import NAME, render
from wirelab.report.source import Source
from wirelab.reproduction import Reproduction
from wirelab.study_sections import sections, sentences

__all__ = ["sentences", "write"]


def write(made: Reproduction) -> Path:
    """The study's page stands on its first part, of which it shows all figures; the other
    parts have pages of their own in their run directories. Raises :class:`OSError`."""
    for run in made.runs.values():
        report.write(run.folder)
    main = _titled(Source.read(made.folder / made.found.study.parts[0]), made)
    path = made.folder / NAME
    unfinished = path.with_name(f".{NAME}.unfinished")
    try:
        unfinished.write_text(render(main, first=sections(made)), encoding="utf-8")
        unfinished.replace(path)
    finally:
        unfinished.unlink(missing_ok=True)
    return path


def _titled(main: Source, made: Reproduction) -> Source:
    """The first part under the study's name and question."""
    study = made.found.study
    experiment = {**main.experiment, "name": study.name, "about": study.question}
    return replace(main, manifest={**main.manifest, "experiment": experiment})
