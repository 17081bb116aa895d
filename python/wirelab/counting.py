"""Numbers of things as people write them: ``1 call``, ``2,000 calls``."""

from __future__ import annotations


def counted(count: int, noun: str) -> str:
    """The count with its noun, whose plural is regular."""
    return f"{count:,} {noun}" if count == 1 else f"{count:,} {noun}s"
