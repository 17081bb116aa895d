"""A difference in words: how much more, shorter, longer one figure is, and what is compared."""

from __future__ import annotations

from dataclasses import dataclass
from math import isinf

from wirelab.format.numbers import digits
from wirelab.statistics.figure import Figure
from wirelab.statistics.interval import Interval

FACTOR_FROM = 2.0
"""From this factor on a difference is worded as a factor, below as a share in per cent."""
DOWN_FROM = 10.0
"""From this factor on a limit below 1 is worded as a factor."""
LEAST_PERCENT = 0.005
"""Less is called the same."""
PLACES_MAX = 3
"""Decimal places of a per cent at most."""
FACTOR_DIGITS = 2
"""Significant digits of a factor, and of its limits where that distinguishes them."""


@dataclass(frozen=True)
class Wording:
    """The words of one kind of figure."""

    up: str
    down: str
    times: str
    """Behind a factor: ``times as many``."""
    same: str


AMOUNT = Wording("more", "fewer", "times as many", "equally many")
DURATION = Wording("longer", "shorter", "times as long", "equally long")
COST = Wording("more", "less", "times as much", "equally much")
_OF_UNIT = {"1/s": AMOUNT, "ns": DURATION}


def choose_wording(figure: Figure) -> Wording:
    """Rates and bytes of calls are counted, times are long, CPU and memory are used."""
    counted = figure.unit == "B" and figure.name.startswith("bytes")
    return AMOUNT if counted else _OF_UNIT.get(figure.unit, COST)


NOUN = {
    "rate": "calls per second",
    "response_p50": "median response time",
    "response_p99": "p99 response time",
    "service_cpu": "service CPU per call",
    "client_cpu": "client CPU per call",
    "bytes_per_call": "bytes per call",
    "rss": "resident memory",
}
"""Figures in a sentence, by name."""
_VERB = {"1/s": "made", "ns": "had"}
_PRIORITY = {"client_cpu": 1, "bytes_per_call": 2, "rss": 2}


def noun(figure: Figure) -> str:
    """``calls per second``; the title of a figure that sentences rarely name."""
    return NOUN.get(figure.name, figure.title)


def capitalize_first(text: str) -> str:
    """With a large first letter, as the beginning of a sentence has; the others as they are."""
    return f"{text[:1].upper()}{text[1:]}"


def verb(figure: Figure) -> str:
    """What a stack did: it made calls, had a response time, used CPU."""
    return _VERB.get(figure.unit, "used")


def article(figure: Figure) -> str:
    """``a `` before a time."""
    return "a " if figure.unit == "ns" else ""


def priority(figure: Figure) -> int:
    """The order in which figures are of use, the lowest first: what users and the service's
    processor notice goes before what only the client does, and that before bytes and memory,
    which follow from the format."""
    return _PRIORITY.get(figure.name, 0)


def effect(ratio: Interval, words: Wording, named: str = "") -> str:
    """``36 % shorter (27 % to 44 %)``, ``93 % more (81 % to 106 %)``, ``3.4 times as many (3.1
    to 3.8)``, ``shorter by a factor of 3.4 (3.1 to 3.8)``; where the limits lie on both sides
    of 1, ``5.0 % fewer (51 % fewer to 79 % more)``. Limits that are the estimate are left out.
    With ``named`` it is: ``93 % more calls per second (81 % to 106 %)``."""
    size, limits = _share(ratio, words) if _is_small(ratio) else _factor(ratio, words)
    if named:
        size = _phrase(size, words, named)
    return f"{size} ({limits})" if limits else size


def _phrase(size: str, words: Wording, named: str) -> str:
    """``3.4 times as much service CPU per call``, ``fewer bytes per call by a factor of 3``,
    ``median response time shorter by a factor of 3``."""
    if not size.startswith(words.down):
        return f"{size} {named}"
    if words is DURATION:
        return f"{named} {size}"
    return f"{words.down} {named}{size.removeprefix(words.down)}"


def choose_conjunction(ratio: Interval) -> str:
    """The word between :func:`effect` and what is compared with."""
    return "as" if ratio.estimate >= FACTOR_FROM else "than"


