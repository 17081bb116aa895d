"""The page: one HTML file that opens offline, runs nothing and loads nothing."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from jinja2 import Environment, PackageLoader, StrictUndefined
from markupsafe import Markup

from wirelab import completeness
from wirelab.errors import StorageError
from wirelab.report import contents, label
from wirelab.report.quantity import plain
from wirelab.report.section import Picture, Section
from wirelab.report.source import Source
from wirelab.run_directory import write_whole
from wirelab.units import format_seconds

NAME = "report.html"
_WORD_MAX = 24
"""Letters of a word that a column of a table can hold."""


@dataclass(frozen=True)
class Placed:
    """A section with an anchor of its own on the page."""

    section: Section
    anchor: str


def write(run_dir: Path, extra_sections: Sequence[Section] = ()) -> Path:
    """Writes ``report.html`` into a run directory and returns its path.

    ``extra_sections`` stand after the main picture. Raises
    :class:`wirelab.errors.RunDirectoryError` for a directory that holds no run, and
    :class:`wirelab.errors.StorageError`; the file is whole or not there.
    """
    source = Source.read(run_dir)
    text = render(source, extra_sections)
    return save(run_dir, text)


def save(folder: Path, page: str) -> Path:
    """Writes a page into a folder, whole or not at all. Raises :class:`StorageError`."""
    path = folder / NAME
    try:
        write_whole(path, page)
    except OSError as error:
        raise StorageError(
            f"{path} cannot be written: {error.strerror}",
            f"what was measured is kept; make room, then `wirelab report {folder}` writes it",
        ) from error
    return path


def render(
    source: Source, extra_sections: Sequence[Section] = (), first: Sequence[Section] = ()
) -> str:
    """The page as text; the same run gives the same bytes. ``first`` stands before all else."""
    sections = [*first, *contents.before(source), *extra_sections, *contents.after(source)]
    environment = Environment(
        loader=PackageLoader("wirelab.report", "."),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters["plain"] = plain
    environment.filters["drawn"] = _drawn
    environment.filters["unbroken"] = _unbroken
    return environment.get_template("page.html.j2").render(
        style=Markup((Path(__file__).parent / "page.css").read_text(encoding="utf-8")),
        title=_title(source),
        about=str(source.experiment.get("about") or ""),
        facts=_facts(source),
        legend=list(source.legend.values()),
        sections=_placed(sections),
    )


def _title(source: Source) -> str:
    return str(source.experiment.get("name") or source.folder.resolve().name)


def _placed(sections: Sequence[Section]) -> list[Placed]:
    """Anchors that are unique on the page."""
    seen: dict[str, int] = {}
    placed = []
    for section in sections:
        count = seen[section.anchor] = seen.get(section.anchor, 0) + 1
        anchor = section.anchor if count == 1 else f"{section.anchor}-{count}"
        placed.append(Placed(section, anchor))
    return placed


def _drawn(picture: Picture) -> Markup:
    """The SVG, which :class:`Picture` has proven harmless, hidden from screen readers in
    favour of the words beside it."""
    svg = picture.svg[picture.svg.index("<svg") :]
    return Markup(svg.replace("<svg ", '<svg aria-hidden="true" focusable="false" ', 1))


def _unbroken(text: str) -> bool:
    """True for a text with a word so long that it must be broken somewhere."""
    return max(map(len, re.split(r"[\s-]", text))) > _WORD_MAX


def _facts(source: Source) -> list[tuple[str, str]]:
    """What was asked, in a few lines."""
    points = [cell.point for cell in source.cells]
    messages = list(dict.fromkeys(label.message(point) for point in points))
    loads = list({label.load(point.load): point.load for point in points}.values())
    repeats = sorted({len(cell.trials) for cell in source.cells})
    started = sorted(trial.started for trial in source.trials if trial.started)
    machine: dict[str, Any] = dict(source.manifest.get("machine") or {})
    seconds = sum(trial.seconds for trial in source.trials)
    everywhere = source.names.everywhere
    there = completeness.count(source.trials, source.planned)
    return [
        ("Stacks", ", ".join(entry.name for entry in source.legend.values())),
        ("Messages", ", ".join(messages)),
        ("Loads", label.loads(loads)),
        *([("In every trial", ", ".join(everywhere))] if everywhere else []),
        (
            "Trials",
            f"{there}, {_range(repeats)} per cell, {format_seconds(seconds)}",
        ),
        ("Measured", f"{_moment(started[0])} to {_moment(started[-1])}" if started else "—"),
        (
            "Machine",
            (
                f"{machine.get('cpu') or 'unknown CPU'}, {machine.get('cores', '?')} cores, "
                f"Linux {machine.get('kernel', '?')}"
            ),
        ),
        ("Seed", str(source.manifest.get("seed", "—"))),
    ]


def _moment(started: str) -> str:
    """``2024-05-01 10:00:00 UTC``, without fractions."""
    return f"{plain(started[:19]).replace('T', ' ')} UTC"


def _range(values: Sequence[int]) -> str:
    if not values:
        return "0"
    low, high = values[0], values[-1]
    return str(low) if low == high else f"{low} to {high}"
