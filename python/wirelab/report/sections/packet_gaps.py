"""The time since the packet before, of every packet of one kind of exchange."""

from __future__ import annotations

from collections.abc import Sequence
from math import ceil, log

import numpy as np
from numpy.typing import NDArray

from wirelab.documents.dissection import Bin, Dissection, Position
from wirelab.format.counting import of_all
from wirelab.format.numbers import quantity, sanitize, step
from wirelab.report.charts.canvas import canvas, scale_values, to_svg
from wirelab.report.section import Picture, Section, Table

WORDS = (
    (
        "Mean and standard deviation of the time since the previous packet, over all exchanges "
        "with the most common sequence of packets, as in Elfwing and Paulsson (2002)."
    ),
    (
        "The charts show the distribution of this time for up to three packets of an exchange: "
        "those with the longest times that also have at least a tenth of all time between packets."
    ),
)
PICTURES_MAX = 24
DRAWN_MAX, SHARE, EXCHANGES_MIN = 3, 0.1, 20
BARS_MAX, WIDE = 24, 20.0
"""Times that differ by more than this factor are on a logarithmic axis."""
BIN = 1 / 128
"""How much longer the longest time of a counted bin is than the shortest."""
_WAYS = {"request": "client to server", "reply": "server to client"}
_COLOUR = "#0072B2"


def section(named: Sequence[tuple[Dissection, str]]) -> Section:
    """Of dissections with their names."""
    drawn = [picture for document, name in named for picture in pictures(document, name)]
    tables = [table(document, name) for document, name in named]
    return Section("Between packets", WORDS, tables, drawn[:PICTURES_MAX])


def table(document: Dissection, name: str) -> Table:
    """The gap before each packet of the commonest sequence, over all its exchanges."""
    of = document.interarrival_of
    columns = ["#", "direction", "flags", "payload, B", "mean", "deviation"]
    rows = [
        [
            str(row.position),
            _WAYS[row.direction],
            row.flags,
            f"{row.bytes_median:,}",
            quantity(row.gap_us.mean * 1e3, "ns"),
            quantity(row.gap_us.deviation * 1e3, "ns"),
        ]
        for row in document.interarrival
    ]
    caption = f"{name}: {of_all(of.exchanges, of.of, 'exchange')} with this sequence"
    return Table(columns, rows, caption, (3, 4, 5))


def pictures(document: Dissection, name: str) -> list[Picture]:
    """Histograms of the longest waits; none where few exchanges were seen."""
    rows = document.interarrival
    whole = sum(row.gap_us.mean for row in rows)
    long = [row for row in rows if row.gap_us.mean > max(0.0, SHARE * whole)]
    long.sort(key=lambda row: -row.gap_us.mean)
    shown = sorted(long[:DRAWN_MAX], key=lambda row: row.position)
    return [
        _histogram(row, name)
        for row in shown
        if row.gap_us.n >= EXCHANGES_MIN and row.gap_histogram
    ]


def bars(histogram: Sequence[Bin]) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Edges in microseconds, and counts between them: as many bars as the bins allow, of
    equal width, or of equal ratio where the times differ widely."""
    starts = np.array([entry.from_us for entry in histogram])
    counts = np.array([entry.n for entry in histogram])
    low, high = starts[0], starts[-1] * (1 + BIN)
    if low > 0.0 and high / low > WIDE:
        edges = np.geomspace(low, high, min(BARS_MAX, ceil(log(high / low) / log(1 + BIN))) + 1)
    else:
        edges = np.linspace(low, high, max(1, min(BARS_MAX, int((high - low) / (high * BIN)))) + 1)
    filled, _ = np.histogram(starts * (1 + BIN / 2), edges, weights=counts)
    return edges, filled


def _histogram(row: Position, name: str) -> Picture:
    edges, counts = bars(row.gap_histogram)
    divisor, unit = step(row.gap_us.mean * 1e3, "ns")
    places = edges * 1e3 / divisor
    title = f"{row.position}: {_WAYS[row.direction]}, {sanitize(row.flags)}"
    with canvas() as (figure, axes):
        axes.set_title(title)
        axes.set_xlabel(f"time since the previous packet in {unit}")
        axes.set_ylabel("exchanges")
        scale_values(axes, [0.0, float(counts.max())])
        if places[0] > 0.0 and places[-1] / places[0] > WIDE:
            scale_values(axes, [float(places[0]), float(places[-1])], "x")
        axes.set_axisbelow(True)
        axes.bar(places[:-1], counts, np.diff(places), align="edge", color=_COLOUR)
        figure.subplots_adjust(left=0.165, right=0.95, top=0.89, bottom=0.165)
        caption = f"packet {row.position} of {name}"
        least, most = (quantity(float(edge) * 1e3, "ns") for edge in (edges[0], edges[-1]))
        words = f"{caption}: time since the previous packet, {least} to {most}"
        return Picture(to_svg(figure, f"gaps {caption}"), caption, words)
