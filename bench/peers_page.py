"""The engine beside other people's tools, as the docs tell it."""

from __future__ import annotations

from pathlib import Path
from statistics import median
from typing import Any

from bench import marked
from bench.bounds import Ratio

PAGE = Path(__file__).resolve().parent.parent / "docs/reference/peers.md"
ROWS = (
    "http",
    "grpc",
    "grpc1",
    "large-http",
    "large-grpc",
    "connections",
    "calls",
    "packets",
)

Json = dict[str, Any]


def with_parts(page: str, document: Json) -> str:
    """The page with its generated parts made anew.

    Raises:
        ValueError: the page lacks a marker.
    """
    rows = [document["rows"][key] for key in ROWS]
    share = median(float(row["others_share"]) for row in rows if "others_share" in row)
    where = marked.where(document, share, "so that requests/s say little.")
    page = marked.replaced(page, "where", [where, "", _peers(document["machine"]["peers"])])
    head = "| what | figure | median [95 % interval] | promised | |"
    lines = [head, "|" + "---|" * (head.count("|") - 1)]
    lines += [_line(row, ratio) for row in rows for ratio in row["ratios"]]
    return marked.replaced(page, "ratios", lines)


def _peers(versions: dict[str, str]) -> str:
    told = (f"{name}: {said.partition(' Copyright')[0]}" for name, said in versions.items())
    return f"What the peers say of their version: {'; '.join(told).rstrip('.')}."


def _line(row: Json, ratio: Json) -> str:
    again = Ratio(
        ratio["figure"],
        ratio["peer"],
        tuple(ratio["values"]),
        ratio["at_most"],
        ratio["at_least"],
        ratio["aim"],
    )
    low, high = again.interval
    what = row.get("title") or f"a capture of {row['packets']:,} packets"
    figure = f"{again.figure} / {again.peer}" if again.peer else again.figure
    told = f"{again.median:.2f} [{low:.2f} … {high:.2f}]"
    return f"| {what} | {figure} | {told} | {again.wanted()} | {again.verdict} |"
