"""Timestamps and durations as text, as in the JSON of Protocol Buffers."""

from __future__ import annotations

import datetime
import re

from wirelab.errors import UsageError

SECONDS_MIN, SECONDS_MAX = -62_135_596_800, 253_402_300_799
"""Of a timestamp: the years 1 to 9999."""
DURATION_S_MAX = 315_576_000_000
"""10,000 years."""
_EPOCH = datetime.datetime(1970, 1, 1, tzinfo=datetime.UTC)
_TIMESTAMP = re.compile(
    r"(\d{4})-(\d\d)-(\d\d)[Tt](\d\d):(\d\d):(\d\d)(?:\.(\d{1,9}))?(?:[Zz]|([+-])(\d\d):(\d\d))",
    re.ASCII,
)
_DURATION = re.compile(r"(-?)(\d{1,12})(?:\.(\d{1,9}))?s", re.ASCII)

Moment = tuple[int, int]
"""Seconds and nanoseconds."""


def write_timestamp(moment: Moment) -> str:
    """RFC 3339 in UTC, with 0, 3, 6 or 9 digits of the second's fraction."""
    seconds, nanos = moment
    if not SECONDS_MIN <= seconds <= SECONDS_MAX or not 0 <= nanos < 10**9:
        raise UsageError(f"{moment} is not a timestamp of the years 1 to 9999")
    time = _EPOCH + datetime.timedelta(seconds=seconds)
    return f"{time.replace(tzinfo=None).isoformat()}{_fraction(nanos)}Z"


def read_timestamp(text: str) -> Moment:
    """Seconds since 1970 and nanoseconds. Raises :class:`UsageError`."""
    found = _TIMESTAMP.fullmatch(text)
    if not found:
        raise UsageError(f"{text[:40]!r} is not a timestamp of RFC 3339")
    try:
        parts = [int(part) for part in found.groups()[:6]]
        time = datetime.datetime(*parts, tzinfo=datetime.UTC)  # type: ignore[misc,arg-type]
        offset = 60 * int(found[9] or 0) + int(found[10] or 0)
    except ValueError as error:
        raise UsageError(f"{text[:40]!r} is not a timestamp: {error}") from None
    seconds = int((time - _EPOCH) / datetime.timedelta(seconds=1))
    return seconds - 60 * offset * (-1 if found[8] == "-" else 1), _nanos(found[7])


def write_duration(moment: Moment) -> str:
    """Seconds with ``s``: ``3.500s``."""
    seconds, nanos = moment
    if abs(seconds) > DURATION_S_MAX or abs(nanos) >= 10**9 or seconds * nanos < 0:
        raise UsageError(f"{moment} is not a duration")
    sign = "-" if seconds < 0 or nanos < 0 else ""
    return f"{sign}{abs(seconds)}{_fraction(abs(nanos))}s"


def read_duration(text: str) -> Moment:
    """Seconds and nanoseconds of the same sign. Raises :class:`UsageError`."""
    found = _DURATION.fullmatch(text)
    if not found or int(found[2]) > DURATION_S_MAX:
        raise UsageError(f"{text[:40]!r} is not a duration such as 3.5s")
    sign = -1 if found[1] else 1
    return sign * int(found[2]), sign * _nanos(found[3])


def _fraction(nanos: int) -> str:
    digits = f"{nanos:09d}"
    while digits.endswith("000"):
        digits = digits[:-3]
    return f".{digits}" if digits else ""


def _nanos(digits: str | None) -> int:
    return int((digits or "0").ljust(9, "0"))
