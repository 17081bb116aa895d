"""What ``wirelab dissect`` does with its options, and what a person gets to see."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from wirelab.cli.error_handling import err, out
from wirelab.errors import EXIT_BY_VERDICT, EXIT_FAILED, EXIT_OK, UsageError
from wirelab.format.counting import counted
from wirelab.process.interruption import Interruption
from wirelab.process.scratch import Scratch
from wirelab.run import directory as run_directory
from wirelab.trial import dissection, reconciliation
from wirelab.trial.dissection import Look

Json = dict[str, Any]


@dataclass(frozen=True)
class Options:
    """As they were given; None, empty and False where they were not."""

    what: Path
    """A capture, or a run's folder."""
    port: int | None
    timeline: int | None
    calls: Path | None
    svg: Path | None
    test: bool
    repeats: int | None
    causes: Sequence[str]
    directory: Path | None
    unverified: bool
    as_json: bool


def run(options: Options) -> int:
    """Returns the exit code. Raises :class:`WirelabError`."""
    if options.test:
        return _test(options)
    _accept(options)
    documents = _documents(options)
    if options.timeline is not None:
        _accept_timeline(options.timeline, documents)
    if options.svg is not None:
        _draw(documents[0], options.svg)
    is_run = options.what.is_dir()
    if options.as_json:
        print(json.dumps(documents if is_run else documents[0], indent=1))
        return EXIT_OK
    for document in documents:
        _show(document, options.what if is_run else None, many=len(documents) > 1)
    return EXIT_OK


def _accept(options: Options) -> None:
    """Raises :class:`UsageError` for options that belong to something else."""
    only_with_test = {
        "--repeats": options.repeats,
        "--cause": options.causes,
        "--out": options.directory,
        "--unverified": options.unverified,
    }
    for option, value in only_with_test.items():
        if value:
            raise UsageError(f"{option} belongs to --test", "add --test, or leave it out")
    if options.calls is not None and options.what.is_dir():
        raise UsageError("--calls belongs to a FILE: a RUN has its own logs", "leave it out")


def _documents(options: Options) -> list[Json]:
    """The dissection of each capture."""
    is_run = options.what.is_dir()
    captures = _captures(options.what)
    with Interruption() as interruption, Scratch() as scratch:
        log = scratch.folder / "dissect.log"
        documents = []
        for file in captures:
            calls = reconciliation.beside(file) if is_run else options.calls
            look = Look(port=options.port, timeline=options.timeline, calls=calls)
            documents.append(dissection.dissect(file, look, log=log, interruption=interruption))
    return reconciliation.joined(documents)


def _test(options: Options) -> int:
    if options.what.is_file():
        raise UsageError(
            f"--test: {options.what} is a capture, which nobody can run again",
            "name the folder of a run; `wirelab run FILE` makes one, with `capture: client`",
        )
    from wirelab.report import tested
    from wirelab.report.page import write_page
    from wirelab.run import adaptive as intervention
    from wirelab.run.progress import OnConsole

    made = intervention.intervene(
        options.what,
        repeats=options.repeats or intervention.REPEATS,
        causes=options.causes,
        out=options.directory,
        unverified=options.unverified,
        progress=OnConsole(err),
    )
    pages = [write_page(folder) for folder in (options.what, made.folder) if folder is not None]
    if options.as_json:
        print(json.dumps(made.to_json(), indent=1))
    else:
        for line in tested.lines(made.outcome):
            out.print(line)
        for page in pages:
            out.print(f"Report: {page}")
    return EXIT_FAILED if made.failed else EXIT_BY_VERDICT[made.outcome.verdict]


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
        out.print(f"\n{document['file']}", style="bold")
    for line in dissected.lines(document, standing):
        out.print(line)


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
