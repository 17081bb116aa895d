"""What --publish writes: pages of the docs, each from certain rows."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from bench import (
    capture_page,
    link_page,
    peers_page,
    publication,
    startup_page,
    tax,
    xml_page,
)

Json = dict[str, Any]


@dataclass(frozen=True)
class Page:
    """A page, and the rows without which it is not written."""

    file: Path
    rows: tuple[str, ...]
    asked: str
    """How --rows names them."""
    publish: Callable[[Json], None]


def _parts(
    file: Path, rows: tuple[str, ...], asked: str, with_parts: Callable[[str, Json], str]
) -> Page:
    """A page of which a run's own file makes the generated parts anew, and nothing else."""

    def publish(document: Json) -> None:
        file.write_text(with_parts(file.read_text(), document))

    return Page(file, rows, asked, publish)


PAGES = (
    Page(
        publication.PAGE,
        (*tax.STACKS, publication.CODECS),
        "tax,codecs",
        publication.publish,
    ),
    _parts(xml_page.PAGE, xml_page.ROWS, ",".join(xml_page.ROWS), xml_page.with_parts),
    _parts(capture_page.PAGE, (capture_page.ROW,), "capture", capture_page.with_parts),
    _parts(startup_page.PAGE, (startup_page.ROW,), startup_page.ROW, startup_page.with_parts),
    _parts(link_page.PAGE, (link_page.ROW,), "links", link_page.with_parts),
    _parts(peers_page.PAGE, peers_page.ROWS, ",".join(peers_page.ROWS), peers_page.with_parts),
)


def lacking(rows: Sequence[str], quick: bool) -> str | None:
    """Why a run of these rows cannot be published, with the remedy; None when it can."""
    if quick:
        return "a quick run has no figures; leave --quick out"
    for page in PAGES:
        missing = [key for key in page.rows if key not in rows]
        if missing and len(missing) < len(page.rows):
            return f"rows {', '.join(missing)} are missing; use --rows {page.asked}"
    if not any(set(page.rows) <= set(rows) for page in PAGES):
        return f"no page tells of these rows; use --rows {' or '.join(p.asked for p in PAGES)}"
    return None


def publish(document: Json, asked: Sequence[str]) -> list[str]:
    """Writes the pages whose rows were asked for; what could not be written, with the reason."""
    undone = []
    for page in PAGES:
        if not set(page.rows) <= set(asked):
            continue
        missing = [key for key in page.rows if key not in document["rows"]]
        if missing:
            undone.append(f"{page.file.name} is not written: {', '.join(missing)} was not taken")
        else:
            page.publish(document)
    return undone
