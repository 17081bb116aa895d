"""What --publish writes: pages of the docs, each from certain rows."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from bench.pages import engine_tax, measurements
from bench.rows import tax

Json = dict[str, Any]


@dataclass(frozen=True)
class Page:
    """A page, and the rows without which it is not written."""

    file: Path
    rows: tuple[str, ...]
    requested: str
    """How --rows names them."""
    publish: Callable[[Json], None]


def _parts(
    file: Path, rows: tuple[str, ...], requested: str, with_parts: Callable[[str, Json], str]
) -> Page:
    """A page whose generated parts are written again from a run's own file, and nothing else."""

    def publish(document: Json) -> None:
        file.write_text(with_parts(file.read_text(), document))

    return Page(file, rows, requested, publish)


PAGES = (
    Page(
        engine_tax.PAGE,
        (*tax.STACKS, engine_tax.CODECS),
        "tax,codecs",
        engine_tax.publish,
    ),
    _parts(
        engine_tax.PAGE,
        engine_tax.XML_ROWS,
        ",".join(engine_tax.XML_ROWS),
        engine_tax.with_xml_tables,
    ),
    _parts(
        measurements.CAPTURE_PAGE,
        (measurements.CAPTURE_ROW,),
        "capture",
        measurements.capture_parts,
    ),
    _parts(measurements.HOST_PAGE, (measurements.HOST_ROW,), "host", measurements.host_parts),
    _parts(
        measurements.STARTUP_PAGE,
        (measurements.STARTUP_ROW,),
        "startup",
        measurements.startup_parts,
    ),
    _parts(measurements.BUILD_PAGE, (measurements.BUILD_ROW,), "build", measurements.build_parts),
    _parts(measurements.LINKS_PAGE, (measurements.LINKS_ROW,), "links", measurements.links_parts),
    _parts(
        measurements.PEERS_PAGE,
        measurements.PEERS_ROWS,
        ",".join(measurements.PEERS_ROWS),
        measurements.peers_parts,
    ),
)


def reason_not_to_publish(rows: Sequence[str], quick: bool) -> str | None:
    """Why a run of these rows cannot be published, with the remedy; None when it can."""
    if quick:
        return "a quick run has no figures; leave --quick out"
    for page in PAGES:
        missing = [key for key in page.rows if key not in rows]
        if missing and len(missing) < len(page.rows):
            return f"rows {', '.join(missing)} are missing; use --rows {page.requested}"
    if not any(set(page.rows) <= set(rows) for page in PAGES):
        return f"no page shows these rows; use --rows {' or '.join(p.requested for p in PAGES)}"
    return None


def publish(document: Json, requested: Sequence[str]) -> list[str]:
    """Writes the pages whose rows were asked for; what could not be written, with the reason."""
    undone = []
    for page in PAGES:
        if not set(page.rows) <= set(requested):
            continue
        missing = [key for key in page.rows if key not in document["rows"]]
        if missing:
            undone.append(f"{page.file.name} is not written: {', '.join(missing)} was not taken")
        else:
            page.publish(document)
    return undone
