"""What ``wirelab dissect`` does with its options, and what a person gets to see."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path

import msgspec

from wirelab.cli.error_handling import err, out
from wirelab.cli.options.dissect import LiveOptions, TestOptions, ViewOptions
from wirelab.documents.dissection import Dissection
from wirelab.errors import EXIT_BY_VERDICT, EXIT_FAILED, EXIT_OK, UsageError
from wirelab.format.counting import format_count
from wirelab.process.interruption import Interruption
from wirelab.process.scratch import Scratch
from wirelab.run import directory as run_directory
from wirelab.trial import dissected, dissection, reconciliation
from wirelab.trial.dissection import Look
from wirelab.trial.stages import host

FLOWS_FOR_PORTS = 1_000
"""Number of connections whose ports are listed."""


def dissect(source: Path | None, view: ViewOptions, live: LiveOptions, test: TestOptions) -> int:
    """Of a file, a run, or what passes now; returns the exit code. Raises
    :class:`WirelabError`."""
    if live.live:
        of_files = (
            *(view.calls, view.keylog, view.svg, view.timeline, view.slowest, view.messages),
        )
        if source is not None or test.test or any(of_files):
            raise UsageError(
                "--live takes no FILE, and none of --test, --calls, --keylog, --svg, --slowest, "
                "--messages and --timeline",
                "keep the packets by --write, and dissect that file afterwards",
            )
        from wirelab.cli.output import live as output

        return output.run(live, view)
    own = {"--interface": live.interfaces, "--pid": live.pid, "--for": live.duration}
    for option, value in {**own, "--write": live.write}.items():
        if value:
            raise UsageError(f"{option} belongs to --live", "add --live, or leave it out")
    if source is None:
        raise UsageError("nothing to dissect", "name a capture or a run's folder, or use --live")
    return run(source, view, test)


def run(source: Path, view: ViewOptions, test: TestOptions) -> int:
    """Returns the exit code. Raises :class:`WirelabError`."""
    if test.test:
        return _test(source, test, as_json=view.as_json)
    _refuse_contradictions(source, view, test)
    documents = read(source, view)
    if view.svg is not None:
        _draw(documents[0], view.svg)
    is_run = source.is_dir()
    if view.report is not None:
        _write_report(documents, view.report, source if is_run else None)
    if view.as_json:
        print(dissected.text(documents if is_run else documents[0]))
    else:
        show(documents, source if is_run else None, view.port, view.timeline)
    return EXIT_OK


def show(
    documents: Sequence[Dissection],
    run: Path | None,
    port: int | None = None,
    timeline: int | None = None,
) -> None:
    """Prints every document for people; ``run`` is the run that they belong to, ``port`` the only
    one that was read, ``timeline`` the exchange that was chosen. The packets of an exchange of a
    run, which has a capture for each trial, are shown only if it was chosen. Raises
    :class:`WirelabError`."""
    hides_packets = run is not None and timeline is None
    for document in documents:
        shown = msgspec.structs.replace(document, timeline=()) if hides_packets else document
        _show(shown, run, _describe_unused_port(document, port), many=len(documents) > 1)
    if hides_packets:
        out.print("\n--timeline N shows the packets of exchange N.", style="dim")


def _describe_unused_port(document: Dissection, port: int | None) -> str:
    """Says which ports a capture has instead of the given one; empty if it has that one."""
    from wirelab.report import dissection_text

    if port is None or document.flows.count or not document.capture.tcp_packets:
        return ""
    look = Look(flows=FLOWS_FOR_PORTS)
    with Interruption() as interruption, Scratch() as scratch:
        log = scratch.folder / "dissect.log"
        everything = dissection.dissect(
            Path(document.file), look, log=log, interruption=interruption
        )
    return dissection_text.describe_unused_port(port, everything)


def _refuse_contradictions(source: Path, view: ViewOptions, test: TestOptions) -> None:
    """Raises :class:`UsageError` for options that belong to something else."""
    only_with_test = {
        "--repeats": test.repeats,
        "--cause": test.causes,
        "--out": test.directory,
        "--unverified": test.unverified,
        "--ready-timeout": test.ready_timeout_s,
        "--share": test.share,
    }
    for option, value in only_with_test.items():
        if value:
            raise UsageError(f"{option} belongs to --test", "add --test, or leave it out")
    if view.calls is not None and source.is_dir():
        raise UsageError("--calls belongs to a FILE: a RUN has its own logs", "leave it out")
    if view.host_records is not None and source.is_dir():
        raise UsageError("--host-records belongs to a FILE: a RUN has its own", "leave it out")


def read(source: Path, view: ViewOptions) -> list[Dissection]:
    """The dissection of a capture, or of each capture of a run. Raises :class:`WirelabError`."""
    is_run = source.is_dir()
    captures = _captures(source)
    with Interruption() as interruption, Scratch() as scratch:
        log = scratch.folder / "dissect.log"
        documents = []
        for file in captures:
            calls = reconciliation.log_of(file) if is_run else view.calls
            look = Look(
                port=view.port,
                timeline=view.timeline,
                slowest=view.slowest,
                messages=view.messages,
                calls=calls,
                keylog=view.keylog,
                host=host.records_of(file) if is_run else view.host_records,
            )
            documents.append(dissection.dissect(file, look, log=log, interruption=interruption))
    joined = reconciliation.join_dissections(documents)
    if view.timeline is not None:
        _accept_timeline(view.timeline, joined)
    return joined


def _test(source: Path, test: TestOptions, *, as_json: bool) -> int:
    if source.is_file():
        raise UsageError(
            f"--test: {source} is a capture, which cannot be run again",
            "name the folder of a run; `wirelab run FILE` makes one, with `capture: client`",
        )
    from wirelab.report.page import write_page
    from wirelab.report.sections import tested_findings
    from wirelab.run.adaptive import testing
    from wirelab.run.progress import OnConsole

    made = testing.intervene(
        source,
        repeats=test.repeats or testing.REPEATS,
        causes=test.causes,
        out=test.directory,
        unverified=test.unverified,
        ready_timeout_s=test.ready_timeout_s,
        share=test.share,
        progress=OnConsole(err),
    )
    pages = [write_page(folder) for folder in (source, made.folder) if folder is not None]
    if as_json:
        print(json.dumps(made.to_json(), indent=1))
    else:
        for line in tested_findings.lines(made.outcome):
            out.print(line)
        for page in pages:
            out.print(f"Report: {page}")
    return EXIT_FAILED if made.failed else EXIT_BY_VERDICT[made.outcome.verdict]


def _captures(source: Path) -> list[Path]:
    """The file itself, or every capture of a run. Raises :class:`UsageError`."""
    if source.is_dir():
        run_directory.read_manifest(source)
        found = sorted((source / "trials").glob("*/capture-*.pcapng"))
        if not found:
            raise UsageError(
                f"{source} holds no capture", "run the experiment again with `capture: client`"
            )
        return found
    if str(source) == "-":
        raise UsageError("dissect reads files, not standard input", "`wirelab-engine dissect -`")
    if not source.exists():
        raise UsageError(f"{source} does not exist", "name a capture, or a run's folder")
    return [source]


def _accept_timeline(number: int, documents: Sequence[Dissection]) -> None:
    """Raises :class:`UsageError` where no capture holds that number of exchanges."""
    most = max(document.exchanges.count for document in documents)
    if number > most:
        held = f"no more than {format_count(most, 'exchange')} can be seen"
        raise UsageError(f"--timeline {number}: {held}", "give a smaller number, or leave it out")


def _show(document: Dissection, run: Path | None, unused_port: str, *, many: bool) -> None:
    from wirelab.report import dissection_text
    from wirelab.report.sections import packet_findings

    standing = None if run is None else packet_findings.of_run(Path(document.file), run)
    if many:
        out.print(f"\n{document.file}", style="bold")
    for line in dissection_text.lines(document, standing, unused_port):
        out.print(line)


def _write_report(documents: Sequence[Dissection], file: Path, run: Path | None) -> None:
    from wirelab.report import dissection_page
    from wirelab.report.sections import packet_findings

    if len(documents) > 1:
        raise UsageError(
            f"--report: {run} holds {len(documents)} captures, a page shows one",
            "name one of trials/*/capture-*.pcapng",
        )
    (document,) = documents
    standing = None if run is None else packet_findings.of_run(Path(document.file), run)
    dissection_page.write(document, file, standing)


def _draw(document: Dissection, file: Path) -> None:
    from wirelab.report.charts import packet_timeline

    name = (document.timeline_of and document.timeline_of.name) or document.file
    drawn = packet_timeline.picture(document, name)
    if drawn is None:
        raise UsageError(f"--svg: {document.file} holds no whole exchange")
    try:
        file.write_text(packet_timeline.file_content(drawn), encoding="utf-8")
    except OSError as error:
        raise UsageError(f"--svg {file} cannot be written: {error.strerror}") from error
