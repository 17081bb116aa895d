"""The page of the docs with the times of whole commands."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from bench import marked
from bench.bounds import Ratio

PAGE = Path(__file__).resolve().parent.parent / "docs/reference/startup.md"
ROW = "startup"

Json = dict[str, Any]


def with_parts(page: str, document: Json) -> str:
    """The page with its generated parts made anew.

    Raises:
        ValueError: the page lacks a marker.
    """
    row = document["rows"][ROW]
    therefore = "so that commands waited for a core and took longer than they need."
    where = marked.where(document, float(row["others_share"]), therefore)
    page = marked.replaced(page, "where", [where])
    head = "| command | median [95 % interval] | promised | |"
    lines = [head, "|" + "---|" * (head.count("|") - 1), *map(_line, row["ratios"])]
    return marked.replaced(page, "figures", lines)


def _line(one: Json) -> str:
    again = Ratio(one["figure"], "", tuple(one["values"]), one["at_most"], one["at_least"])
    low, high = again.interval
    shown = f"{again.median:.3f} [{low:.3f} … {high:.3f}]"
    return f"| {again.figure} | {shown} | {again.wanted()} | {again.verdict} |"
