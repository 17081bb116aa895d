"""``wirelab dissect``."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any

import typer

from wirelab import dissection, reconciliation, run_directory
from wirelab.cli.edges import err, out, told
from wirelab.counting import counted
from wirelab.dissection import Look
from wirelab.errors import EXIT_BY_VERDICT, EXIT_FAILED, EXIT_OK, UsageError
from wirelab.interruption import Interruption
from wirelab.scratch import Scratch

Json = dict[str, Any]


@dataclass(frozen=True)
class Asked:
    """Options of a test."""

    repeats: int | None
    causes: Sequence[str]
    out: Path | None
    unverified: bool


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
    calls: Annotated[
        Path | None,
        typer.Option(
            metavar="LOG",
            help="The engine's log of calls, to be laid beside the packets of a FILE; a RUN has "
            "its own.",
        ),
    ] = None,
    svg: Annotated[
        Path | None, typer.Option(help="Write that exchange as a drawing.", metavar="FILE")
    ] = None,
    test: Annotated[
        bool,
        typer.Option(
            "--test",
            help="Flip the switch that each finding of a RUN blames, and run again. Exit code 0: "
            "all hold, 1: one does not, 5: undecided.",
        ),
    ] = False,
    repeats: Annotated[
        int | None,
        typer.Option(min=2, max=1000, help="With --test: trials per cell. [default: 4]"),
    ] = None,
    cause: Annotated[
        list[str] | None,
        typer.Option(help="With --test: only that finding, however small. May be repeated."),
    ] = None,
    directory: Annotated[
        Path | None,
        typer.Option(
            "--out",
            metavar="DIR",
            help="With --test: its run directory; an unfinished test in it goes on. "
            "[default: RUN/tests]",
        ),
    ] = None,
    unverified: Annotated[
        bool,
        typer.Option(
            "--unverified", help="With --test: run services too that did not pass `verify`."
        ),
    ] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print the whole document.")] = False,
) -> int:
    """Say of a capture what its packets cost, and what they waited for."""
    if test:
        asked = Asked(repeats, cause or [], directory, unverified)
        return _test(what, asked, as_json=as_json)
    _only_with_test(
        {"--repeats": repeats, "--cause": cause, "--out": directory, "--unverified": unverified}
    )
    if calls is not None and what.is_dir():
        raise UsageError("--calls belongs to a FILE: a RUN has its own logs", "leave it out")
    with Interruption() as interruption, Scratch() as scratch:
        log = scratch.folder / "dissect.log"
        documents = []
        for file in _captures(what):
            own = reconciliation.beside(file) if what.is_dir() else calls
            look = Look(port=port, timeline=timeline, calls=own)
            documents.append(dissection.dissect(file, look, log=log, interruption=interruption))
    documents = reconciliation.joined(documents)
    if timeline is not None:
        _accept_timeline(timeline, documents)
    if svg is not None:
        _draw(documents[0], svg)
    if as_json:
        print(json.dumps(documents if what.is_dir() else documents[0], indent=1))
        return EXIT_OK
    for document in documents:
        _show(document, what if what.is_dir() else None, many=len(documents) > 1)
    return EXIT_OK


def _test(what: Path, asked: Asked, *, as_json: bool) -> int:
    from wirelab import intervention, report
    from wirelab.progress import OnConsole
    from wirelab.report import tested

    if what.is_file():
        raise UsageError(
            f"--test: {what} is a capture, which nobody can run again",
            "name the folder of a run; `wirelab run FILE` makes one, with `capture: client`",
        )
    made = intervention.intervene(
        what,
        repeats=asked.repeats or intervention.REPEATS,
        causes=asked.causes,
        out=asked.out,
        unverified=asked.unverified,
        progress=OnConsole(err),
    )
    pages = [report.write(folder) for folder in (what, made.folder) if folder is not None]
    if as_json:
        print(json.dumps(made.to_json(), indent=1))
    else:
        for line in tested.lines(made.outcome):
            out.print(line, markup=False, highlight=False, soft_wrap=True)
        for page in pages:
            out.print(f"Report: {page}", markup=False, soft_wrap=True)
    return EXIT_FAILED if made.failed else EXIT_BY_VERDICT[made.outcome.verdict]


def _only_with_test(given: dict[str, object]) -> None:
    for option, value in given.items():
        if value:
            raise UsageError(f"{option} belongs to --test", "add --test, or leave it out")


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
    if str(what) == "-":
        raise UsageError("dissect reads files, not standard input", "`wirelab-engine dissect -`")
    if not what.exists():
        raise UsageError(f"{what} does not exist", "name a capture, or a run's folder")
    return [what]


def _accept_timeline(number: int, documents: Sequence[Json]) -> None:
    """Raises :class:`UsageError` where no capture holds so many exchanges."""
    most = max(document["exchanges"]["count"] for document in documents)
    if number > most:
        held = f"no more than {counted(most, 'exchange')} can be seen"
        raise UsageError(f"--timeline {number}: {held}", "give a smaller number, or leave it out")


def _show(document: Json, run: Path | None, *, many: bool) -> None:
    from wirelab.report import causes, dissected

    standing = None if run is None else causes.of_run(Path(document["file"]), run)
    if many:
        out.print(f"\n{document['file']}", style="bold", markup=False, highlight=False)
    for line in dissected.lines(document, standing):
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
