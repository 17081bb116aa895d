"""The part of the engine's tax that tells of XML, as the docs have it."""

from __future__ import annotations

from statistics import median
from typing import Any

from bench import marked
from bench.bounds import Ratio
from bench.publication import PAGE as PAGE

ROWS = ("service-xml", "xml-writers")

Json = dict[str, Any]


def with_parts(page: str, document: Json) -> str:
    """The page with its parts on XML made anew from a run's own file.

    Raises:
        ValueError: the page lacks a marker.
        KeyError: a row was not taken.
    """
    rows = document["rows"]
    parts = (
        ("where of xml", [marked.where(document, 0.0, "")]),
        ("service-xml", _services(rows["service-xml"])),
        ("xml-writers", _writers(rows["xml-writers"])),
    )
    for name, lines in parts:
        page = marked.replaced(page, name, lines)
    return page


def _services(row: Json) -> list[str]:
    lines = [
        "| codec | message | bytes | service | program | service / program | bound |",
        "|---|---|---|---|---|---|---|",
    ]
    for case, ratio in zip(row["cases"], row["ratios"], strict=True):
        judged = Ratio("", "", tuple(ratio["values"]), ratio["at_most"], ratio["at_least"])
        low, high = judged.interval
        lines.append(
            f"| {case['codec']} | {case['message']} | {case['bytes']:,} "
            f"| {median(case['service_us']):,.2f} µs | {median(case['program_us']):,.2f} µs "
            f"| {judged.median:.3f} [{low:.3f} … {high:.3f}] "
            f"| {judged.wanted()}: {judged.verdict} |"
        )
    return lines


def _writers(row: Json) -> list[str]:
    lines = [
        "| service | body by | refusals | bytes | engine, decode | per kB |",
        "|---|---|---|---|---|---|",
    ]
    for case in row["cases"]:
        took = median(case["engine_us"])
        lines.append(
            f"| `{case['stack']}` | {case['writer']} | {case['refusals']} | {case['bytes']:,} "
            f"| {took:,.2f} µs | {took / case['bytes'] * 1e3:.2f} µs |"
        )
    return lines
