"""The engine overhead as it is published: data that every report carries, and a page of the docs.

Both come from one run, so that a reader of either can tell where and when it was.
"""

from __future__ import annotations

import json
from pathlib import Path
from statistics import median
from typing import Any

from bench.bounds import Ratio
from bench.pages import marked_parts
from bench.rows import codecs, tax
from wirelab.stack.reference import Stack

ROOT = Path(__file__).resolve().parents[2]
DATA = ROOT / "python/wirelab/data/engine_tax.json"
PAGE = ROOT / "docs/reference/engine-tax.md"
COMMAND = ".venv/bin/python -m bench.run --rows tax,codecs --publish"
CODECS = "codecs"

Json = dict[str, Any]


def publish(document: Json) -> None:
    """Writes data and page from a run's own file.

    Raises:
        KeyError: a row could not be taken; nothing is written then.
    """
    data = select_published(document)
    DATA.parent.mkdir(parents=True, exist_ok=True)
    DATA.write_text(json.dumps(data, indent=1, ensure_ascii=False) + "\n")
    PAGE.write_text(with_tables(PAGE.read_text(), data))


def select_published(document: Json) -> Json:
    """What is kept of a run."""
    facts, rows = document["machine"], document["rows"]
    return {
        "taken": document["taken"],
        "machine": {key: facts[key] for key in ("processor", "cores", "kernel", "revision")},
        "command": COMMAND,
        "others_share": _others_share([rows[key] for key in tax.STACKS]),
        "users": tax.LOAD.connections * tax.LOAD.in_flight,
        "submit_bytes": tax.SUBMIT_BYTES,
        "stacks": [_stack(rows[key]) for key in tax.STACKS],
        "codecs": [_codec(case) for case in rows[CODECS]["cases"]],
    }


def _others_share(rows: list[Json]) -> float:
    """Median share of the two cores that went to neither side."""
    rounds: list[Json] = [rnd for row in rows for rnd in row["rounds"]]
    shares = [float(one["others_share"]) for rnd in rounds for one in rnd.values()]
    return round(median(shares), 3)


def _stack(row: Json) -> Json:
    reference = row["stack"]
    axes = Stack.parse(reference).axes
    rounds: list[Json] = row["rounds"]
    equal = [_equal(rounds, ratio) for ratio in row["ratios"]]
    return {
        "stack": reference,
        "binding": axes.binding,
        "codec": axes.codec,
        "frame_us": _median(rounds, tax.FRAME, "client_us_per_call"),
        "decode_us": _median(rounds, tax.DECODE, "client_us_per_call"),
        "bytes_per_call": round(_median(rounds, tax.FRAME, "bytes_per_call")),
        "small_us": _median(rounds, tax.SMALL, "client_us_per_call"),
        "beside_rest": equal[0] if equal else None,
        "others_share": _others_share([row]),
    }


def _equal(rounds: list[Json], ratio: Json) -> Json:
    """The ratio to REST in JSON at equal bytes."""
    again = Ratio("", "", tuple(ratio["values"]), ratio["at_most"], ratio["at_least"], aim=True)
    low, high = again.interval
    return {
        "ratio": round(again.median, 3),
        "low": round(low, 3),
        "high": round(high, 3),
        "bound": again.format_bound(),
        "verdict": again.verdict,
        "bytes_per_call": [
            round(_median(rounds, name, "bytes_per_call")) for name in (tax.EQUAL, tax.REST_EQUAL)
        ],
    }


def _median(rounds: list[Json], name: str, figure: str) -> float:
    return round(median(float(rnd[name][figure]) for rnd in rounds), 3)


def _codec(case: Json) -> Json:
    ours, peer = case["ours_us"], case["peer_us"]
    ratios = [a / b for a, b in zip(ours, peer, strict=bool(peer))]
    return {
        "codec": case["codec"],
        "message": case["message"],
        "bytes": case["bytes"],
        "ours_us": round(median(ours), 3),
        "aim": _aim(case),
        "peer": case["peer"],
        "peer_us": round(median(peer), 3) if peer else None,
        "ratio": round(median(ratios), 3) if ratios else None,
    }


