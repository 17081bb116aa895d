"""How exact the links are, as the docs tell it."""

from __future__ import annotations

from pathlib import Path
from statistics import median
from typing import Any

from bench import marked
from bench.bounds import Ratio
from bench.table import plain

PAGE = Path(__file__).resolve().parent.parent / "docs/reference/links.md"
ROW = "links"
LOST = 3e6
"""An echo that never came counts as an hour: a p99 above this, in ms, is that of lost ones."""

Json = dict[str, Any]


def with_parts(page: str, document: Json) -> str:
    """The page with its generated parts made anew.

    Raises:
        ValueError: the page lacks a marker.
    """
    row = document["rows"][ROW]
    therefore = (
        "so rows that need the caller's own promptness (echoes at 10,000/s, a sender of "
        "1 Gbit/s) say little about the emulator."
    )
    told = marked.where(document, float(row["others_share"]), therefore)
    page = marked.replaced(page, "where", [told])
    return marked.replaced(page, "exactness", _table(row["ratios"]))


def _table(figures: list[Json]) -> list[str]:
    return ["| | best | median | wanted | |", "|---|---|---|---|---|", *map(_line, figures)]


def _line(one: Json) -> str:
    tries = tuple(one["values"])
    judged = Ratio(one["figure"], "", tries, one["at_most"], one["at_least"])
    best = max(tries) if one["at_most"] is None else min(tries)
    return (
        f"| {judged.figure} | {_told(best)} | {_told(median(tries))} "
        f"| {judged.wanted()} | {judged.verdict} |"
    )


def _told(value: float) -> str:
    return "echoes lost" if value > LOST else plain(value)
