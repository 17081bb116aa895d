"""Pictures of figures with their intervals: lines over the load, and rows of dots."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from matplotlib.axes import Axes
from matplotlib.ticker import FixedLocator, FuncFormatter, NullLocator

from wirelab.format.numbers import sanitize
from wirelab.report.charts.canvas import (
    POINTS,
    WIDTH,
    add_title,
    canvas,
    scale_values,
    spread,
    text_width,
    tick,
    to_svg,
)
from wirelab.report.charts.stack_style import Look
from wirelab.report.section import Picture
from wirelab.statistics.interval import Interval

LABEL_WIDTH_MAX = 112.0
"""Widest direct label, in CSS pixels; beyond, the stack's letter stands for it."""

DODGE = 1.035
"""Factor between the x of neighbouring lines, so that their intervals do not hide each other."""


@dataclass(frozen=True)
class Line:
    """One stack over the loads; values are in the unit of the axis label."""

    label: str
    look: Look
    points: Sequence[tuple[float, Interval]]
    bounds: Sequence[bool] = ()
    """True where the point is a lower bound only (drawn hollow); same length, or empty."""


@dataclass(frozen=True)
class Row:
    """One interval with its name."""

    label: str
    interval: Interval
    look: Look
    bound: bool = False


def line_picture(
    lines: Sequence[Line], title: str, x_label: str, y_label: str, caption: str = ""
) -> Picture:
    """Lines with 95 % intervals over a logarithmic x, each labelled at its end."""
    lines = [line for line in lines if line.points]
    named = [sanitize(line.label) for line in lines]
    if max(map(text_width, named), default=0.0) > LABEL_WIDTH_MAX:
        named = [line.look.letter for line in lines]
    with canvas() as (figure, axes):
        axes.set_xlabel(x_label)
        axes.set_ylabel(y_label)
        scale_values(axes, [v for line in lines for _, i in line.points for v in _reach(i)])
        _users_axis(axes, sorted({x for line in lines for x, _ in line.points}))
        for place, line in enumerate(lines):
            _draw(axes, line, DODGE ** (place - (len(lines) - 1) / 2.0))
        right = 1.0 - (max(map(text_width, named), default=0.0) + 22.0) / WIDTH
        figure.subplots_adjust(left=0.165, right=right, top=0.89, bottom=0.165)
        add_title(figure, axes, title)
        _label_ends(axes, lines, named)
        return Picture(to_svg(figure, f"{title} {y_label}"), caption, _alt(title, y_label, lines))


def interval_picture(
    rows: Sequence[Row],
    title: str,
    x_label: str,
    caption: str = "",
    reference: float | None = None,
) -> Picture:
    """One dot with its interval per row, its name above it; ``reference`` is a vertical line
    (1 for ratios)."""
    rows = list(rows)
    height = 84.0 + 34.0 * len(rows)
    with canvas(WIDTH, height) as (figure, axes):
        axes.set_xlabel(x_label)
        values = [value for row in rows for value in _reach(row.interval)]
        scale_values(axes, [*values, *([] if reference is None else [reference])], axis="x")
        if reference is not None:
            axes.axvline(reference, color="#999999", linewidth=1.0)
        for place, row in enumerate(rows):
            _dot(axes, row, float(-place))
        axes.set_ylim(-len(rows) + 0.45, 0.85)
        axes.yaxis.set_major_locator(NullLocator())
        axes.spines["left"].set_visible(False)
        figure.subplots_adjust(left=0.04, right=0.95, top=1.0 - 30.0 / height, bottom=48.0 / height)
        add_title(figure, axes, title)
        alt = "; ".join(f"{sanitize(row.label)} {_words(row.interval)}" for row in rows)
        return Picture(to_svg(figure, f"{title} {x_label}"), caption, f"{title}, {x_label}: {alt}")


def _reach(interval: Interval) -> tuple[float, ...]:
    low, high = interval.bounds or (interval.estimate, interval.estimate)
    # Two trials can span decades; the picture keeps to ten times the estimate, the table has all.
    return (
        max(low, interval.estimate / 10.0),
        interval.estimate,
        min(high, interval.estimate * 10.0),
    )


