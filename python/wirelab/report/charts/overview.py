"""The main picture of a run as one self-contained SVG, for a README or a slide."""

from __future__ import annotations

import re
from collections.abc import Sequence
from html import escape

from matplotlib.axes import Axes

from wirelab.format.numbers import sanitize
from wirelab.report.charts import load_panels
from wirelab.report.charts.canvas import BOLD, POINTS, WIDTH, canvas, text_width, to_svg
from wirelab.report.charts.stack_style import Entry
from wirelab.report.section import Picture
from wirelab.report.source import Source
from wirelab.statistics.figure import RATE

COLUMNS = 2
"""So that a page of 850 pixels shows letters at the size of its text."""
GAP = 16.0
"""Between panels, in CSS pixels."""
_TITLE = 17.0
_LINE = POINTS + 9.0
_INDENT = 48.0


def overview_picture(source: Source) -> str | None:
    """The rate over the load, one panel per message, under the run's question and with a
    legend; an SVG document. None where no trial has a rate."""
    drawn = load_panels.panels(source, (RATE,))
    if not drawn:
        return None
    tiles = [*drawn[0].figures, _legend(source)]
    rows = [tiles[start : start + COLUMNS] for start in range(0, len(tiles), COLUMNS)]
    heading = _heading(source)
    placed, top = [_place(heading, 0.0, 0.0)], _size(heading)[1]
    for row in rows:
        placed += [_place(tile, place * (WIDTH + GAP), top) for place, tile in enumerate(row)]
        top += max(_size(tile)[1] for tile in row) + GAP
    return _document(_title(source), top, placed)


def _title(source: Source) -> str:
    """The run's question, or its name."""
    title = source.manifest.about or source.manifest.name
    return sanitize(title or source.folder.resolve().name)


def _width() -> float:
    return COLUMNS * WIDTH + (COLUMNS - 1) * GAP


def _heading(source: Source) -> Picture:
    title = _title(source)
    fitting = _TITLE * (_width() - 24.0) / (BOLD * max(1.0, text_width(title, _TITLE)))
    with canvas(_width(), 44.0) as (figure, axes):
        _blank(axes, _width(), 44.0)
        axes.text(12.0, 24.0, title, fontsize=min(_TITLE, fitting), fontweight="bold")
        return Picture(to_svg(figure, f"heading {title}"), title)


def _legend(source: Source) -> Picture:
    """Marks and names, and how to read the picture."""
    notes = [
        "points: estimates; bars: 95 % intervals over trials",
        "hollow points: lower bounds (client-bound)",
        *_list_omissions(source),
        *(f"in every trial: {sanitize(what)}" for what in source.names.everywhere),
        f"{sanitize(source.manifest.cpu)}, {source.manifest.cores_text}",
    ]
    entries = list(source.legend.values())
    height = _LINE * (len(entries) + len(notes) + 2)
    with canvas(WIDTH, height) as (figure, axes):
        _blank(axes, WIDTH, height)
        for place, entry in enumerate(entries, 1):
            _entry(axes, entry, _LINE * place)
        for place, line in enumerate(notes, len(entries) + 1):
            _text(axes, line, _LINE * (place + 0.5), "#5a5a5a")
        return Picture(to_svg(figure, f"legend {_title(source)}"), "legend")


def _list_omissions(source: Source) -> list[str]:
    count, most = len(load_panels.groups(source)), load_panels.PANELS_MAX
    return [f"{most} of {count:,} panels"] if count > most else []


def _blank(axes: Axes, width: float, height: float) -> None:
    """Coordinates in CSS pixels from the upper left corner, and no axes."""
    axes.set_position((0.0, 0.0, 1.0, 1.0))
    axes.set_xlim(0.0, width)
    axes.set_ylim(height, 0.0)
    axes.axis("off")


def _entry(axes: Axes, entry: Entry, y: float) -> None:
    look = entry.look
    axes.plot([8.0, 38.0], [y, y], color=look.colour, linestyle=look.dash)
    axes.plot([23.0], [y], color=look.colour, marker=look.marker, linestyle="none")
    _text(axes, f"{look.letter}  {sanitize(entry.name)}", y, "#1b1b1b")


def _text(axes: Axes, text: str, y: float, colour: str) -> None:
    fitting = POINTS * (WIDTH - _INDENT - 8.0) / max(1.0, text_width(text))
    axes.text(_INDENT, y, text, fontsize=min(POINTS, fitting), color=colour, va="center")


def _size(picture: Picture) -> tuple[float, float]:
    """Width and height in CSS pixels."""
    found = re.search(r'viewBox="0 0 ([\d.]+) ([\d.]+)"', picture.svg)
    if found is None:
        raise ValueError(f"the picture {picture.caption!r} has no size")
    return float(found[1]), float(found[2])


def _place(picture: Picture, x: float, y: float) -> str:
    width, height = _size(picture)
    place = f'<svg x="{x:g}" y="{y:g}" width="{width:g}" height="{height:g}" '
    return picture.svg.replace("<svg ", place, 1)


def _document(title: str, height: float, parts: Sequence[str]) -> str:
    """On white, for a page may be dark."""
    width = _width()
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{width:g}" height="{height:g}" '
        f'viewBox="0 0 {width:g} {height:g}" role="img">\n'
        f"<title>{escape(title, quote=False)}</title>\n"
        f'<rect width="{width:g}" height="{height:g}" fill="#ffffff"/>\n'
        + "\n".join(parts)
        + "\n</svg>\n"
    )
