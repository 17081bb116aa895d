"""Latency distributions: one thin curve per trial, from the histograms of the run."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import log10
from pathlib import Path

import numpy as np
from hdrh.histogram import HdrHistogram
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
from wirelab.report.section import Picture
from wirelab.statistics.sample import percentile_printable

PERCENTILES = (
    *(1.0, 5.0, 10.0, 20.0, 30.0, 40.0, 50.0, 60.0, 70.0, 80.0, 85.0, 90.0, 93.0, 95.0, 97.0),
    *(98.0, 99.0, 99.3, 99.5, 99.7, 99.8, 99.9, 99.95, 99.97, 99.99, 99.995, 99.999),
)
_TICKS = {p: f"{p:g}" for p in (0.0, 50.0, 90.0, 99.0, 99.9, 99.99, 99.999)}

Curve = tuple[tuple[float, float], ...]
"""Pairs of percentile and time in nanoseconds."""


@dataclass(frozen=True)
class Curves:
    """All trials of one stack under one setting."""

    label: str
    look: Look
    curves: Sequence[Curve]


class UnreadableHistogram(ValueError):
    """A histogram log that cannot be read."""


def read_curve(log: Path, tag: str = "response") -> Curve | None:
    """The percentile curve of the first histogram tagged ``tag`` in an HdrHistogram log;
    None when the file or the tag is not there. Raises :class:`UnreadableHistogram`."""
    if not log.is_file():
        return None
    for line in log.read_text(encoding="utf-8", errors="replace").splitlines():
        if line.startswith(f"Tag={tag},"):
            return decoded_curve(line.rsplit(",", 1)[-1].strip(), str(log))
    return None


def decoded_curve(encoded: str, where: str) -> Curve:
    """The percentile curve of one histogram in its compressed form. Raises
    :class:`UnreadableHistogram`, which names ``where`` it is from."""
    try:
        histogram = HdrHistogram.decode(encoded)
        count = int(histogram.get_total_count())
        shown = [p for p in PERCENTILES if percentile_printable(count, p)]
        values = _values(histogram, shown)
    except Exception as error:  # the decoder raises whatever the bytes provoke
        raise UnreadableHistogram(f"{where}: {error}") from error
    return tuple((p, value) for p, value in zip(shown, values, strict=True) if value > 0.0)


def _values(histogram: HdrHistogram, percentiles: Sequence[float]) -> list[float]:
    """As ``get_percentile_to_value_dict`` has them, which visits each of some thousand counts in
    Python."""
    sums = np.cumsum(histogram.counts[: histogram.encoder.payload.counts_len])
    targets = [histogram.get_target_count_at_percentile(p) for p in percentiles]
    return [
        float(histogram.get_highest_equivalent_value(histogram.get_value_from_index(int(index))))
        for index in np.searchsorted(sums, targets)
    ]


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
