"""The table of results, and its place in a page."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from tools.marked_part import replace

Json = dict[str, Any]
Results = Mapping[tuple[str, str], Json]

BEGIN, END = "<!-- judge -->", "<!-- /judge -->"
SYMBOLS = {
    ("marked", False): "accused, right",
    ("marked", True): "accused, wrong",
    ("ok", True): "acquitted, right",
    ("ok", False): "acquitted, wrong",
}


def verdicts(result: Json) -> dict[str, str]:
    """By check of which the log knows the answer. The log of a server that waited for a processor
    knows no latency: requests wait before they are read."""
    is_busy = result["checks"].get("machine") == "marked"
    found = {}
    for name, is_right in result["right"].items():
        if is_busy and name == "latency":
            continue
        outcome = result["checks"].get(name)
        if (outcome, is_right) in SYMBOLS:
            found[name] = SYMBOLS[outcome, is_right]
    return found


def text(results: Results, absent: Mapping[str, str], servers: tuple[str, ...]) -> str:
    """Tools by servers, the sums, and the tools that are absent with the reason."""
    tools = list(dict.fromkeys(tool for tool, _ in results))
    lines = [f"| tool | {' | '.join(servers)} |", f"|---|{'---|' * len(servers)}"]
    for tool in tools:
        cells = [_cell(results.get((tool, server))) for server in servers]
        lines.append(f"| `{tool}` | {' | '.join(cells)} |")
    every = [verdict for result in results.values() for verdict in verdicts(result).values()]
    sums = ", ".join(f"{every.count(words)} {words}" for words in SYMBOLS.values())
    lines += ["", f"Of {len(every)} verdicts: {sums}."]
    busy = sum(result["checks"].get("machine") == "marked" for result in results.values())
    if busy:
        lines.append(f"The machine was busy in {busy} of {len(results)} runs: no latency of them.")
    if absent:
        lines.append(f"Left out: {', '.join(f'`{name}` ({why})' for name, why in absent.items())}.")
    return "\n".join(lines)


def _cell(result: Json | None) -> str:
    """``3 of 3``, and each wrong verdict by name."""
    if result is None:
        return "—"
    found = verdicts(result)
    accused = [name for name, words in found.items() if words == SYMBOLS["marked", False]]
    wrong = [f"{name} {words}" for name, words in found.items() if words.endswith("wrong")]
    right = f"{len(found) - len(wrong)} of {len(found)}" if found else "not compared"
    return "; ".join([right, *(f"{name} accused" for name in accused), *wrong])


def write(page: Path, table: str) -> None:
    """Replaces the table between its marks. Raises :class:`ValueError` if the page has none."""
    made = replace(page.read_text(encoding="utf-8"), BEGIN, END, ["", table, ""])
    page.write_text(made, encoding="utf-8")
