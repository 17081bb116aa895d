"""Numbers of things as people write them: ``1 call``, ``2,000 calls``."""

from __future__ import annotations


def counted(count: int, noun: str) -> str:
    """The count with its noun, whose plural is regular."""
    return f"{count:,} {plural(count, noun)}"


def of_all(part: int, whole: int, noun: str) -> str:
    """``3 of 12 calls``, ``0 of 1 call``."""
    return f"{part:,} of {counted(whole, noun)}"


def plural(count: object, noun: str) -> str:
    """The noun alone as it stands behind that count, which may be unknown (``? cores``)."""
    if count in (1, "1"):
        return noun
    if noun.endswith("y") and noun[-2:-1] not in "aeiou":
        return f"{noun[:-1]}ies"
    return f"{noun}es" if noun.endswith(("s", "x", "ch", "sh")) else f"{noun}s"
