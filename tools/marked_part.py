"""Parts of pages that programs write: between two marks, the rest is by hand."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path


def replace_part(page: Path, name: str, lines: Sequence[str]) -> None:
    """Writes the part of that name anew. Raises :class:`ValueError` where the page lacks it."""
    begin, end = f"<!-- {name} -->", f"<!-- end of {name} -->"
    text = page.read_text(encoding="utf-8")
    before, found, rest = text.partition(begin)
    _, ended, after = rest.partition(end)
    if not found or not ended:
        raise ValueError(f"{page} has no part {begin} … {end}")
    page.write_text(before + "\n".join([begin, *lines, end]) + after, encoding="utf-8")
