"""Numbers as a reader sees them: three significant digits and a unit."""

from __future__ import annotations

from math import floor, isinf, log10
from typing import TYPE_CHECKING

from wirelab.plain import plain as plain
from wirelab.units import format_bytes

if TYPE_CHECKING:
    from wirelab.statistics import Interval
    from wirelab.statistics.figure import Unit

DASH = "–"
NONE = "—"
"""Shown where there is no number."""

_STEPS: dict[Unit, tuple[tuple[float, str], ...]] = {
    "ns": ((1e9, "s"), (1e6, "ms"), (1e3, "µs"), (1.0, "ns")),
    "s": ((1.0, "s"), (1e-3, "ms"), (1e-6, "µs"), (1e-9, "ns")),
    "1/s": ((1e6, "M/s"), (1e3, "k/s"), (1.0, "/s")),
    "B": ((1e6, "MB"), (1e3, "kB"), (1.0, "B")),
    "": ((1.0, ""),),
}


def digits(value: float) -> str:
    """Three significant digits without an exponent: ``0.0123``, ``1.23``, ``123``, ``1,230``."""
    if isinf(value):
        return "∞" if value > 0 else "-∞"
    if value == 0.0:
        return "0"
    places = 2 - floor(log10(abs(value)))
    rounded = round(value, places)
    # Rounding may add a digit: 9.996 becomes 10.0, not 10.00.
    places = 2 - floor(log10(abs(rounded)))
    return f"{rounded:,.{max(0, places)}f}"


def step(value: float, unit: Unit) -> tuple[float, str]:
    """The divisor and the name of the unit in which ``value`` reads best."""
    steps = _STEPS[unit]
    for divisor, name in steps:
        # 999.7 of one step would round to 1000: take the next one.
        if value >= divisor * 0.9995:
            return divisor, name
    return steps[-1]


def quantity(value: float, unit: Unit) -> str:
    """``1.23 ms``, ``45.6 k/s``."""
    divisor, name = step(value, unit)
    space = "" if name.startswith("/") else " "
    return f"{digits(value / divisor)}{space}{name}".strip()


def estimate(interval: Interval | None, unit: Unit) -> str:
    """The estimate alone."""
    return NONE if interval is None else quantity(interval.estimate, unit)


def limits(interval: Interval | None, unit: Unit) -> str:
    """The limits in the unit of the estimate, without its name: ``1.20–1.26``."""
    if interval is None or interval.bounds is None:
        return NONE
    divisor, _ = step(interval.estimate, unit)
    low, high = interval.bounds
    return f"{digits(low / divisor)}{DASH}{digits(high / divisor)}"


def span(interval: Interval) -> str:
    """The limits of a ratio in words: ``1.20 to 1.26``."""
    if interval.bounds is None:
        return "no interval"
    low, high = interval.bounds
    return f"{digits(low)} to {digits(high)}"


def size(count: int) -> str:
    """A size in bytes: ``150 kB``."""
    return format_bytes(count)
