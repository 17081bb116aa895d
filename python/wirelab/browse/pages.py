"""The pages as HTML: templates with escaping, and the style of the reports."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from importlib import resources
from pathlib import Path
from typing import Any
from urllib.parse import quote

from jinja2 import Environment, PackageLoader, StrictUndefined
from markupsafe import Markup, escape

from wirelab.browse import reports
from wirelab.browse.comparing import Versus
from wirelab.browse.live import RunState
from wirelab.browse.summary import UNREADABLE, Summary, modification_time
from wirelab.browse.tree import Entry, Tree
from wirelab.comparisons.finished_runs import NOT_INTERLEAVED, SHOWN
from wirelab.format.sanitize import sanitize
from wirelab.report.page import NAME
from wirelab.report.section import split_at_joints

LISTED_MAX = 300
"""Maximum number of run directories on the page that lists them; the newest are shown."""
PENDING = "reading…"
"""Shown in place of a result that is not known yet."""


@dataclass(frozen=True)
class Line:
    """A row of the list of runs."""

    entry: Entry
    summary: Summary | None
    """None: not read yet."""
    link: str = ""
    """Address of the report; empty if there is none."""
    is_part: bool = False
    """True if it is inside the entry of a row above."""

    @property
    def is_comparable(self) -> bool:
        """True for a run that is not known to be unreadable."""
        return self.entry.kind == "run" and not _is_unreadable(self.summary)

    @property
    def values(self) -> dict[str, str]:
        """What can change while the page is open, as shown."""
        if self.summary is None:
            return {"status": PENDING, "trials": "", "result": "", "experiment": "", "started": ""}
        one = self.summary
        failed = f"\n{one.failed:,} failed" if one.failed else ""
        return {
            "status": one.status,
            "trials": sanitize(f"{one.trials}{failed}"),
            "result": sanitize(one.result),
            "experiment": sanitize(one.experiment),
            "started": one.started,
        }


def lines(tree: Tree, found: dict[str, Summary | None], beside: Path | None = None) -> list[Line]:
    """The rows, newest first, each followed by the parts inside it. ``beside`` is the file that
    the page is written to, which links to reports by their paths."""

    def line(entry: Entry) -> Line:
        summary = found[entry.id]
        link = _link(entry, beside) if beside else f"/report/{entry.id}"
        if _is_unreadable(summary):
            link = ""
        return Line(entry, summary, link, bool(entry.parent))

    def age(entry: Entry) -> tuple[str, str]:
        summary = found[entry.id]
        return (summary.started if summary else modification_time(entry), entry.name)

    made: list[Line] = []
    waiting = sorted((one for one in tree.entries.values() if not one.parent), key=age)
    while waiting:
        entry = waiting.pop()
        made.append(line(entry))
        waiting += reversed(tree.list_inside(entry))
    return made


def _is_unreadable(summary: Summary | None) -> bool:
    return summary is not None and summary.status in UNREADABLE


def _link(entry: Entry, file: Path) -> str:
    """Relative address of a report that exists."""
    path = entry.folder / NAME
    if path.is_symlink() or not path.is_file():
        return ""
    return quote(os.fsencode(os.path.relpath(path, file.parent)))


def index(tree: Tree, rows: Sequence[Line]) -> str:
    """The list of runs, with a form to compare them."""
    return _render("index.html.j2", **_index(tree, rows), served=True)


def index_file(tree: Tree, rows: Sequence[Line]) -> str:
    """The list of runs as one file without a script, for reading without the server."""
    return _render("index.html.j2", **_index(tree, rows), served=False)


def _index(tree: Tree, rows: Sequence[Line]) -> dict[str, object]:
    hidden = len(rows) - LISTED_MAX
    more = (f"{hidden:,} older ones are not shown.",) if hidden > 0 else ()
    return {
        "title": f"Runs in {tree.root}",
        "root": str(tree.root),
        "rows": rows[:LISTED_MAX],
        "total": len(rows),
        "notes": (*tree.notes, *more),
    }


def run(
    entry: Entry,
    summary: Summary,
    state: RunState | None,
    facts: Sequence[tuple[str, str]],
    files: Sequence[reports.DissectionFile],
    parts: Sequence[Line],
) -> str:
    """One run directory: progress and figures so far, and links to its pages. ``state`` is None
    for a directory without trials of its own."""
    return _render(
        "run.html.j2",
        title=entry.name,
        entry=entry,
        summary=summary,
        state=state,
        facts=facts,
        files=files,
        parts=parts,
        figures=[one.title for one in SHOWN],
        served=True,
    )


def compare(first: Entry, limit: float, versus: Sequence[Versus]) -> str:
    """The comparison of runs with the first of them."""
    ids = [first.id, *(one.entry.id for one in versus)]
    return _render(
        "compare.html.j2",
        title=f"{first.name} compared",
        first=first,
        limit=f"{100.0 * limit:g} %",
        versus=versus,
        warning=NOT_INTERLEAVED,
        query="&".join(f"run={one}" for one in ids),
        served=True,
    )


def message(title: str, text: str) -> str:
    """A page with one sentence."""
    return _render("message.html.j2", title=title, text=text, served=True)


@cache
def style() -> str:
    """The style of the reports and what these pages add to it."""
    shared = (
        resources.files("wirelab.report").joinpath("assets", "page.css").read_text(encoding="utf-8")
    )
    return shared + resources.files(__package__).joinpath("browse.css").read_text(encoding="utf-8")


@cache
def script() -> str:
    """The script of these pages."""
    return resources.files(__package__).joinpath("browse.js").read_text(encoding="utf-8")


@cache
def _environment() -> Environment:
    environment = Environment(
        loader=PackageLoader("wirelab.browse", "templates"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters["sanitize"] = sanitize
    environment.filters["shown"] = _escape
    return environment


def _render(name: str, **values: Any) -> str:
    return _environment().get_template(name).render(style=Markup(style()), **values)


def _escape(text: str) -> Markup:
    """The text, escaped, without control characters; lines may end where its parts meet."""
    return Markup("<wbr>").join(escape(part) for part in split_at_joints(sanitize(text)))
