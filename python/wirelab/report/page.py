"""The page of a run."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from wirelab.errors import StorageError
from wirelab.format.numbers import sanitize
from wirelab.format.units import format_seconds
from wirelab.report import answer, contents, explorer
from wirelab.report.html_page import HtmlPage
from wirelab.report.section import Section
from wirelab.report.sections import compared
from wirelab.report.source import Source
from wirelab.run import finished
from wirelab.run.directory import write_whole
from wirelab.trial import labels as label

NAME = "report.html"


def write_page(run_dir: Path, extra_sections: Sequence[Section] = ()) -> Path:
    """Writes ``report.html`` into a run directory and returns its path.

    ``extra_sections`` come after the main picture. Raises
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
            "what was measured is kept; make room, or move away what is in its place, then "
            f"`wirelab report {folder}` writes it",
        ) from error
    return path


def render(
    source: Source, extra_sections: Sequence[Section] = (), first: Sequence[Section] = ()
) -> str:
    """The page as text; the same run gives the same bytes. ``first`` leads."""
    sections = [
        *first,
        *contents.list_first_sections(source),
        *compared.sections(source),
        *extra_sections,
        *contents.list_further_sections(source),
    ]
    return HtmlPage(
        _title(source),
        sections,
        about=source.manifest.about,
        facts=_facts(source),
        legend=list(source.legend.values()),
        data=explorer.data(source, answer.primary(source)),
    ).html()


def _title(source: Source) -> str:
    return source.manifest.name or source.folder.resolve().name


def _facts(source: Source) -> list[tuple[str, str]]:
    """What was asked, in a few lines."""
    points = [cell.point for cell in source.cells]
    messages = list(dict.fromkeys(label.message(point) for point in points))
    loads = list({label.load(point.load): point.load for point in points}.values())
    repeats = sorted({len(cell.trials) for cell in source.cells})
    started = sorted(trial.started for trial in source.trials if trial.started)
    manifest = source.manifest
    seconds = sum(trial.seconds for trial in source.trials)
    everywhere = source.names.everywhere
    there = finished.count(source.trials, source.planned)
    return [
        ("Stacks", ", ".join(entry.name for entry in source.legend.values())),
        ("Messages", ", ".join(messages)),
        ("Loads", label.loads(loads)),
        *([("Design", design)] if (design := _design(source)) else []),
        *([("In every trial", ", ".join(everywhere))] if everywhere else []),
        (
            "Trials",
            f"{there}, {_range(repeats)} per cell, {format_seconds(seconds)}",
        ),
        ("Measured", f"{_moment(started[0])} to {_moment(started[-1])}" if started else "—"),
        (
            "Machine",
            (f"{manifest.cpu}, {manifest.cores_text}, Linux {manifest.machine.get('kernel', '?')}"),
        ),
        ("Seed", manifest.seed_text),
    ]


def _design(source: Source) -> str:
    """How services shared trials; empty if they did not."""
    lengths = sorted({trial.slices.length_s for trial in source.trials if trial.slices})
    if not lengths:
        return ""
    ends = sorted({lengths[0], lengths[-1]})
    span = " to ".join(map(format_seconds, ends))
    return f"services take turns within a trial, in slices of {span}"


def _moment(started: str) -> str:
    """``2024-05-01 10:00:00 UTC``, without fractions."""
    return f"{sanitize(started[:19]).replace('T', ' ')} UTC"


def _range(values: Sequence[int]) -> str:
    if not values:
        return "0"
    low, high = values[0], values[-1]
    return str(low) if low == high else f"{low} to {high}"
