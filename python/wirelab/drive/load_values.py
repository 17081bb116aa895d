"""The values of options about loads: ``exponential:2s``, ``30s:100``, ``30s:500/s``."""

from __future__ import annotations

import re
from math import isfinite
from typing import get_args

from wirelab.drive.amount import Bursts, Distribution, Spread, Stage
from wirelab.errors import UnitError, UsageError
from wirelab.format.units import parse_seconds

STAGES_MAX = 100
"""Stages of a load: each is accounted for apart."""


def seconds(option: str, text: str) -> float:
    """A time of 0 s or more. Raises :class:`UsageError`."""
    try:
        return parse_seconds(text)
    except UnitError as error:
        raise UsageError(f"{option}: {error.message}") from None


def positive(option: str, text: str) -> float:
    """A time above 0 s. Raises :class:`UsageError`."""
    value = seconds(option, text)
    if value <= 0:
        raise UsageError(f"{option} {text} is not above 0", "give a time such as 3s")
    return value


def spread(option: str, text: str) -> Spread:
    """``2s``, or ``exponential:2s``. Raises :class:`UsageError`."""
    distribution, colon, mean = text.rpartition(":")
    known: tuple[Distribution, ...] = get_args(Distribution)
    for name in known:
        if distribution == name or (not colon and name == "constant"):
            return Spread(positive(option, mean), name)
    raise UsageError(
        f"{option} {text}: there is no distribution {distribution!r}",
        f"give one of {', '.join(known)}, as in {option} exponential:2s, or a time alone",
    )


def stages(option: str, texts: tuple[str, ...], start: float) -> tuple[Stage, ...]:
    """Of users or of a rate, never of both, from ``start``. Raises :class:`UsageError`."""
    found = tuple(_stage(option, text) for text in texts)
    if len(found) > STAGES_MAX:
        raise UsageError(
            f"{option} is given {len(found)} times", f"a load has at most {STAGES_MAX} stages"
        )
    if len({stage.of_rate for stage in found}) > 1:
        raise UsageError(
            f"{option}: some stages are of users and some of a rate, which are different loads",
            "write /s behind all levels (calls per second), or behind none (users)",
        )
    if found and not any(stage.duration_s for stage in found):
        raise UsageError(f"{option}: stages of 0 s take no time", "give one a time, e.g. 30s:100")
    if found and not start and not any(stage.to for stage in found):
        raise UsageError(
            f"{option}: stages of level 0 call nobody", "give one a level above 0, e.g. 30s:100"
        )
    return found


def _stage(option: str, text: str) -> Stage:
    remedy = f"write a time and a level: {option} 30s:100 (users), {option} 30s:500/s (calls/s)"
    lasts, colon, level = text.partition(":")
    found = re.fullmatch(r"(\d+(?:\.\d+)?)(/s)?", level)
    if not colon or not found:
        raise UsageError(f"{option} {text} is not a stage", remedy)
    to, of_rate = float(found[1]), found[2] is not None
    if not of_rate and not to.is_integer():
        raise UsageError(f"{option} {text}: {level} is not a number of users", remedy)
    return Stage(seconds(option, lasts), to, of_rate)


def rate(option: str, value: float, *, zero: bool = False) -> float:
    """Calls per second. Raises :class:`UsageError`."""
    if isfinite(value) and (value > 0 or (zero and value == 0)):
        return value
    least = "of 0 or more" if zero else "above 0"
    raise UsageError(
        f"{option} {value:g} is not a rate",
        f"give calls per second, a number {least} such as 500",
    )


def bursts(text: str, gap: str, per_s: float | None) -> Bursts:
    """``--burst``, a number of calls or how long they arrive at a rate, and ``--gap``. Raises
    :class:`UsageError`."""
    between = spread("--gap", gap)
    if text.isdecimal() and int(text) > 0:
        return Bursts(int(text), between)
    try:
        lasts = parse_seconds(text)
    except UnitError:
        raise UsageError(
            f"--burst {text} is neither a number of calls nor a time",
            "write calls, as in --burst 100, or a time, as in --burst 200ms --rate 2000",
        ) from None
    if per_s is None:
        raise UsageError(
            f"--burst {text} is a time, and its calls arrive at no rate",
            "give --rate CALLS_PER_SECOND too, or a number of calls: --burst 100",
        )
    if (calls := round(lasts * per_s)) < 1:
        raise UsageError(
            f"--burst {text} at --rate {per_s:g} holds less than one call",
            "give a longer burst or a higher rate",
        )
    return Bursts(calls, between)
