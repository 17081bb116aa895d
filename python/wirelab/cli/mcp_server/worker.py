"""The process of one tool call: ``python -m wirelab.cli.mcp_server.worker``.

Reads one JSON line from standard input (tool, parameters, limits). Writes JSON lines to standard
output: any number of ``{"progress": …}``, then ``{"result": …}`` or ``{"error": …}``. SIGTERM ends
it like Ctrl-C ends the command.
"""

from __future__ import annotations

import io
import json
import os
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager, redirect_stdout
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, TextIO

from wirelab.cli.mcp_server.bounds import Made, limit_size
from wirelab.cli.mcp_server.limits import Limits
from wirelab.cli.mcp_server.own_names import translate
from wirelab.cli.mcp_server.tools import (
    CompareParameters,
    DissectParameters,
    DriveParameters,
    Parameters,
    ReportParameters,
    accept,
)
from wirelab.errors import EXIT_OK, UsageError, WirelabError
from wirelab.process.interruption import Interruption
from wirelab.run.progress import RemainingWork, Silent

if TYPE_CHECKING:
    from wirelab.documents.event import Progress as EngineProgress
    from wirelab.drive.session import OnProgress
    from wirelab.records.trial import Trial

COLUMNS = 80


class Channel:
    """Writes the lines for the server."""

    def __init__(self, file: TextIO) -> None:
        self._file = file
        self._highest = 0.0

    def write(self, **line: Any) -> None:
        """Writes one line."""
        self._file.write(json.dumps(line) + "\n")
        self._file.flush()

    def progress(self, done: float, total: float | None, message: str) -> None:
        """Reports progress, which never decreases (MCP, utilities, progress)."""
        self._highest = max(self._highest, done)
        self.write(progress=self._highest, total=total, message=message)


class DriveProgress:
    """Seconds of warm-up and window that have passed."""

    def __init__(self, asked: DriveParameters, channel: Channel) -> None:
        from wirelab.drive.progress import Seconds

        self._warmup_s = asked.warmup_s
        window_s = asked.value("duration_s")
        self._total_s = None if window_s is None else self._warmup_s + window_s
        self._seconds, self._channel = Seconds(), channel

    def show(self, progress: EngineProgress) -> None:
        """Reports a line of the engine."""
        if progress.elapsed_s <= 0.0:
            return
        done_s = progress.elapsed_s + (0.0 if progress.phase == "warmup" else self._warmup_s)
        if self._total_s is not None:
            done_s = min(done_s, self._total_s)
        self._channel.progress(done_s, self._total_s, self._seconds.next(progress).text)


class RunProgress(Silent):
    """Trials that have ended."""

    def __init__(self, channel: Channel) -> None:
        self._channel = channel
        self._done = self._total = 0

    def begin(self, work: RemainingWork) -> None:
        """The number of trials is the maximum."""
        self._done, self._total = work.finished, work.trials

    def note(self, text: str) -> None:
        """Passes a message on."""
        self._channel.progress(self._done, self._total or None, text)

    def end_trial(self, trial: Trial) -> None:
        """Counts a trial."""
        self._done += 1
        told = trial.reason or f"{trial.result.rate_per_s:,.0f}/s"
        self.note(f"{trial.point.stack}, repeat {trial.repeat}: {told}")


def drive(asked: DriveParameters, limits: Limits, channel: Channel) -> Made:
    """Raises :class:`WirelabError`."""
    from wirelab.cli.drive import measure
    from wirelab.cli.options import drive as groups
    from wirelab.cli.options.clients import ClientsOptions
    from wirelab.cli.options.stream import StreamOptions
    from wirelab.cli.options.thresholds import DriveThresholdOptions
    from wirelab.cli.output import drive as output

    options = groups.Options(
        asked.target,
        groups.ConnectionOptions(
            connections=asked.connections,
            in_flight=asked.in_flight,
            close=asked.close,
            any_target=limits.remote_host(asked.target) is not None,
        ),
        groups.LoadOptions(
            users=asked.users,
            rate=asked.rate,
            poisson=asked.poisson,
            duration=None if asked.duration_s is None else _seconds(asked.duration_s),
            calls=asked.calls,
            max_time=None if asked.calls is None else _seconds(limits.duration_s),
            warmup=_seconds(asked.warmup_s),
            timeout=_seconds(asked.timeout_s),
        ),
        groups.PatternOptions(),
        groups.MessageOptions(
            method=asked.method,
            headers=tuple(f"{name}: {value}" for name, value in asked.headers.items()),
            data=asked.body,
        ),
        StreamOptions(),
        groups.ContractOptions(operation=asked.operation, size=_size(asked.size_bytes)),
        DriveThresholdOptions(),
        groups.OutputOptions(),
        ClientsOptions(),
    )

    @contextmanager
    def display() -> Iterator[OnProgress]:
        yield DriveProgress(asked, channel).show

    made = measure(options, display)
    return Made(
        _text(lambda: output.show(made.target, made.result)), made.document(), made.exit_code
    )


