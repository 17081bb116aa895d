"""docs/reference/parsers.md from the result of ``wirelab parse --json``.

``python -m tools.parsers_page RESULT.json``: the tables between the markers, with the figures of
elfwing2002 next to the measured ones.
"""

from __future__ import annotations

import csv
import json
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from tools import marked_part
from wirelab.format.numbers import digits, limits, quantity
from wirelab.parse.harness import DRIFT_MAX
from wirelab.statistics.interval import Interval

PAGE = Path("docs/reference/parsers.md")
PUBLISHED = Path("studies/published.csv")
BEGIN = "<!-- parsers: made by tools/parsers_page.py -->"
END = "<!-- end of parsers -->"
NOTHING = "-"
NAMES = {
    "Xerces DOM": "xerces-dom",
    "Xerces SAX": "xerces-sax",
    "Crimson DOM": "crimson-dom",
    "Crimson SAX": "crimson-sax",
}
"""The names of the study and of ``wirelab parse``."""
BASE = "Crimson SAX"
"""The fastest parser of the study, to which ratios are."""
WORDS = {"higher": "slower", "lower": "faster"}

Json = dict[str, Any]


def page(text: str, result: Json, published: dict[str, tuple[float, float]]) -> str:
    """The page with new tables. Raises :class:`ValueError` where it lacks a marker."""
    return marked_part.replace(text, BEGIN, END, _tables(result, published))


def read_published_figures(file: Path) -> dict[str, tuple[float, float]]:
    """Mean and standard deviation in ms, by the study's name of the parser."""
    found: dict[str, dict[str, float]] = {}
    with file.open(encoding="utf-8", newline="") as lines:
        for row in csv.DictReader(lines):
            if row["study"] == "elfwing2002" and row["experiment"] == "parsers":
                found.setdefault(row["stack"], {})[row["statistic"]] = float(row["value"])
    return {name: (one["mean"], one["std"]) for name, one in found.items() if "std" in one}


def _tables(result: Json, published: dict[str, tuple[float, float]]) -> Iterator[str]:
    machine = result["machine"]
    yield (
        f"{result['repeats']} processes for each parser, {result['date']}, on {machine['cpu']}, "
        f"{machine['cores']} cores, Linux {machine['kernel']}. Times are means over the "
        f"{len(result['documents'])} messages, as geometric means over processes with 95 % "
        "intervals. `std` is the standard deviation over processes."
    )
    processes = sum(one["processes"] for one in result["parsers"])
    not_calm = sum(one["not_calm"] for one in result["parsers"])
    restless = sum(one["restless"] for one in result["parsers"])
    yield ""
    yield (
        f"The machine's load average was {result['load_average']:.1f} at the end; trials run one "
        f"at a time. In {not_calm} of {processes} processes parses "
        "still became faster or slower when warm-up reached its bound; in "
        f"{restless} the last block differs from the first by more than {DRIFT_MAX:.0%}."
    )
    yield from ("", "### Every parser", "")
    ratio = f"time to that of {result['against']}"
    yield f"| parser | library | geometric mean | 95 % | std | first parse | {ratio} | verdict |"
    yield "|---|---|---|---|---|---|---|---|"
    yield from map(_row, result["parsers"])
    yield from ("", "### Next to the study", "")
    yield from _study(result, published)
    yield from ("", "### By document", "")
    names = list(result["documents"])
    yield f"| parser | {' | '.join(names)} |"
    yield f"|---|{'---|' * len(names)}"
    for one in result["parsers"]:
        if one["documents_ns"]:
            cells = [quantity(one["documents_ns"][name]["estimate"], "ns") for name in names]
            yield f"| `{_name(one)}` | {' | '.join(cells)} |"
    yield from ("", "### Sizes, B", "")
    forms = list(next(iter(result["documents"].values())))
    yield f"| message | {' | '.join(forms)} |"
    yield f"|---|{'---|' * len(forms)}"
    for name, sizes in result["documents"].items():
        yield f"| {name} | {' | '.join(str(sizes[form]) for form in forms)} |"


def _name(one: Json) -> str:
    return f"{one['parser']}@{one['language']}"


def _row(one: Json) -> str:
    if one["parse_ns"] is None:
        why = one["missing"] or f"failed: {'; '.join(one['failures'])}"
        return f"| `{_name(one)}` | {NOTHING} | {NOTHING} | | | | | {why} |"
    parse, first = Interval(**one["parse_ns"]), Interval(**one["first_ns"])
    std = NOTHING if one["std_ns"] is None else quantity(one["std_ns"], "ns")
    ratio, verdict = "1", ""
    if one["comparison"] is not None:
        against = Interval(**one["comparison"]["ratio"])
        ratio = f"{digits(against.estimate)} ({limits(against, '')})"
        verdict = WORDS.get(one["comparison"]["verdict"], one["comparison"]["verdict"])
    cells = (
        f"`{_name(one)}`",
        one["library"],
        quantity(parse.estimate, "ns"),
        limits(parse, "ns"),
        std,
        quantity(first.estimate, "ns"),
        ratio,
        verdict,
    )
    return f"| {' | '.join(cells)} |"


def _study(result: Json, published: dict[str, tuple[float, float]]) -> Iterator[str]:
    by_name = {one["parser"]: one for one in result["parsers"] if one["language"] == "java"}
    yield (
        f"| parser | published, ms (std) | to {BASE} | measured, µs, arithmetic mean (std) "
        f"| to {BASE} |\n"
        "|---|---|---|---|---|"
    )
    base = by_name[NAMES[BASE]]["mean_ns"]
    for name, (mean, std) in published.items():
        one = by_name[NAMES[name]]
        here = one["mean_ns"]
        if here is None or base is None:
            yield f"| {name} | {mean:.2f} ({std:.2f}) | {mean / published[BASE][0]:.1f} | - | - |"
            continue
        spread = NOTHING if one["std_ns"] is None else digits(one["std_ns"] / 1e3)
        yield (
            f"| {name} | {mean:.2f} ({std:.2f}) | {mean / published[BASE][0]:.1f} "
            f"| {digits(here / 1e3)} ({spread}) | {digits(here / base)} |"
        )


if __name__ == "__main__":
    figures = json.loads(Path(sys.argv[1]).read_text(encoding="utf-8"))
    whole = page(PAGE.read_text(encoding="utf-8"), figures, read_published_figures(PUBLISHED))
    PAGE.write_text(whole, encoding="utf-8")