def _bars(interval: Interval) -> tuple[float, float]:
    low, middle, high = _reach(interval)
    return middle - low, high - middle


def _users_axis(axes: Axes, levels: list[float]) -> None:
    axes.set_xscale("log")
    axes.set_xlim(levels[0] / 1.4, levels[-1] * 1.25)
    axes.xaxis.set_major_locator(FixedLocator(levels))
    axes.xaxis.set_minor_locator(NullLocator())
    axes.xaxis.set_major_formatter(FuncFormatter(lambda value, _: tick(value)))


def _draw(axes: Axes, line: Line, dodge: float) -> None:
    xs = [x * dodge for x, _ in line.points]
    bars = [_bars(interval) for _, interval in line.points]
    axes.errorbar(
        xs,
        [interval.estimate for _, interval in line.points],
        yerr=[[low for low, _ in bars], [high for _, high in bars]],
        color=line.look.colour,
        linestyle=line.look.dash,
        capsize=3.0,
        elinewidth=1.2,
    )
    hollow = list(line.bounds) or [False] * len(xs)
    for x, (_, interval), empty in zip(xs, line.points, hollow, strict=True):
        _mark(axes, x, interval.estimate, line.look, empty)


def _mark(axes: Axes, x: float, y: float, look: Look, hollow: bool) -> None:
    axes.plot(
        [x],
        [y],
        marker=look.marker,
        markersize=6.0,
        color=look.colour,
        markerfacecolor="white" if hollow else look.colour,
        linestyle="none",
        zorder=3,
    )


def _dot(axes: Axes, row: Row, place: float) -> None:
    low, high = _bars(row.interval)
    axes.errorbar(
        [row.interval.estimate],
        [place],
        xerr=[[low], [high]],
        color=row.look.colour,
        capsize=3.0,
        linestyle="none",
    )
    _mark(axes, row.interval.estimate, place, row.look, row.bound)
    label = sanitize(row.label)
    size = min(POINTS, POINTS * 370.0 / max(1.0, text_width(label)))
    axes.text(
        0.01,
        place + 0.27,
        label,
        transform=axes.get_yaxis_transform(),
        color="#333333",
        fontsize=size,
        verticalalignment="bottom",
        # The line of the reference must not cross the letters.
        bbox={"facecolor": "white", "edgecolor": "none", "pad": 1.0},
    )


def _label_ends(axes: Axes, lines: Sequence[Line], named: Sequence[str]) -> None:
    """Names at the right ends of the lines, moved apart where they would overlap."""
    ends = [
        axes.transAxes.inverted().transform(
            axes.transData.transform((line.points[-1][0], line.points[-1][1].estimate))
        )
        for line in lines
    ]
    gap = (POINTS + 2.0) / (axes.get_window_extent().height)
    places = spread([float(end[1]) for end in ends], gap, 0.0, 1.0)
    for line, name, end, place in zip(lines, named, ends, places, strict=True):
        axes.annotate(
            name,
            xy=(float(end[0]), float(end[1])),
            xytext=(1.035, place),
            xycoords="axes fraction",
            textcoords="axes fraction",
            color=line.look.colour,
            verticalalignment="center",
            annotation_clip=False,
            arrowprops={
                "arrowstyle": "-",
                "color": line.look.colour,
                "linewidth": 0.6,
                "shrinkA": 0.0,
                "shrinkB": 5.0,
            },
        )


def _words(interval: Interval) -> str:
    shown = tick(interval.estimate)
    if interval.bounds is None:
        return shown
    return f"{shown} ({tick(interval.bounds[0])} to {tick(interval.bounds[1])})"


def _alt(title: str, y_label: str, lines: Sequence[Line]) -> str:
    descriptions = [
        f"{sanitize(line.label)}: " + ", ".join(f"{tick(x)}: {_words(i)}" for x, i in line.points)
        for line in lines
    ]
    return f"{title}, {y_label}, estimate and 95 % interval. {'; '.join(descriptions)}."