def compare(asked: CompareParameters, limits: Limits, channel: Channel) -> Made:
    """Raises :class:`WirelabError`."""
    from wirelab.cli.options.common import DirectoryOptions, LoadOptions, RequestOptions
    from wirelab.cli.options.compare import QuestionOptions
    from wirelab.cli.output import compare as output
    from wirelab.cli.output import named_services
    from wirelab.comparisons import pairs
    from wirelab.report.page import write_page

    services = (asked.a, asked.b)
    hosts = [host for host in map(limits.remote_host, services) if host]
    if hosts and asked.rate is None:
        raise UsageError(
            f"{hosts[0]} is on another machine, which a comparison loads at a given rate only",
            "give `rate`, calls per second",
        )
    load = LoadOptions(asked.users, asked.rate, _seconds(asked.duration_s), asked.link)
    request = RequestOptions(operation=asked.operation, size=_size(asked.size_bytes))
    keys = {**named_services.load_keys("compare", load), "allow_targets": sorted(set(hosts))}
    experiment = named_services.of_services("compare", services, request, keys)
    question = QuestionOptions(asked.figure, asked.threshold, asked.pairs_max)
    given = None if asked.directory is None else Path(asked.directory)
    folder = limits.tree("directory", str(DirectoryOptions(given).folder("compare")))
    channel.progress(0, None, f"run directory: {folder}")
    answer = pairs.compare(
        output.read_question(experiment, question),
        folder,
        progress=RunProgress(channel),
        any_target=bool(hosts),
    )
    page = write_page(folder)
    return Made(
        _text(lambda: output.show(answer, page)),
        output.document(answer, folder),
        output.EXIT_BY_OUTCOME[answer.gate.outcome],
    )


def dissect(asked: DissectParameters, limits: Limits, channel: Channel) -> Made:
    """Raises :class:`WirelabError`."""
    import msgspec

    from wirelab.cli.options.dissect import ViewOptions
    from wirelab.cli.output import dissect as output

    source = limits.tree("source", asked.source)
    documents = output.read(source, ViewOptions(port=asked.port, timeline=asked.exchange))
    is_run = source.is_dir()
    return Made(
        _text(
            lambda: output.show(documents, source if is_run else None, asked.port, asked.exchange)
        ),
        msgspec.to_builtins(documents if is_run else documents[0]),
        EXIT_OK,
    )


def report(asked: ReportParameters, limits: Limits, channel: Channel) -> Made:
    """Raises :class:`WirelabError`."""
    from wirelab.cli.output import reproduce as reproduced
    from wirelab.cli.output import run as output
    from wirelab.run import finished
    from wirelab.study import manifest, reproduction

    directory = limits.tree("directory", asked.directory)
    if manifest.is_reproduction(directory):
        made = reproduction.read(directory)
        document = json.loads(_text(lambda: reproduced.show(made, as_json=True)))
        codes: list[int] = []
        text = _text(lambda: codes.append(reproduced.show(made, as_json=False)))
        return Made(text, document, codes[0])
    written = output.Written.of(finished.read(directory))
    return Made(_text(written.show), written.document(), written.exit_code)


def _seconds(value: float) -> str:
    """As the options of the command take it."""
    return f"{value:.9f}".rstrip("0").rstrip(".") + "s"


def _size(value: int | None) -> str | None:
    return None if value is None else f"{value} B"


def _text(show: Callable[[], object]) -> str:
    """What a command prints for people."""
    with redirect_stdout(io.StringIO()) as printed:
        show()
    return printed.getvalue().strip("\n")


TOOLS: dict[type[Parameters], Callable[[Any, Limits, Channel], Made]] = {
    DriveParameters: drive,
    CompareParameters: compare,
    DissectParameters: dissect,
    ReportParameters: report,
}


def main() -> int:
    """Runs the call that standard input names; returns 1 if it failed."""
    channel = Channel(os.fdopen(os.dup(1), "w", encoding="utf-8"))
    os.dup2(2, 1)  # what libraries print must not reach the server
    os.environ["COLUMNS"] = str(COLUMNS)
    order = json.loads(sys.stdin.readline())
    limits = Limits.from_json(order["limits"])
    os.chdir(limits.root)
    tool = order["tool"]
    try:
        asked = accept(tool, order["parameters"], limits)
        made = TOOLS[type(asked)](asked, limits, channel)
        made = replace(made, text=translate(tool, made.text))
        with Interruption():  # the result is written whole, or not at all
            channel.write(result=limit_size(tool, made, limits))
    except WirelabError as error:
        channel.write(error=translate(tool, str(error)))
        return error.exit_code
    except OSError as error:
        where = error.filename or "a file"
        channel.write(error=f"{where} cannot be read or written: {error.strerror}")
        return 1
    return EXIT_OK


if __name__ == "__main__":
    sys.exit(main())
