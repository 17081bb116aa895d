"""Parts of pages that programs write: between two marks; the rest is by hand."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path


def replace(page: str, begin: str, end: str, lines: Iterable[str]) -> str:
    """The page with these lines between the marks. Raises :class:`ValueError` where it lacks
    one."""
    before, found, rest = page.partition(begin)
    _, ended, after = rest.partition(end)
    if not found or not ended:
        raise ValueError(f"the page lacks {begin} or {end}: put both back around the part")
    return before + "\n".join([begin, *lines, end]) + after


def replace_part(page: Path, name: str, lines: Iterable[str]) -> None:
    """Writes the part of that name again. Raises as :func:`replace`."""
    text = page.read_text(encoding="utf-8")
    made = replace(text, f"<!-- {name} -->", f"<!-- end of {name} -->", lines)
    page.write_text(made, encoding="utf-8")
