"""Pages of the reference with measurements: startup, links, captures, and other tools."""

from __future__ import annotations

from pathlib import Path
from statistics import median
from typing import Any

from bench.bounds import Ratio
from bench.pages import marked_parts
from bench.rows.captures import FIGURES, WITHOUT
from bench.table import plain

STARTUP_PAGE = Path(__file__).resolve().parents[2] / "docs/reference/startup.md"
STARTUP_ROW = "startup"

Json = dict[str, Any]


def startup_parts(page: str, document: Json) -> str:
    """The page with its generated parts written again.

    Raises:
        ValueError: the page lacks a marker.
    """
    row = document["rows"][STARTUP_ROW]
    therefore = "so that commands waited for a core and took longer than they need."
    where = marked_parts.describe_run(document, float(row["others_share"]), therefore)
    page = marked_parts.replace_part(page, "where", [where])
    head = "| command | median [95 % interval] | bound | |"
    lines = [head, "|" + "---|" * (head.count("|") - 1), *map(_startup_line, row["ratios"])]
    return marked_parts.replace_part(page, "figures", lines)


def _startup_line(one: Json) -> str:
    again = Ratio(one["figure"], "", tuple(one["values"]), one["at_most"], one["at_least"])
    low, high = again.interval
    shown = f"{again.median:.3f} [{low:.3f} … {high:.3f}]"
    return f"| {again.figure} | {shown} | {again.format_bound()} | {again.verdict} |"


BUILD_PAGE = Path(__file__).resolve().parents[2] / "docs/reference/build.md"
BUILD_ROW = "build"


def build_parts(page: str, document: Json) -> str:
    """The page with its generated parts written again.

    Raises:
        ValueError: the page lacks a marker.
    """
    row = document["rows"][BUILD_ROW]
    therefore = "so that the build had less than two cores."
    where = marked_parts.describe_run(document, float(row["others_share"]), therefore)
    page = marked_parts.replace_part(page, "where", [where])
    figures = ["| figure | measured | bound | |", "|---|---|---|---|"]
    for one in row["ratios"]:
        again = Ratio(
            one["figure"], "", tuple(one["values"]), one["at_most"], aim=one.get("aim", False)
        )
        bound = again.format_bound()
        figures.append(f"| {again.figure} | {again.median:,.0f} | {bound} | {again.verdict} |")
    page = marked_parts.replace_part(page, "figures", figures)
    units = ["| unit | seconds |", "|---|---|"]
    units += [
        f"| `{one['name']}` {one['target']} | {one['seconds']:.1f} |".replace("  ", " ")
        for one in row["units"]
    ]
    return marked_parts.replace_part(page, "units", units)


LINKS_PAGE = Path(__file__).resolve().parents[2] / "docs/reference/links.md"
LINKS_ROW = "links"
LOST = 3e6
"""An echo that never came counts as an hour: a p99 above this, in ms, is that of lost ones."""


def links_parts(page: str, document: Json) -> str:
    """The page with its generated parts written again.

    Raises:
        ValueError: the page lacks a marker.
    """
    row = document["rows"][LINKS_ROW]
    therefore = (
        "so rows that need the caller's own promptness (echoes at 10,000/s, a sender of "
        "1 Gbit/s) say little about the emulator."
    )
    where = marked_parts.describe_run(document, float(row["others_share"]), therefore)
    page = marked_parts.replace_part(page, "where", [where])
    return marked_parts.replace_part(page, "exactness", _links_table(row["ratios"]))


def _links_table(figures: list[Json]) -> list[str]:
    return ["| | best | median | bound | |", "|---|---|---|---|---|", *map(_links_line, figures)]


def _links_line(one: Json) -> str:
    tries = tuple(one["values"])
    judged = Ratio(one["figure"], "", tries, one["at_most"], one["at_least"])
    best = max(tries) if one["at_most"] is None else min(tries)
    return (
        f"| {judged.figure} | {_links_value(best)} | {_links_value(median(tries))} "
        f"| {judged.format_bound()} | {judged.verdict} |"
    )


def _links_value(value: float) -> str:
    return "echoes lost" if value > LOST else plain(value)


CAPTURE_PAGE = Path(__file__).resolve().parents[2] / "docs/reference/captures.md"
CAPTURE_ROW = "capture"