def _is_small(ratio: Interval) -> bool:
    return 1.0 / FACTOR_FROM < ratio.estimate < FACTOR_FROM


def _factor(ratio: Interval, words: Wording) -> tuple[str, str]:
    """The size in words, and its limits."""
    upwards = ratio.estimate >= 1.0
    size = ratio.estimate if upwards else 1.0 / ratio.estimate
    low, high = _factor_limits(ratio, upwards=upwards)
    known = ratio.bounds is not None and low >= 1.0
    significant = _significant(size, low, high) if known else None
    shown = digits(size, FACTOR_DIGITS)
    if significant and not low <= float(shown.replace(",", "")) <= high:
        shown = digits(size, significant)
    named = f"{shown} {words.times}" if upwards else f"{words.down} by a factor of {shown}"
    if ratio.bounds is None:
        return named, ""
    if low < 1.0:
        return named, _sides(ratio, words, FACTOR_FROM)
    limits = [digits(value, significant) for value in (low, high)] if significant else []
    return named, " to ".join(limits)


def _factor_limits(ratio: Interval, *, upwards: bool) -> tuple[float, float]:
    """The limits of the factor, which is above 1."""
    low, high = ratio.bounds or (1.0, 1.0)
    if upwards:
        return low, high
    return 1.0 / high, 1.0 / low if low > 0.0 else float("inf")


def _significant(size: float, low: float, high: float) -> int | None:
    """Digits in which a factor and its limits differ; None where no sensible number shows them."""
    for significant in range(FACTOR_DIGITS, FACTOR_DIGITS + PLACES_MAX):
        if len({digits(value, significant) for value in (low, size, high)}) > 1:
            return significant
    return None


def _share(ratio: Interval, words: Wording) -> tuple[str, str]:
    """The size in words, and its limits."""
    low, high = ratio.bounds or (1.0, 1.0)
    if low < 1.0 < high:
        return side(ratio.estimate, words), _sides(ratio, words)
    places = _places(ratio)
    if ratio.bounds is None or _same(ratio, places):
        return side(ratio.estimate, words), ""
    upwards = ratio.estimate >= 1.0
    ends = (low, high) if upwards else (high, low)
    named = f"{_percent(ratio.estimate, places)} {words.up if upwards else words.down}"
    return named, " to ".join(_percent(end, places) for end in ends)


def _sides(ratio: Interval, words: Wording, down_from: float = DOWN_FROM) -> str:
    """Each limit with its own word."""
    low, high = ratio.bounds or (1.0, 1.0)
    return f"{side(low, words, down_from)} to {side(high, words, down_from)}"


def side(value: float, words: Wording, down_from: float = DOWN_FROM) -> str:
    """One ratio without an interval: ``51 % fewer``, ``79 % more``, ``12 times as many``,
    ``equally many``; ``fewer by a factor of 390`` from the factor ``down_from`` on, where all
    shares round to 100 %."""
    if value >= FACTOR_FROM:
        return f"{digits(value, FACTOR_DIGITS)} {words.times}"
    if value <= 1.0 / down_from:
        if value <= 0.0:
            return f"{words.down} by any factor"
        return f"{words.down} by a factor of {digits(1.0 / value, FACTOR_DIGITS)}"
    percent = 100.0 * abs(value - 1.0)
    if percent < LEAST_PERCENT:
        return words.same
    return f"{_percent(value, _least(percent))} {words.up if value >= 1.0 else words.down}"


def _places(ratio: Interval) -> int:
    """Decimal places: those of the estimate, more where limits need them."""
    least = _least(100.0 * abs(ratio.estimate - 1.0))
    return next((p for p in range(least, PLACES_MAX + 1) if not _same(ratio, p)), least)


def _least(percent: float) -> int:
    """Decimal places that give two significant digits, to a hundredth of a per cent."""
    return 0 if percent >= 9.95 else 1 if percent >= 0.995 else 2


def _same(ratio: Interval, places: int) -> bool:
    values = (ratio.estimate, *(ratio.bounds or ()))
    return len({_percent(value, places) for value in values}) == 1


def _percent(value: float, places: int) -> str:
    """How far a ratio is from 1."""
    return "∞" if isinf(value) else f"{100.0 * abs(value - 1.0):,.{places}f} %"
