"""The main picture: rate and response over the load, one panel per message."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import islice

import msgspec

from wirelab.checks.load import client_bound
from wirelab.format.numbers import sanitize, step
from wirelab.report.charts.distribution import Curves, distribution_picture
from wirelab.report.charts.intervals import Line, Row, interval_picture, line_picture
from wirelab.report.section import Picture, Section
from wirelab.report.source import Source
from wirelab.statistics.cell import Cell
from wirelab.statistics.figure import (
    CLIENT_CPU,
    RATE,
    RESPONSE_P50,
    RESPONSE_P99,
    SERVICE_CPU,
    Figure,
)
from wirelab.trial import labels as label

PANELS_MAX = 12
"""Static panels of one figure, for readers without script and for print: one takes about 50 ms of
CPU time and 20 kB, and the browser draws any of them."""

SHOWN = (RATE, RESPONSE_P50, RESPONSE_P99)
"""Figures of the main picture."""
COST = (CLIENT_CPU, SERVICE_CPU)
"""Figures of the picture of costs."""


def panels(source: Source, figures: Iterable[Figure]) -> list[Section]:
    """A part per figure, with one panel per message; open and closed loads apart, and calls
    with and without a reply. At most :data:`PANELS_MAX` of each figure."""
    parts = []
    for figure in figures:
        drawn = (_panel(source, group, figure) for group in groups(source))
        pictures = list(islice((one for one in drawn if one is not None), PANELS_MAX))
        if pictures:
            title = figure.title[0].upper() + figure.title[1:]
            parts.append(Section(title, figures=pictures))
    return parts


def tell_left_out(count: int) -> str:
    """That only some of ``count`` panels are drawn; empty if all are."""
    if count <= PANELS_MAX:
        return ""
    return (
        f"{PANELS_MAX} of {count:,} pictures are here. The interactive charts at the top draw all "
        "of them, and Every cell has their figures."
    )


def distributions(source: Source) -> tuple[list[Picture], list[str]]:
    """One panel per setting, at most :data:`PANELS_MAX`, and what of the histograms is not there
    or cannot be read."""
    pictures: list[Picture] = []
    lost: list[str] = []
    for setting, group in settings(source).items():
        curves = []
        for cell in group:
            drawn, missed = _curves(source, cell)
            curves.append(drawn)
            lost += missed
        if len(pictures) == PANELS_MAX:
            continue
        picture = distribution_picture(curves, setting)
        if picture is not None:
            pictures.append(picture)
    return pictures, lost


def settings(source: Source) -> dict[str, list[Cell]]:
    """Cells that differ by stack alone, by the name of what they share."""
    found: dict[str, list[Cell]] = {}
    for cell in source.cells:
        found.setdefault(source.names.setting(cell.point), []).append(cell)
    return found


def panel_title(source: Source, group: list[Cell]) -> str:
    """What the cells of a panel share."""
    point = group[0].point
    alone = [label.load(point.load)] if len({level(cell) for cell in group}) < 2 else []
    return ", ".join((label.message(point), *alone, *source.names.list_differing_conditions(point)))


def groups(source: Source) -> list[list[Cell]]:
    """Cells that differ by stack and by level of the load alone."""
    found: dict[tuple[str, ...], list[Cell]] = {}
    for cell in source.cells:
        found.setdefault(_panel_key(cell), []).append(cell)
    return list(found.values())


def _panel_key(cell: Cell) -> tuple[str, ...]:
    point = cell.point
    shape = msgspec.structs.replace(point.load, users=None, rate=None, in_flight_max=None)
    message, load, options = label.message(point), str(shape), str(point.options)
    return (message, point.link, load, options, point.semantic_class)


def level(cell: Cell) -> float:
    """Users, or calls per second."""
    return float(cell.point.load.users or cell.point.load.rate or 1.0)


def _panel(source: Source, group: list[Cell], figure: Figure) -> Picture | None:
    shown = [cell for cell in group if cell.interval(figure) is not None]
    if not shown:
        return None
    middle = sorted(v for cell in shown for v in cell.values(figure))
    divisor, unit = step(middle[len(middle) // 2], figure.unit)
    title = panel_title(source, group)
    if len({level(cell) for cell in group}) < 2:
        rows = [_row(source, cell, figure, divisor) for cell in shown]
        return interval_picture(rows, title, _axis(figure, unit))
    lines = [
        _line(source, reference, shown, figure, divisor)
        for reference in sorted({cell.point.stack for cell in shown})
    ]
    return line_picture(lines, title, load_axis(group[0]), _axis(figure, unit))


def _axis(figure: Figure, unit: str) -> str:
    counted = {"/s": "per s", "k/s": "thousands per s", "M/s": "millions per s"}
    return f"{figure.title}, {counted.get(unit, unit)}"


def load_axis(cell: Cell) -> str:
    """What the levels are."""
    kind = sanitize(cell.point.load.kind)
    return "users (closed load)" if kind == "closed" else f"calls per s ({kind}, open load)"


def _line(source: Source, reference: str, shown: list[Cell], figure: Figure, by: float) -> Line:
    own = sorted((cell for cell in shown if cell.point.stack == reference), key=level)
    entry = source.legend[reference]
    points = [
        (level(cell), interval.scale(1.0 / by))
        for cell in own
        if (interval := cell.interval(figure)) is not None
    ]
    return Line(entry.name, entry.look, points, [is_lower_bound(cell) for cell in own])


def _row(source: Source, cell: Cell, figure: Figure, by: float) -> Row:
    entry = source.legend[cell.point.stack]
    interval = cell.interval(figure)
    if interval is None:
        raise ValueError(f"{cell.point.stack} has no {figure.name}")
    return Row(entry.name, interval.scale(1.0 / by), entry.look, is_lower_bound(cell))


def is_lower_bound(cell: Cell) -> bool:
    """True where the rate is a lower bound."""
    return any(map(client_bound, cell.measured))


def _curves(source: Source, cell: Cell) -> tuple[Curves, list[str]]:
    entry = source.legend[cell.point.stack]
    found, lost = source.curves.of(cell.measured)
    return Curves(entry.name, entry.look, list(found.values())), lost