def _aim(case: Json) -> str | None:
    """The aim with its verdict; None where there is none."""
    if case["message"] != codecs.JUDGED:
        return None
    judged = Ratio("", "", tuple(case["ours_us"]), at_most=codecs.US_MAX, aim=True)
    return f"{judged.format_bound()} µs: {judged.verdict}"


def with_tables(page: str, data: Json) -> str:
    """The page with its generated parts written again.

    Raises:
        ValueError: the page lacks a marker.
    """
    for name, lines in (
        ("where", _describe_run(data)),
        ("tax", _tax(data)),
        ("codecs", _codecs(data)),
    ):
        page = marked_parts.replace_part(page, name, lines)
    return page


def _describe_run(data: Json) -> list[str]:
    therefore = (
        "which makes calls more expensive, in some rows more than in others (last column). "
        "The sides of the ratios took turns, so trust them more than the microseconds."
    )
    return [marked_parts.describe_run(data, data["others_share"], therefore)]


def _tax(data: Json) -> list[str]:
    head = (
        f"| stack | Submit {data['submit_bytes']} B, frame | decode | bytes per call "
        "| CreditControl, decode | over REST json at equal bytes | aim | other work |"
    )
    lines = [head, "|---|---|---|---|---|---|---|---|"]
    for row in data["stacks"]:
        beside, ratio, aim = row["beside_rest"], "–", "–"
        if beside is not None:
            ratio = (
                f"{beside['ratio']:.2f} [{beside['low']:.2f} … {beside['high']:.2f}] "
                f"at {beside['bytes_per_call'][0]:,} and {beside['bytes_per_call'][1]:,} B"
            )
            aim = f"{beside['bound']}: {beside['verdict']}" if beside["bound"] else "none"
        lines.append(
            f"| `{row['stack']}` | {row['frame_us']:.2f} µs | {row['decode_us']:.2f} µs "
            f"| {row['bytes_per_call']:,} | {row['small_us']:.2f} µs | {ratio} | {aim} "
            f"| {row['others_share']:.0%} |"
        )
    return [*lines, "", f"Without a row: {_list_untaxed()}."]


def _list_untaxed() -> str:
    """Each reason once, with the names of its codecs and bindings."""
    by_reason: dict[str, list[str]] = {}
    for name, reason in tax.UNTAXED.items():
        by_reason.setdefault(reason, []).append(f"`{name}`")
    return "; ".join(f"{', '.join(names)} ({reason})" for reason, names in by_reason.items())


def _codecs(data: Json) -> list[str]:
    head = "| codec | message | bytes | encode + decode | aim | ours / peer |"
    lines = [head, "|---|---|---|---|---|---|"]
    for row in data["codecs"]:
        peer = "no peer"
        if row["peer"] is not None:
            peer = f"{row['ratio']:.2f} of {row['peer']}, {row['peer_us']:,.2f} µs"
        lines.append(
            f"| {row['codec']} | {row['message']} | {row['bytes']:,} "
            f"| {row['ours_us']:,.2f} µs | {row['aim'] or '–'} | {peer} |"
        )
    return lines


XML_ROWS = ("service-xml", "xml-writers")


def with_xml_tables(page: str, document: Json) -> str:
    """The page with its parts on XML written again from a run's own file.

    Raises:
        ValueError: the page lacks a marker.
        KeyError: a row was not taken.
    """
    rows = document["rows"]
    parts = (
        ("where of xml", [marked_parts.describe_run(document, 0.0, "")]),
        ("service-xml", _xml_services(rows["service-xml"])),
        ("xml-writers", _xml_writers(rows["xml-writers"])),
    )
    for name, lines in parts:
        page = marked_parts.replace_part(page, name, lines)
    return page


def _xml_services(row: Json) -> list[str]:
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
            f"| {judged.format_bound()}: {judged.verdict} |"
        )
    return lines


def _xml_writers(row: Json) -> list[str]:
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
