"""Numbers as a reader sees them: three significant digits and a unit."""

from __future__ import annotations

from math import floor, isinf, log10
from typing import Protocol

from wirelab.format.sanitize import sanitize as sanitize
from wirelab.format.units import Unit, format_bytes


class Interval(Protocol):
    """An estimate with its bounds, such as :class:`wirelab.statistics.interval.Interval`."""

    @property
    def estimate(self) -> float:
        """The most likely value."""

    @property
    def bounds(self) -> tuple[float, float] | None:
        """None without an interval."""


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


SIGNIFICANT = 3
"""Significant digits of a number."""
SIGNIFICANT_MAX = 4
"""Those of limits that differ from their estimate in the last digit alone; an interval that is
narrower still is not printed."""


def digits(value: float, significant: int = SIGNIFICANT) -> str:
    """Significant digits without an exponent: ``0.0123``, ``1.23``, ``123``, ``1,230``."""
    if isinf(value):
        return "∞" if value > 0 else "-∞"
    if value == 0.0:
        return "0"
    places = significant - 1 - floor(log10(abs(value)))
    rounded = round(value, places)
    # Rounding may add a digit: 9.996 becomes 10.0, not 10.00.
    places = significant - 1 - floor(log10(abs(rounded)))
    return f"{rounded:,.{max(0, places)}f}"


def resolution(interval: Interval, divisor: float = 1.0) -> int | None:
    """Significant digits, 3 or more, in which the limits differ from the estimate; None where
    there are no limits, or none of up to 4 digits shows them: they carry no information then."""
    if interval.bounds is None:
        return None
    values = [value / divisor for value in (*interval.bounds, interval.estimate)]
    return next(
        (
            significant
            for significant in range(SIGNIFICANT, SIGNIFICANT_MAX + 1)
            if len({digits(value, significant) for value in values}) > 1
        ),
        None,
    )


def step(value: float, unit: Unit) -> tuple[float, str]:
    """The divisor and the name of the unit in which ``value`` reads best."""
    steps = _STEPS[unit]
    for divisor, name in steps:
        # 999.7 of one step would round to 1000: take the next one.
        if value >= divisor * 0.9995:
            return divisor, name
    return steps[-1]


def quantity(value: float, unit: Unit, significant: int = SIGNIFICANT) -> str:
    """``1.23 ms``, ``45.6 k/s``."""
    divisor, name = step(value, unit)
    space = "" if name.startswith("/") else " "
    return f"{digits(value / divisor, significant)}{space}{name}".strip()


def percent(share: float, decimals: int = 0) -> str:
    """``75 %`` for 0.75."""
    return f"{100.0 * share:.{decimals}f} %"


def format_signed(value: float, unit: Unit, plus: str = "+") -> str:
    """``+1.23 ms``, ``−45.6 µs``."""
    return f"{plus if value >= 0 else '−'}{quantity(abs(value), unit)}"


def estimate(interval: Interval | None, unit: Unit) -> str:
    """The estimate alone."""
    return NONE if interval is None else quantity(interval.estimate, unit)


def limits(interval: Interval | None, unit: Unit, between: str = DASH) -> str:
    """The limits in the unit of the estimate, without its name: ``1.20–1.26``; empty where
    they are the estimate."""
    if interval is None or interval.bounds is None:
        return NONE
    divisor, _ = step(interval.estimate, unit)
    significant = resolution(interval, divisor)
    if significant is None:
        return ""
    low, high = (digits(bound / divisor, significant) for bound in interval.bounds)
    return f"{low}{between}{high}"


def stack_limits(interval: Interval | None, unit: Unit) -> str:
    """The estimate, and on a line of their own the limits, where they carry information."""
    if interval is None:
        return NONE
    divisor, _ = step(interval.estimate, unit)
    shown = quantity(interval.estimate, unit, resolution(interval, divisor) or SIGNIFICANT)
    return "\n".join(filter(None, (shown, limits(interval, unit))))


def format_range(interval: Interval, unit: Unit = "") -> str:
    """``1.52 (1.44 to 1.61)``; of a figure ``44.1 ms (44.0 ms to 44.2 ms)``; a limit that does
    not exist is ``any``."""
    significant = resolution(interval)
    if interval.bounds is None:
        return f"{quantity(interval.estimate, unit)} without an interval"
    if significant is None:
        return quantity(interval.estimate, unit)
    low, high = interval.bounds
    most = "any" if isinf(high) else quantity(high, unit, significant)
    return f"{quantity(interval.estimate, unit)} ({quantity(low, unit, significant)} to {most})"


def span(interval: Interval) -> str:
    """The limits of a ratio in words: ``1.20 to 1.26``; empty where they are the estimate."""
    return "no interval" if interval.bounds is None else limits(interval, "", " to ")


APART_MAX = 7
"""Significant digits up to which a limit is shown to lie on its side of a border."""


def ratio_limits(low: float, high: float, threshold: float) -> str:
    """``0.860 to 1.10``: limits of a ratio, with enough digits to show on which side of 1 and of
    the borders of ``threshold`` each lies."""
    upper = 1.0 + threshold
    return " to ".join(_apart(value, (1.0 / upper, 1.0, upper)) for value in (low, high))


def _apart(value: float, borders: tuple[float, ...]) -> str:
    for significant in range(SIGNIFICANT, APART_MAX):
        shown = digits(value, significant)
        if isinf(value) or all(
            (float(shown.replace(",", "")) > border) == (value > border)
            and (float(shown.replace(",", "")) < border) == (value < border)
            for border in borders
        ):
            return shown
    return digits(value, APART_MAX)


def size(count: int) -> str:
    """A size in bytes: ``150 kB``."""
    return format_bytes(count)
