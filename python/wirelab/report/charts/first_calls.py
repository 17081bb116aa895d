"""The first calls of a process: response time over the number of the call."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import sqrt
from statistics import geometric_mean

from matplotlib.axes import Axes
from matplotlib.ticker import FuncFormatter, LogLocator, NullLocator

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
from wirelab.report.charts.intervals import LABEL_WIDTH_MAX
from wirelab.report.charts.stack_style import Look
from wirelab.report.section import Picture

NS_PER_MS = 1e6
TOGETHER = 10
"""Calls n and n + n / 10 are one point, where that is more than one call."""


@dataclass(frozen=True)
class CallPoint:
    """One call, or neighbouring ones, over the trials in which they went well, in ms."""

    first: int
    """Number of the first of them, from 1."""
    last: int
    mean: float
    """Geometric, of the trials'."""
    low: float
    """Of the fastest trial."""
    high: float

    @property
    def number(self) -> float:
        """Its place on the axis, which is logarithmic."""
        return sqrt(self.first * self.last)


@dataclass(frozen=True)
class FirstCallsLine:
    """One cell."""

    label: str
    look: Look
    points: Sequence[CallPoint]


def call_points(trials: Sequence[Sequence[int]]) -> list[CallPoint]:
    """The calls that every trial made, whose response times are in ns; failed ones are left out.
    The first 19 are single, later ones with those up to a tenth of their number further on, which
    the axis does not set apart: a trial's value is then their geometric mean."""
    points, first, made = [], 1, min(map(len, trials), default=0)
    while first <= made:
        last = min(made, first + max(1, first // TOGETHER) - 1)
        means = [_mean(calls[first - 1 : last]) for calls in trials]
        good = [mean for mean in means if mean is not None]
        if good:
            points.append(CallPoint(first, last, geometric_mean(good), min(good), max(good)))
        first = last + 1
    return points


def _mean(calls: Sequence[int]) -> float | None:
    """Of those that went well, in ms; None where none did."""
    good = [ns / NS_PER_MS for ns in calls if ns]
    return geometric_mean(good) if good else None


def first_calls_picture(lines: Sequence[FirstCallsLine], title: str) -> Picture:
    """A line per cell over a logarithmic axis of calls, in a band from the fastest trial to the
    slowest."""
    named = [sanitize(line.label) for line in lines]
    if max(map(text_width, named)) > LABEL_WIDTH_MAX:
        named = [line.look.letter for line in lines]
    values = [value for line in lines for one in line.points for value in (one.low, one.high)]
    with canvas() as (figure, axes):
        axes.set_xlabel("number of the call")
        axes.set_ylabel("response time in ms")
        scale_values(axes, values)
        _call_axis(axes, max(line.points[-1].last for line in lines))
        for line in lines:
            _draw(axes, line)
        right = 1.0 - (max(map(text_width, named)) + 22.0) / WIDTH
        figure.subplots_adjust(left=0.165, right=right, top=0.89, bottom=0.165)
        add_title(figure, axes, title)
        _label_ends(axes, lines, named)
        return Picture(to_svg(figure, f"first calls {title}"), "", _alt(title, lines))


def _call_axis(axes: Axes, last: int) -> None:
    axes.set_xscale("log")
    axes.set_xlim(0.9, 1.1 * max(last, 2))
    axes.xaxis.set_major_locator(LogLocator(numticks=12))
    axes.xaxis.set_minor_locator(NullLocator())
    axes.xaxis.set_major_formatter(FuncFormatter(lambda value, _: tick(value)))


def _draw(axes: Axes, line: FirstCallsLine) -> None:
    numbers = [one.number for one in line.points]
    axes.fill_between(
        numbers,
        [one.low for one in line.points],
        [one.high for one in line.points],
        color=line.look.colour,
        alpha=0.15,
        linewidth=0.0,
    )
    axes.plot(
        numbers,
        [one.mean for one in line.points],
        color=line.look.colour,
        linestyle=line.look.dash,
        linewidth=1.0,
        marker=line.look.marker,
        # The first call, which is single; marks of the others would hide the line.
        markevery=[0],
        markersize=5.0,
    )


def _label_ends(axes: Axes, lines: Sequence[FirstCallsLine], named: Sequence[str]) -> None:
    """Names at the right, each at the height where its line ends."""
    to_axes = axes.transData + axes.transAxes.inverted()
    ends = [float(to_axes.transform((1.0, line.points[-1].mean))[1]) for line in lines]
    gap = (POINTS + 2.0) / axes.get_window_extent().height
    for line, name, place in zip(lines, named, spread(ends, gap, 0.0, 1.0), strict=True):
        axes.text(
            1.035,
            place,
            name,
            transform=axes.transAxes,
            color=line.look.colour,
            verticalalignment="center",
        )


def _alt(title: str, lines: Sequence[FirstCallsLine]) -> str:
    shown = [
        f"{sanitize(line.label)} from {tick(line.points[0].mean)} ms at call "
        f"{line.points[0].first} to {tick(line.points[-1].mean)} ms at call "
        f"{line.points[-1].last}"
        for line in lines
    ]
    return f"{title}, response time over the number of the call: {'; '.join(shown)}."
