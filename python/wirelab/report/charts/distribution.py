"""Latency distributions: one thin curve per trial."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import log10

from matplotlib.axes import Axes
from matplotlib.ticker import FixedFormatter, FixedLocator, NullLocator

from wirelab.format.numbers import sanitize, step
from wirelab.report.charts.canvas import (
    POINTS,
    WIDTH,
    add_title,
    canvas,
    scale_values,
    spread,
    text_width,
    to_svg,
)
from wirelab.report.charts.intervals import LABEL_WIDTH_MAX
from wirelab.report.charts.stack_style import Look
from wirelab.report.curves import Curve
from wirelab.report.section import Picture

_TICKS = {p: f"{p:g}" for p in (0.0, 50.0, 90.0, 99.0, 99.9, 99.99, 99.999)}


@dataclass(frozen=True)
class Curves:
    """All trials of one stack under one setting."""

    label: str
    look: Look
    curves: Sequence[Curve]


def distribution_picture(
    stacks: Sequence[Curves], title: str, words: str = "one curve per trial"
) -> Picture | None:
    """Percentile curves on an axis that gives each nine the same room; None without a curve.
    ``words`` say what a curve is of."""
    stacks = [stack for stack in stacks if any(stack.curves)]
    if not stacks:
        return None
    values = [value for stack in stacks for curve in stack.curves for _, value in curve]
    divisor, unit = step(sorted(values)[len(values) // 2], "ns")
    named = [sanitize(stack.label) for stack in stacks]
    if max(map(text_width, named)) > LABEL_WIDTH_MAX:
        named = [stack.look.letter for stack in stacks]
    with canvas() as (figure, axes):
        axes.set_xlabel("percentile of calls")
        axes.set_ylabel(f"response time in {unit}")
        scale_values(axes, [value / divisor for value in values])
        last = max(p for stack in stacks for curve in stack.curves for p, _ in curve)
        _percentile_axis(axes, last)
        for stack in stacks:
            for curve in stack.curves:
                axes.plot(
                    [nines(p) for p, _ in curve],
                    [value / divisor for _, value in curve],
                    color=stack.look.colour,
                    linestyle=stack.look.dash,
                    linewidth=1.0,
                    alpha=0.75,
                )
        right = 1.0 - (max(map(text_width, named)) + 22.0) / WIDTH
        figure.subplots_adjust(left=0.165, right=right, top=0.89, bottom=0.165)
        add_title(figure, axes, title)
        _names(axes, stacks, named, divisor)
        return Picture(to_svg(figure, f"distribution {title}"), "", f"{title}: {words}")


def nines(percentile: float) -> float:
    """Place on the axis: 0 at 0 %, 1 at 90 %, 2 at 99 %."""
    return -log10(1.0 - percentile / 100.0)


def _percentile_axis(axes: Axes, last: float) -> None:
    ticks = [p for p in _TICKS if p <= last]
    axes.set_xlim(0.0, nines(last))
    axes.xaxis.set_major_locator(FixedLocator([nines(p) for p in ticks]))
    axes.xaxis.set_major_formatter(FixedFormatter([_TICKS[p] for p in ticks]))
    axes.xaxis.set_minor_locator(NullLocator())


def _names(axes: Axes, stacks: Sequence[Curves], named: Sequence[str], divisor: float) -> None:
    """The stacks' names at the right, each at the height where its middle curve ends."""
    to_axes = axes.transData + axes.transAxes.inverted()
    ends = []
    for stack in stacks:
        tops = sorted(curve[-1][1] / divisor for curve in stack.curves if curve)
        ends.append(float(to_axes.transform((0.0, tops[len(tops) // 2]))[1]))
    gap = (POINTS + 2.0) / axes.get_window_extent().height
    for stack, name, place in zip(stacks, named, spread(ends, gap, 0.0, 1.0), strict=True):
        axes.text(
            1.035,
            place,
            name,
            transform=axes.transAxes,
            color=stack.look.colour,
            verticalalignment="center",
        )
