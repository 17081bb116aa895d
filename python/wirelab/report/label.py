"""Names of points as a reader sees them: message, load, and the shortest name of a stack."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from wirelab.report.quantity import plain, size
from wirelab.trial import Json, Point

_LOOPBACK = "loopback"


def message(point: Point) -> str:
    """``Hello 150 kB``."""
    return plain(f"{point.operation} {size(point.bytes)}")


def load(described: Json) -> str:
    """``10 users``, ``1,000 calls/s, evenly spaced``."""
    kind = described.get("kind")
    if kind == "closed":
        users = int(described.get("users", 0))
        think = described.get("think_s", 0.0)
        pause = f", {think:g} s think time" if think else ""
        return f"{users:,} user{'' if users == 1 else 's'}{pause}"
    if kind in ("constant", "poisson"):
        spacing = "evenly spaced" if kind == "constant" else "Poisson"
        return f"{described.get('rate', 0):,g} calls/s, {spacing}"
    return plain(described)


def openness(described: Json) -> str:
    """``closed`` or ``open``."""
    return "closed" if described.get("kind") == "closed" else "open"


def setting(point: Point) -> str:
    """Message, load, and link and options where they are not the usual ones."""
    parts = [message(point), load(point.load)]
    if point.link != _LOOPBACK:
        parts.append(plain(point.link))
    parts += [plain(f"{key}={value}") for key, value in sorted(point.options.items()) if value]
    return ", ".join(parts)


def stacks(points: Iterable[Point]) -> dict[str, str]:
    """The shortest unmistakable name of every stack, by its reference.

    Binding and language, and of the named axes only those that do not all have the same value.
    """
    references = sorted({point.stack for point in points})
    named = {reference: _axes(reference) for reference in references}
    common = _common(list(named.values()))
    short = {
        reference: " ".join([reference.split("?")[0], *_values(axes, common)])
        for reference, axes in named.items()
    }
    unmistakable = len(set(short.values())) == len(short)
    return {ref: plain(name if unmistakable else ref) for ref, name in short.items()}


def _axes(reference: str) -> dict[str, str]:
    query = reference.partition("?")[2]
    pairs = (part.partition("=") for part in query.split("&") if part)
    return {name: value for name, _, value in pairs}


def _common(every: list[dict[str, str]]) -> dict[str, str]:
    first = every[0] if every else {}
    return {k: v for k, v in first.items() if all(axes.get(k) == v for axes in every)}


def _values(axes: Mapping[str, str], common: Mapping[str, str]) -> list[str]:
    # `on` and `8` mean nothing alone; `close` and `text` do.
    return [
        value if value.isalpha() and value not in ("on", "off", "none") else f"{name}={value}"
        for name, value in axes.items()
        if name not in common
    ]
