"""docs/reference/facts.md from what `wirelab facts` shows: ``python -m tools.facts_page``."""

from __future__ import annotations

import os.path
from collections.abc import Sequence
from pathlib import Path

from wirelab import facts
from wirelab.facts import Fact

PAGE = Path("docs/reference/facts.md")
MEANING = {
    "stated": "stated",
    "measured": "**measured**",
    "unknown": "unknown: no source was read",
}
HEAD = """\
# Properties other than speed

<!-- made by tools/facts_page.py -->
Every stack and every property of `wirelab facts`, with source and date. Tables 4.6 and 4.7 of
[jagannathan2022](../studies/jagannathan2022.md) are where the properties come from. *Stated*: by
the source, as read on that day. *Measured*: the command was run on that day. Stacks with the
same fact share a row.

`wirelab facts STACK…` prints the same for some stacks, `--csv` and `--json` for programs.
"""


def page() -> str:
    """The page; the same facts give the same bytes."""
    found = facts.facts()
    parts = [HEAD]
    for name, about in facts.features():
        rows = [_row(stacks, fact) for stacks, fact in facts.group_shared(found, name)]
        table = ["| stacks | fact | how | source | date |", "|---|---|---|---|---|", *rows]
        parts.append("\n".join([f"## {name.capitalize()}", about, "", *table, ""]))
    return "\n".join(parts)


def _row(stacks: Sequence[str], fact: Fact) -> str:
    shown = ", ".join(f"`{stack}`" for stack in stacks)
    cells = (shown, fact.value, MEANING[fact.kind], _source(fact), fact.date)
    return "| " + " | ".join(cell.replace("|", r"\|") for cell in cells) + " |"


def _source(fact: Fact) -> str:
    if not fact.address:
        return ""
    is_url = "://" in fact.address
    target = fact.address if is_url else os.path.relpath(fact.address, PAGE.parent)
    return f"[{fact.source}]({target})"


if __name__ == "__main__":
    PAGE.write_text(page(), encoding="utf-8")
