"""A figure of one cell over many runs, with its changes."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

from matplotlib.ticker import MaxNLocator

from wirelab.report.charts.canvas import WIDTH, add_title, canvas, tick, to_svg
from wirelab.report.section import Picture

HEIGHT = 260.0
BETTER, WORSE, LINE = "#009E73", "#D55E00", "#0072B2"
"""Okabe & Ito 2008."""


def history_picture(
    values: Sequence[float], unit: str, changes: Sequence[tuple[int, bool]], title: str
) -> Picture:
    """One mark per run, a level per segment; ``changes`` are the index of the first run after
    each, and whether it is for the better."""
    borders = [0, *(index for index, _ in changes), len(values)]
    with canvas(WIDTH, HEIGHT) as (figure, axes):
        figure.subplots_adjust(left=0.14, right=0.97, top=0.86, bottom=0.18)
        runs = list(range(1, len(values) + 1))
        axes.plot(runs, values, color=LINE, marker="o", markersize=3.5, linewidth=0.8)
        for low, high in pairwise(borders):
            level = sum(values[low:high]) / (high - low)
            axes.plot([low + 0.6, high + 0.4], [level, level], color="#444444", linewidth=1.6)
        for index, better in changes:
            axes.axvline(
                index + 0.5, color=BETTER if better else WORSE, linestyle="dashed", linewidth=1.2
            )
        axes.set_ylim(0.0, 1.1 * max(values))
        axes.set_xlim(0.5, len(values) + 0.5)
        axes.set_xlabel("run, oldest first")
        axes.set_ylabel(unit)
        axes.yaxis.set_major_formatter(lambda value, _: tick(value))
        axes.xaxis.set_major_locator(MaxNLocator(8, integer=True))
        add_title(figure, axes, title)
        words = ", ".join(
            f"{'better' if better else 'worse'} from run {index + 1} on"
            for index, better in changes
        )
        alt = f"{title} over {len(values)} runs: {words or 'no change'}."
        return Picture(to_svg(figure, title), "", alt)
