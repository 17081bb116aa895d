"""``wirelab dissect``."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Annotated, Any

import typer

from wirelab import dissection, run_directory
from wirelab.cli.edges import out, told
from wirelab.dissection import Look
from wirelab.errors import EXIT_OK, UsageError
from wirelab.interruption import Interruption
from wirelab.scratch import Scratch

Json = dict[str, Any]


@told
def dissect(
    what: Annotated[
        Path,
        typer.Argument(metavar="FILE|RUN", help="A capture (pcap, pcapng), or a run's folder."),
    ],
    port: Annotated[
        int | None, typer.Option(min=1, max=65535, help="Only connections of that TCP port.")
    ] = None,
    timeline: Annotated[
        int | None, typer.Option(min=1, help="The exchange to show packet by packet, from 1.")
    ] = None,
    svg: Annotated[
        Path | None, typer.Option(help="Write that exchange as a drawing.", metavar="FILE")
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print the whole document.")] = False,
) -> int:
    """Say of a capture what its packets cost, and what they waited for."""
    look = Look(port=port, timeline=timeline)
    with Interruption() as interruption, Scratch() as scratch:
        log = scratch.folder / "dissect.log"
        documents = [
            dissection.dissect(file, look, log=log, interruption=interruption)
            for file in _captures(what)
        ]
    if svg is not None:
        _draw(documents[0], svg)
    if as_json:
        print(json.dumps(documents if what.is_dir() else documents[0], indent=1))
        return EXIT_OK
    for document in documents:
        _show(document, many=len(documents) > 1)
    return EXIT_OK


def _captures(what: Path) -> list[Path]:
    """The file itself, or every capture of a run. Raises :class:`UsageError`."""
    if what.is_dir():
        run_directory.read_manifest(what)
        found = sorted((what / "trials").glob("*/capture-*.pcapng"))
        if not found:
            raise UsageError(
                f"{what} holds no capture", "run the experiment again with `capture: client`"
            )
        return found
    if not what.exists():
        raise UsageError(f"{what} does not exist", "name a capture, or a run's folder")
    return [what]


def _show(document: Json, *, many: bool) -> None:
    from wirelab.report import dissected

    if many:
        out.print(f"\n{document['file']}", style="bold", markup=False, highlight=False)
    for line in dissected.lines(document):
        out.print(line, markup=False, highlight=False, no_wrap=True, crop=False)


def _draw(document: Json, file: Path) -> None:
    from wirelab.report import timeline

    name = (document["timeline_of"] or {}).get("name") or document["file"]
    drawn = timeline.picture(document, str(name))
    if drawn is None:
        raise UsageError(f"--svg: {document['file']} holds no whole exchange")
    try:
        file.write_text(drawn.svg, encoding="utf-8")
    except OSError as error:
        raise UsageError(f"--svg {file} cannot be written: {error.strerror}") from error
