"""A cell over the time of its trials: strips with one thin line per trial, on one time axis."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from matplotlib.axes import Axes
from matplotlib.ticker import FuncFormatter, MaxNLocator

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
from wirelab.report.section import Picture

STRIP, MARGIN = 86.0, 82.0
"""Heights of a strip, and of title and axis together, in CSS pixels."""
GAP = 14.0
LEFT, BESIDE_TICKS = 69.0, 34.0
"""Room left of the axes at least, and that of the unit next to the ticks, in CSS pixels."""
POINTS_MAX = 150
"""Points of a line; of a longer one every second, third, ... is drawn."""
FACTOR = 20.0
"""Beyond it values differ by factors."""
COLOURS = ("#0072B2", "#D55E00", "#009E73")
"""Okabe & Ito 2008, as for stacks; a strip has at most that number of quantities."""

Points = Sequence[tuple[float, float]]


@dataclass(frozen=True)
class Quantity:
    """One quantity of a strip, with a line per trial."""

    label: str
    lines: Sequence[Points]


@dataclass(frozen=True)
class Strip:
    """Quantities that share a unit; those without a line are left out."""

    unit: str
    quantities: Sequence[Quantity]
    by_factors: bool = False
    """True: a logarithmic axis where values differ by more than 20."""

    @property
    def drawn(self) -> list[tuple[Quantity, str]]:
        """Quantities that have a point, each with its colour, which is the same in every chart."""
        every = zip(self.quantities, COLOURS, strict=False)
        return [(quantity, colour) for quantity, colour in every if any(quantity.lines)]


def draw_over_time(strips: Sequence[Strip], title: str, window_s: float) -> Picture | None:
    """The strips one above the other; the window is shaded. None where nothing is to draw."""
    shown = [strip for strip in strips if strip.drawn]
    if not shown:
        return None
    height = MARGIN + STRIP * len(shown) + GAP * (len(shown) - 1)
    labels = [quantity.label for strip in shown for quantity, _ in strip.drawn]
    right = 1.0 - (max(map(text_width, labels)) + 14.0) / WIDTH
    left = max(LEFT, max(map(_ticks_width, shown)) + BESIDE_TICKS) / WIDTH
    with canvas(WIDTH, height) as (figure, first):
        first.remove()
        column = figure.subplots(len(shown), 1, sharex=True, squeeze=False)[:, 0]
        figure.subplots_adjust(
            left=left,
            right=right,
            top=1.0 - 34.0 / height,
            bottom=48.0 / height,
            hspace=GAP / STRIP,
        )
        for axes, strip in zip(column, shown, strict=True):
            _draw(axes, strip, window_s)
        figure.align_ylabels(column)
        add_title(figure, column[0], title)
        column[-1].set_xlabel("seconds since the window opened")
        alt = f"{title}, over time. {'; '.join(map(_words, shown))}."
        return Picture(to_svg(figure, f"{title} over time"), "", alt)


def _ticks_width(strip: Strip) -> float:
    """Of its largest value, in CSS pixels."""
    drawn = (line for quantity, _ in strip.drawn for line in quantity.lines)
    return text_width(tick(1.1 * max(y for line in drawn for _, y in line)))


def _draw(axes: Axes, strip: Strip, window_s: float) -> None:
    axes.axvspan(0.0, window_s, color="#f3f3f3", zorder=0)
    values = [0.0]
    for quantity, colour in strip.drawn:
        for line in quantity.lines:
            kept = line[:: 1 + len(line) // POINTS_MAX]
            axes.plot([x for x, _ in kept], [y for _, y in kept], color=colour, linewidth=1.0)
            values += [y for _, y in kept]
    axes.set_ylabel(strip.unit)
    axes.yaxis.set_major_locator(MaxNLocator(3, steps=[1, 2, 5, 10]))
    axes.yaxis.set_major_formatter(FuncFormatter(lambda value, _: tick(value)))
    axes.set_ylim(0.0, 1.1 * max(values) or 1.0)
    if strip.by_factors:
        _scale_by_factors(axes, [value for value in values if value > 0.0])
    axes.xaxis.set_major_formatter(FuncFormatter(lambda value, _: tick(value)))
    _label_ends(axes, strip.drawn)


def _scale_by_factors(axes: Axes, positive: Sequence[float]) -> None:
    if positive and max(positive) / min(positive) > FACTOR:
        scale_values(axes, positive)


def _label_ends(axes: Axes, drawn: Sequence[tuple[Quantity, str]]) -> None:
    """Names to the right of the lines' ends, moved apart where they would overlap."""
    values = [next(line[-1][1] for line in quantity.lines if line) for quantity, _ in drawn]
    ends = [
        float(axes.transLimits.transform(axes.transScale.transform((0.0, y)))[1]) for y in values
    ]
    places = spread(ends, (POINTS + 3.0) / STRIP, 0.08, 0.92)
    for (quantity, colour), place in zip(drawn, places, strict=True):
        axes.text(
            1.02,
            place,
            quantity.label,
            transform=axes.transAxes,
            color=colour,
            verticalalignment="center",
        )


def _words(strip: Strip) -> str:
    return ", ".join(
        f"{quantity.label} up to {tick(max(y for line in quantity.lines for _, y in line))} "
        f"{strip.unit}"
        for quantity, _ in strip.drawn
    )
