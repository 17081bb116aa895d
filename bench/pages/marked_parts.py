"""Pages of the docs of which parts are written by the bench."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from bench.table import DISTURBED
from tools import marked_part

Json = dict[str, Any]


def replace_part(page: str, name: str, lines: Sequence[str]) -> str:
    """The page with that part written again.

    Raises:
        ValueError: the page lacks a marker.
    """
    begin, end = f"<!-- {name}: made by bench -->", f"<!-- end of {name} -->"
    return marked_part.replace(page, begin, end, lines)


def describe_run(document: Json, others_share: float, therefore: str) -> str:
    """When and on what a run was taken; where it was disturbed, by how much, and what follows
    from that for its figures."""
    at = document["machine"]
    text = (
        f"Taken on {document['taken'][:10]} at revision {at['revision']}: {at['processor']}, "
        f"{len(at['cores'])} cores, Linux {at['kernel']}."
    )
    if others_share > DISTURBED:
        text += (
            f" The machine was not quiet: other work had {others_share:.0%} of the two cores, "
            f"{therefore}"
        )
    return text
