"""A small picture: matplotlib set up once, and turned into SVG that a page can contain."""

from __future__ import annotations

import hashlib
import io
import re
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from functools import cache, lru_cache
from typing import Any

import matplotlib as mpl
from matplotlib.axes import Axes
from matplotlib.figure import Figure as Canvas
from matplotlib.font_manager import FontProperties
from matplotlib.textpath import TextPath
from matplotlib.ticker import FuncFormatter, LogLocator, MaxNLocator, NullLocator

from wirelab.format.numbers import digits, sanitize

WIDTH, HEIGHT = 420.0, 300.0
"""Of a small multiple, in CSS pixels."""
POINTS = 12.0
"""Size of text at full width, in CSS pixels."""

TITLE_POINTS, TITLE_LINE = 13.0, 17.0
"""Size of a title and height of its lines, in CSS pixels at full width."""
BOLD = 1.15
"""Width of bold text over that of regular text, at most."""

_STYLE: Any = {
    # Outlines: no label is clipped because a reader's machine has another font.
    "svg.fonttype": "path",
    "font.family": ["DejaVu Sans"],
    "font.size": POINTS,
    "axes.titlesize": TITLE_POINTS,
    "axes.titleweight": "bold",
    "axes.titlelocation": "left",
    # Nothing is above the axes that a title would have to make room for.
    "axes.titley": 1.0,
    "axes.labelsize": POINTS,
    "axes.edgecolor": "#666666",
    "axes.labelcolor": "#333333",
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.grid": True,
    "grid.color": "#e4e4e4",
    "grid.linewidth": 0.8,
    "xtick.color": "#666666",
    "ytick.color": "#666666",
    "xtick.labelcolor": "#333333",
    "ytick.labelcolor": "#333333",
    "lines.linewidth": 1.6,
    "text.parse_math": False,
}


@contextmanager
def canvas(width: float = WIDTH, height: float = HEIGHT) -> Iterator[tuple[Canvas, Axes]]:
    """A figure of that size with one pair of axes, in the style of the report."""
    _set_up()
    figure = Canvas(figsize=(width / 72.0, height / 72.0), dpi=72)
    yield figure, figure.add_subplot()


@cache
def _set_up() -> None:
    """The style, for this process: checking it again takes longer than drawing the axes."""
    mpl.rcParams.update(_STYLE)


def to_svg(figure: Canvas, title: str) -> str:
    """The figure as an SVG element without size, date, comments or clashing ids.

    Ids start with a digest of ``title`` and the content, so the same data give the same
    bytes, and two pictures of one page never share an id.
    """
    text = io.StringIO()
    salt = hashlib.sha256(title.encode()).hexdigest()[:8]
    nothing = dict.fromkeys(("Date", "Creator", "Format", "Type"))
    mpl.rcParams["svg.hashsalt"] = salt
    figure.savefig(text, format="svg", metadata=nothing, transparent=True)
    drawn = text.getvalue()
    drawn = drawn[drawn.index("<svg") :]
    drawn = re.sub(r"<!--.*?-->|<metadata>.*?</metadata>", "", drawn, flags=re.DOTALL)
    drawn = _compact(drawn)
    drawn = re.sub(r'^<svg ([^>]*?)(?:width|height)="[^"]*" ?', r"<svg \1", drawn)
    drawn = re.sub(r'^(<svg [^>]*?)(?:width|height)="[^"]*" ?', r"\1", drawn)
    prefix = f"p{hashlib.sha256((title + drawn).encode()).hexdigest()[:8]}-"
    drawn = re.sub(r'\bid="([^"]+)"', rf'id="{prefix}\1"', drawn)
    drawn = re.sub(r'href="#([^"]+)"', rf'href="#{prefix}\1"', drawn)
    return re.sub(r"url\(#([^)]+)\)", rf"url(#{prefix}\1)", drawn).strip()


def _compact(drawn: str) -> str:
    """Without indentation, and paths to a tenth of a CSS pixel: half the bytes, and no eye sees
    the difference."""
    drawn = re.sub(r">\s+<", "><", drawn)
    return re.sub(r'\b(d|x|y)="([^"]*)"', _round_numbers, drawn)


