"""What a capture costs, as the docs tell it."""

from __future__ import annotations

from pathlib import Path
from statistics import median
from typing import Any

from bench import marked
from bench.bounds import Ratio
from bench.captures import FIGURES, WITHOUT

PAGE = Path(__file__).resolve().parent.parent / "docs/reference/captures.md"
ROW = "capture"

Json = dict[str, Any]


def with_parts(page: str, document: Json) -> str:
    """The page with its generated parts made anew.

    Raises:
        ValueError: the page lacks a marker.
    """
    ablations: list[Json] = document["rows"][ROW]["ablations"]
    share = median(float(one["others_share"]) for one in ablations)
    therefore = "so that the intervals are wide; trust no ratio beyond its interval."
    page = marked.replaced(page, "where", [marked.where(document, share, therefore)])
    return marked.replaced(page, "cost", _cost(ablations))


def _cost(ablations: list[Json]) -> list[str]:
    ratios = " | ".join(FIGURES)
    head = (
        f"| stack | link | requests/s without | {ratios} "
        "| packets/s captured | CPU of the capture per packet | drops | other work |"
    )
    return [head, "|" + "---|" * (head.count("|") - 1), *map(_line, ablations)]


def _line(one: Json) -> str:
    rate = median(float(rnd[WITHOUT]["rate_per_s"]) for rnd in one["rounds"])
    cells = [
        f"`{one['stack']}`",
        one["link"],
        f"{rate:,.0f}",
        *(_ratio(ratio) for ratio in one["ratios"]),
        f"{one['packets_per_s']:,.0f}",
        f"{one['capture_us']:.2f} µs",
        f"{one['drops']:,}",
        f"{one['others_share']:.0%}",
    ]
    return f"| {' | '.join(cells)} |"


def _ratio(ratio: Json) -> str:
    again = Ratio(ratio["figure"], ratio["peer"], tuple(ratio["values"]))
    low, high = again.interval
    return f"{again.median:.2f} [{low:.2f} … {high:.2f}]"