def capture_parts(page: str, document: Json) -> str:
    """The page with its generated parts written again.

    Raises:
        ValueError: the page lacks a marker.
    """
    ablations: list[Json] = document["rows"][CAPTURE_ROW]["ablations"]
    share = median(float(one["others_share"]) for one in ablations)
    therefore = "so that the intervals are wide; trust no ratio beyond its interval."
    page = marked_parts.replace_part(
        page, "where", [marked_parts.describe_run(document, share, therefore)]
    )
    return marked_parts.replace_part(page, "cost", _capture_cost(ablations))


def _capture_cost(ablations: list[Json]) -> list[str]:
    ratios = " | ".join(FIGURES)
    head = (
        f"| stack | link | requests/s without | {ratios} "
        "| packets/s captured | CPU of the capture per packet | drops | other work |"
    )
    return [head, "|" + "---|" * (head.count("|") - 1), *map(_capture_line, ablations)]


def _capture_line(one: Json) -> str:
    rate = median(float(rnd[WITHOUT]["rate_per_s"]) for rnd in one["rounds"])
    cells = [
        f"`{one['stack']}`",
        one["link"],
        f"{rate:,.0f}",
        *(_capture_ratio(ratio) for ratio in one["ratios"]),
        f"{one['packets_per_s']:,.0f}",
        f"{one['capture_us']:.2f} µs",
        f"{one['drops']:,}",
        f"{one['others_share']:.0%}",
    ]
    return f"| {' | '.join(cells)} |"


def _capture_ratio(ratio: Json) -> str:
    again = Ratio(ratio["figure"], ratio["peer"], tuple(ratio["values"]))
    low, high = again.interval
    return f"{again.median:.2f} [{low:.2f} … {high:.2f}]"


HOST_PAGE = Path(__file__).resolve().parents[2] / "docs/reference/host.md"
HOST_ROW = "host"


def host_parts(page: str, document: Json) -> str:
    """The page with its generated parts written again.

    Raises:
        ValueError: the page lacks a marker.
    """
    ablations: list[Json] = document["rows"][HOST_ROW]["ablations"]
    share = median(float(one["others_share"]) for one in ablations)
    therefore = "so that the intervals are wide; trust no ratio beyond its interval."
    head = (
        "| stack | load | requests/s without | figure | with a record, over without | aim "
        "| records per call | CPU of the recording process per record | drops |"
    )
    rule = "|" + "---|" * (head.count("|") - 1)
    where = marked_parts.describe_run(document, share, therefore)
    lines = [where, "", head, rule, *map(_host_line, ablations)]
    return marked_parts.replace_part(page, "cost", lines)


def _host_line(one: Json) -> str:
    kept = one["ratio"]
    ratio = Ratio(
        kept["figure"], "", tuple(kept["values"]), kept["at_most"], kept["at_least"], aim=True
    )
    cells = [
        f"`{one['stack']}`",
        one["load"],
        f"{one['rate_rps']:,.0f}",
        ratio.figure,
        _capture_ratio(kept),
        f"{ratio.format_bound()}: {ratio.verdict}",
        f"{one['records_per_call']:.1f}",
        f"{one['record_us']:.2f} µs",
        f"{one['drops']:,}",
    ]
    return f"| {' | '.join(cells)} |"


PEERS_PAGE = Path(__file__).resolve().parents[2] / "docs/reference/peers.md"
PEERS_ROWS = (
    "http",
    "grpc",
    "grpc1",
    "large-http",
    "large-grpc",
    "connections",
    "calls",
    "packets",
)


def peers_parts(page: str, document: Json) -> str:
    """The page with its generated parts written again.

    Raises:
        ValueError: the page lacks a marker.
    """
    rows = [document["rows"][key] for key in PEERS_ROWS]
    share = median(float(row["others_share"]) for row in rows if "others_share" in row)
    where = marked_parts.describe_run(document, share, "so that requests/s say little.")
    versions = _peer_versions(document["machine"]["peers"])
    page = marked_parts.replace_part(page, "where", [where, "", versions])
    head = "| what | figure | median [95 % interval] | bound | |"
    lines = [head, "|" + "---|" * (head.count("|") - 1)]
    lines += [_peers_line(row, ratio) for row in rows for ratio in row["ratios"]]
    return marked_parts.replace_part(page, "ratios", lines)


def _peer_versions(versions: dict[str, str]) -> str:
    shown_again = (f"{name}: {said.partition(' Copyright')[0]}" for name, said in versions.items())
    return f"Versions that the peers report: {'; '.join(shown_again).rstrip('.')}."


def _peers_line(row: Json, ratio: Json) -> str:
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
    shown_again = f"{again.median:.2f} [{low:.2f} … {high:.2f}]"
    return f"| {what} | {figure} | {shown_again} | {again.format_bound()} | {again.verdict} |"