def _round_numbers(attribute: re.Match[str]) -> str:
    words = (_FRACTION.sub(_tenths, word) for word in attribute[2].split())
    return f'{attribute[1]}="{" ".join(words)}"'


_FRACTION = re.compile(r"-?\d+\.\d+")


def _tenths(number: re.Match[str]) -> str:
    short = f"{float(number[0]):.1f}".removesuffix(".0")
    return "0" if short == "-0" else short


@lru_cache(maxsize=1024)
def text_width(text: str, size: float = POINTS) -> float:
    """Width of a text in CSS pixels at full width. Pictures share their labels, and measuring one
    takes as long as drawing a line."""
    if not text.strip():
        return 0.0
    font = FontProperties(family="DejaVu Sans")
    return float(TextPath((0, 0), text, size=size, prop=font).get_extents().width)


def add_title(figure: Canvas, axes: Axes, title: str) -> None:
    """Sets a title above the axes, once they have their place. One that is too long for the
    figure is broken into lines, and the figure grows by them."""
    width, height = (72.0 * inches for inches in figure.get_size_inches())
    room = width * (1.0 - axes.get_position().x0)
    lines = _lines(sanitize(title), room)
    axes.set_title("\n".join(lines))
    grown = height + TITLE_LINE * (len(lines) - 1)
    figure.set_size_inches(width / 72.0, grown / 72.0)
    places, shrunk = figure.subplotpars, height / grown
    figure.subplots_adjust(top=places.top * shrunk, bottom=places.bottom * shrunk)


def _lines(title: str, room: float) -> list[str]:
    """Broken behind commas, so that a number keeps its unit; a part that is too long for a line
    between its words."""

    def fits(text: str) -> bool:
        return BOLD * text_width(text, TITLE_POINTS) <= room

    lines: list[str] = []
    for part in re.split(r"(?<=,) ", title):
        for piece in [part] if fits(part) else part.split(" "):
            joined = f"{lines[-1]} {piece}" if lines else piece
            if lines and fits(joined):
                lines[-1] = joined
            else:
                lines.append(piece)
    return lines


def scale_values(axes: Axes, values: Sequence[float], axis: str = "y") -> None:
    """A logarithmic axis where values differ by more than 20, else a linear one from 0."""
    low, high = min(values), max(values)
    along = axes.yaxis if axis == "y" else axes.xaxis
    if low > 0.0 and high / low > 20.0:
        (axes.set_yscale if axis == "y" else axes.set_xscale)("log")
        few = high / low > 2000.0
        along.set_major_locator(LogLocator(subs=(1.0,) if few else (1.0, 3.0), numticks=12))
        along.set_minor_locator(NullLocator())
        limits = (low / 1.3, high * 1.4)
    else:
        along.set_major_locator(MaxNLocator(5, steps=[1, 2, 5, 10]))
        limits = (0.0, high * 1.08)
    (axes.set_ylim if axis == "y" else axes.set_xlim)(*limits)
    along.set_major_formatter(FuncFormatter(lambda value, _: tick(value)))


def tick(value: float) -> str:
    """A tick without needless digits: ``0.5``, ``20``, ``3,000``."""
    shown = digits(value)
    return shown.rstrip("0").rstrip(".") if "." in shown else shown


def spread(places: Sequence[float], gap: float, low: float, high: float) -> list[float]:
    """Places moved as little as needed to lie ``gap`` apart and between ``low`` and ``high``,
    in their order; where there is no room the gap shrinks."""
    if not places:
        return []
    gap = min(gap, (high - low) / max(1, len(places) - 1))
    order = sorted(range(len(places)), key=lambda i: places[i])
    moved = [places[i] for i in order]
    for i in range(len(moved)):
        moved[i] = max(moved[i], low if i == 0 else moved[i - 1] + gap)
    for i in reversed(range(len(moved))):
        moved[i] = min(moved[i], high if i == len(moved) - 1 else moved[i + 1] - gap)
    result = [0.0] * len(places)
    for i, place in zip(order, moved, strict=True):
        result[i] = place
    return result
