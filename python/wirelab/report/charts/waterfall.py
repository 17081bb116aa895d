"""From one total to another, step by step: a waterfall of horizontal bars."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from matplotlib.axes import Axes
from matplotlib.ticker import MaxNLocator, NullLocator

from wirelab.format.numbers import format_signed, quantity, sanitize, step
from wirelab.format.units import Unit
from wirelab.report.charts.canvas import POINTS, WIDTH, add_title, canvas, tick, to_svg
from wirelab.report.section import Picture
from wirelab.statistics.interval import Interval

MORE, LESS, OPEN, TOTAL = "#D55E00", "#009E73", "#BBBBBB", "#0072B2"
"""Okabe & Ito 2008: a step up, a step down, one that is not shown to differ from none, a total."""
BAR = 0.42


@dataclass(frozen=True)
class WaterfallStep:
    """One step: what it adds, negative where it takes away."""

    label: str
    change: Interval
    shown: bool
    """Whether its interval leaves zero out; others are grey."""


def waterfall(
    start: tuple[str, float],
    steps: Sequence[WaterfallStep],
    end: tuple[str, float],
    unit: Unit,
    title: str,
    caption: str,
) -> Picture:
    """The steps between two totals; an interval is drawn as a line at the end of its bar."""
    rows = len(steps) + 2
    height = 84.0 + 34.0 * rows
    edges = [start[1]]
    for one in steps:
        edges.append(edges[-1] + one.change.estimate)
    divisor, name = step(max(*edges, end[1]), unit)
    with canvas(2.0 * WIDTH, height) as (figure, axes):
        axes.set_xlabel(name)
        _bar(axes, 0, 0.0, start[1] / divisor, TOTAL, f"{start[0]}: {quantity(start[1], unit)}")
        for place, one in enumerate(steps, 1):
            left, right = edges[place - 1] / divisor, edges[place] / divisor
            colour = OPEN if not one.shown else MORE if right > left else LESS
            _bar(
                axes,
                place,
                left,
                right,
                colour,
                f"{one.label}: {format_signed(one.change.estimate, unit)}",
            )
            if one.change.bounds is not None:
                low, high = (edges[place - 1] + bound for bound in one.change.bounds)
                limits = [low / divisor, high / divisor]
                axes.plot(limits, [-place, -place], color="#1b1b1b", linewidth=1.2)
        _bar(axes, rows - 1, 0.0, end[1] / divisor, TOTAL, f"{end[0]}: {quantity(end[1], unit)}")
        axes.set_xlim(left=min(0.0, *(edge / divisor for edge in edges)))
        axes.set_ylim(-rows + 0.45, 0.85)
        axes.yaxis.set_major_locator(NullLocator())
        axes.xaxis.set_major_locator(MaxNLocator(8))
        axes.xaxis.set_major_formatter(lambda value, _: tick(value))
        axes.spines["left"].set_visible(False)
        figure.subplots_adjust(left=0.02, right=0.98, top=1.0 - 30.0 / height, bottom=48.0 / height)
        add_title(figure, axes, title)
        words = "; ".join(
            f"{sanitize(one.label)} {format_signed(one.change.estimate, unit)}" for one in steps
        )
        alt = (
            f"{title}: {sanitize(start[0])} {quantity(start[1], unit)}; {words}; "
            f"{sanitize(end[0])} {quantity(end[1], unit)}"
        )
        return Picture(to_svg(figure, title), caption, alt, wide=True)


def _bar(axes: Axes, place: int, left: float, right: float, colour: str, label: str) -> None:
    axes.barh(-place, right - left, left=left, height=BAR, color=colour)
    axes.text(
        0.004,
        -place + 0.27,
        sanitize(label),
        transform=axes.get_yaxis_transform(),
        color="#333333",
        fontsize=POINTS,
        verticalalignment="bottom",
    )
