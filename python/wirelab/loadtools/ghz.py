"""ghz, the common load tool for gRPC (github.com/bojand/ghz): its options, and its report.

From its source, version 0.120.0. A latency lasts from the start of a call in the client library to
its end (``stats.Begin`` and ``stats.End`` of grpc-go). ``average`` covers all calls; ``fastest``,
``slowest`` and ``latencyDistribution`` cover successful calls unless ``--count-errors`` is given.
``total`` ends when the last call in flight has ended (``--duration-stop wait``). ``details``
contains at most a million calls. With a time limit ghz ignores the number of calls, with ``-x`` as
well as with ``-z``, contrary to its help.
"""

from __future__ import annotations

import gzip
import json
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from pathlib import Path

import msgspec

from wirelab import installation
from wirelab.documents.axes import Axes
from wirelab.documents.event import Progress
from wirelab.documents.plan import Window
from wirelab.errors import TrialFailed
from wirelab.loadtools import tool_run
from wirelab.loadtools.parsing import Options, number, seconds, times, whole
from wirelab.loadtools.tool import Tool
from wirelab.loadtools.tool_report import ALL_CHECKS, REPORT_CHECKS, ToolOptions, ToolReport
from wirelab.loadtools.tool_run import ToolRun
from wirelab.process import usage
from wirelab.process.interruption import Interruption
from wirelab.records.caller import CallerRecord
from wirelab.records.group import GroupResult, Times, Warmup

SERVICE = "wirelab.transfer.v1.Transfer"
EMPTY_REQUEST = "{}"
"""Payload of Hello and HelloBytes, as JSON."""
ABOVE_MIN = 10
"""Minimum number of samples above a percentile."""
PERCENTILES = (50, 90, 99)
"""Percentiles to report."""
SLOT_NS = 100_000_000
"""Interval of the series: a tenth of a second, like the engine's."""
MARGIN_S = 30.0
"""Time allowed beyond warm-up or window and the timeout: start, and writing the report."""
EXAMPLES_MAX = 5
KINDS = {"DeadlineExceeded": "timeout"}
"""gRPC status -> kind of error, if the status determines the kind."""


class GhzCall(msgspec.Struct, frozen=True):
    """One entry of ``details``."""

    timestamp: str
    """End of the call, RFC 3339."""
    latency: int
    """Nanoseconds."""
    status: str


class GhzPercentile(msgspec.Struct, frozen=True):
    """One entry of ``latencyDistribution``."""

    percentage: int
    latency: int
    """Nanoseconds."""


class GhzOptions(msgspec.Struct, frozen=True):
    """Options of the run."""

    processors: int | None = msgspec.field(default=None, name="CPUs")


class GhzReport(msgspec.Struct, frozen=True, rename="camel"):
    """Output of ghz with ``-O json``; times in nanoseconds."""

    count: int
    total: int
    average: float
    fastest: int
    slowest: int
    rps: float
    status_code_distribution: dict[str, int]
    error_distribution: dict[str, int] | None = None
    latency_distribution: tuple[GhzPercentile, ...] | None = None
    details: tuple[GhzCall, ...] | None = None
    options: GhzOptions = GhzOptions()


@dataclass(frozen=True)
class ToolRequest:
    """Parameters of a ghz run."""

    target: str
    axes: Axes
    operation: str
    users: int
    window: Window
    warmup_s: float
    """0: no warm-up."""
    timeout_s: float
    processors: int
    """GOMAXPROCS."""
    cores: tuple[int, ...] = ()
    namespace: str | None = None
    """Network namespace."""
    group: Path | None = None
    """Control group that limits its CPU."""

    @property
    def window_s_max(self) -> float:
        """Maximum length of the window."""
        calls = self.window.calls
        return calls.max_s if calls else self.window.duration_s or 0.0

    @property
    def calls_planned(self) -> int | None:
        """Number of calls planned for the window; None: it ends by time."""
        return self.window.calls.calls if self.window.calls else None


def command(tool: Tool, request: ToolRequest, window: Window, report: Path) -> list[str]:
    """The command line of one run. A call in flight at the end of the window is waited for. A
    number of calls has no time limit (see :func:`shorter`)."""
    calls = window.calls
    length = ["-n", str(calls.calls)] if calls else ["-z", _duration(window.duration_s or 0.0)]
    compression = ["--enable-compression"] if request.axes.compression == "gzip" else []
    return [
        *(str(tool.path), "--insecure"),
        *("--proto", str(installation.folder("contracts") / "transfer.proto")),
        *("--call", f"{SERVICE}.{request.operation}", "-d", EMPTY_REQUEST),
        *("-c", str(request.users), "--connections", str(request.users)),
        *(*length, "--duration-stop", "wait", "-t", _duration(request.timeout_s)),
        *("--cpus", str(request.processors), "--count-errors", *compression),
        *("-O", "json", "-o", str(report), request.target),
    ]


def drive(
    tool: Tool,
    request: ToolRequest,
    folder: Path,
    *,
    interruption: Interruption,
    on_progress: Callable[[Progress], None] = lambda _: None,
    on_tick: Callable[[], None] = lambda: None,
) -> tuple[GroupResult, CallerRecord]:
    """Warms the service up with one run and measures with a second one. Returns the measurements
    and the identity of the tool. ``folder`` receives the report as ghz wrote it.

    Raises :class:`TrialFailed` if ghz fails or its report cannot be read, and
    :class:`Interrupted` on request.
    """
    warmup: GhzReport | None = None

    def run(phase: str, window: Window, window_s_max: float) -> tuple[GhzReport, ToolRun]:
        on_progress(_progress(phase))
        report = folder / f"{tool.name}-{phase}.json"
        done = tool_run.run(
            command(tool, request, window, report),
            log=folder / f"{tool.name}.log",
            cores=request.cores,
            namespace=request.namespace,
            group=request.group,
            seconds_max=window_s_max + request.timeout_s + MARGIN_S,
            interruption=interruption,
            on_tick=on_tick,
        )
        return read(report), done

    if request.warmup_s > 0:
        warmup, _ = run("warmup", Window(duration_s=request.warmup_s), request.warmup_s)
    report, done = run("measure", shorter(request.window, warmup), request.window_s_max)
    on_progress(_progress("drain"))
    return outcome(tool, request, report, done, warmup)


def _progress(phase: str) -> Progress:
    """Called regularly; ghz reports no counts while it runs."""
    return Progress(phase=phase, calls=0, errors=0, elapsed_s=0.0, in_flight=0)


def shorter(window: Window, warmup: GhzReport | None) -> Window:
    """Converts a number of calls with a time limit into the one of the two that ends first, at the
    rate of the warm-up, because ghz does not support both. Without a warm-up: the number of
    calls."""
    calls = window.calls
    if calls is None or warmup is None or calls.calls <= warmup.rps * calls.max_s:
        return window
    return Window(duration_s=calls.max_s)


def read(path: Path) -> GhzReport:
    """Reads a report and compresses its file, which lists every call. Raises
    :class:`TrialFailed`."""
    try:
        text = path.read_bytes()
        report = msgspec.json.decode(text, type=GhzReport)
    except msgspec.ValidationError as error:
        raise TrialFailed(f"the report of ghz has an unknown structure: {error}") from error
    except (OSError, ValueError) as error:
        raise TrialFailed(f"the report of ghz cannot be read: {error}") from error
    with gzip.open(path.with_suffix(".json.gz"), "wb", compresslevel=1) as packed:
        packed.write(text)
    path.unlink()
    return report


def outcome(
    tool: Tool,
    request: ToolRequest,
    report: GhzReport,
    done: ToolRun,
    warmup: GhzReport | None,
) -> tuple[GroupResult, CallerRecord]:
    """Result of one measured run, and the process that made the calls. Time stamps and counters
    that ghz does not have are left out."""
    try:
        group = _group(request, report, done.wall_offset_ns, warmup)
    except ValueError as error:
        raise TrialFailed(f"the report of ghz has an unknown structure: {error!r}") from error
    start_ns = group.window_start_ns or 0
    end_ns = start_ns + round(group.window_s * 1e9)
    cpu_s = done.cpu_within(start_ns, end_ns)
    user_s, system_s = usage.split(done.ended, cpu_s)
    caller = CallerRecord(
        cpu_user_s=user_s,
        cpu_system_s=system_s,
        cpu_process_s=done.ended.cpu_user_s + done.ended.cpu_system_s,
        rss_max_bytes=done.rss_max_bytes,
        switches_involuntary=done.ended.switches_involuntary,
        steal_s=done.steal_within(start_ns, end_ns),
        cores=request.cores,
        processors=report.options.processors,
        runs=1 if warmup is None else 2,
        caller=tool.name,
        version=tool.version,
        libraries=dict(tool.libraries),
        sha256=tool.sha256,
    )
    return replace(group, cpu_s=cpu_s), caller


def _group(
    request: ToolRequest, report: GhzReport, wall_offset_ns: int, warmup: GhzReport | None
) -> GroupResult:
    calls, details = report.count, report.details
    if calls == 0 or not details:
        raise TrialFailed("no call of ghz ended within the window")
    statuses = dict(report.status_code_distribution)
    ok = statuses.pop("OK", 0)
    window_s = report.total / 1e9
    ends = [(_wall_ns(call.timestamp), call.latency) for call in details]
    start_ns = min(end - latency for end, latency in ends)
    before = 0 if warmup is None else warmup.count
    times = {"response": _times(report)}
    series: tuple[int, ...] = ()
    if len(details) == calls:
        well = [entry for entry, call in zip(ends, details, strict=True) if call.status == "OK"]
        series = _series([end for end, _ in well], start_ns)
        if ok < calls and well:
            times["response_good"] = _times_of([latency for _, latency in well])
    return GroupResult(
        load="closed",
        window_s=window_s,
        window_start_ns=start_ns + wall_offset_ns,
        calls_planned=request.calls_planned,
        calls=calls,
        ok=ok,
        errors=calls - ok,
        errors_by_kind={KINDS.get(name, f"status {name}"): n for name, n in statuses.items()},
        error_examples=tuple(report.error_distribution or ())[:EXAMPLES_MAX],
        rate_per_s=ok / window_s,
        connections_opened=request.users * (1 if warmup is None else 2),
        calls_whole_run=before + calls,
        warmup=Warmup(0.0 if warmup is None else warmup.total / 1e9, before),
        times=times,
        series=series,
    )


def _times(report: GhzReport) -> Times:
    return Times(
        count=report.count,
        mean_ns=report.average,
        min_ns=report.fastest,
        max_ns=report.slowest,
        percentiles_ns={
            f"p{entry.percentage}": entry.latency
            for entry in report.latency_distribution or ()
            if report.count * (100 - entry.percentage) >= 100 * ABOVE_MIN
        },
    )


def _times_of(latencies_ns: Sequence[int]) -> Times:
    """Times from listed latencies; percentiles are defined as in the engine."""
    ordered = sorted(latencies_ns)
    count = len(ordered)
    return Times(
        count=count,
        mean_ns=sum(ordered) / count,
        min_ns=ordered[0],
        max_ns=ordered[-1],
        percentiles_ns={
            f"p{p}": ordered[-(-count * p // 100) - 1]
            for p in PERCENTILES
            if count * (100 - p) >= 100 * ABOVE_MIN
        },
    )


def _series(ends_ns: Sequence[int], start_ns: int) -> tuple[int, ...]:
    """Successful calls per tenth of a second."""
    places = [max(0, end - start_ns) // SLOT_NS for end in ends_ns]
    series = [0] * (max(places, default=-1) + 1)
    for place in places:
        series[place] += 1
    return tuple(series)


def _wall_ns(stamp: str) -> int:
    """Converts an RFC 3339 time stamp to ns since 1970, with microsecond resolution."""
    return round(datetime.fromisoformat(stamp).timestamp() * 1e6) * 1000


def _duration(duration_s: float) -> str:
    """Format of Go's time.ParseDuration."""
    return f"{round(duration_s * 1e6)}us"


FLAGS = (
    *("--insecure", "--skipTLS", "--async", "--count-errors", "--enable-compression", "-e"),
    *("--disable-template-functions", "--disable-template-data", "-v", "--version", "-h"),
    *("--help", "-a"),
)
KNOWN = (
    *FLAGS,
    *("--proto", "--protoset", "--call", "-i", "--import-paths", "--cacert", "--cert", "--key"),
    *("--cname", "--authority", "-d", "--data", "-D", "--data-file", "-b", "--binary"),
    *("-B", "--binary-file", "-m", "--metadata", "-M", "--metadata-file", "--stream-interval"),
    *(
        "--stream-call-duration",
        "--stream-call-count",
        "--reflect-metadata",
        "--max-recv-message-size",
    ),
    *("--max-send-message-size", "-r", "--rps", "-c", "--concurrency", "--connections", "-n"),
    *("--total", "-t", "--timeout", "-z", "--duration", "-x", "--max-duration"),
    *("--duration-stop", "--connect-timeout", "--keepalive", "--name", "--tags", "--cpus"),
    *("--debug", "-o", "--output", "-O", "--format", "--host"),
)
_SCHEDULES = {
    **dict.fromkeys(
        (f"--load-{name}" for name in ("start", "step", "end", "step-duration", "max-duration")),
        ("arrivals",),
    ),
    **dict.fromkeys(
        (
            f"--concurrency-{name}"
            for name in ("start", "step", "end", "step-duration", "max-duration")
        ),
        ("concurrency", "in flight"),
    ),
}
EFFECTS = {
    **_SCHEDULES,
    "--load-schedule": ("arrivals",),
    "--concurrency-schedule": ("concurrency", "in flight"),
    # Its report leaves out the first calls, which the packets contain.
    "--skipFirst": REPORT_CHECKS,
    "--config": ALL_CHECKS,
    "--lb-strategy": ("connections", "in flight"),
}
"""Options that are not modelled, and the checks that depend on each."""


class Ghz:
    """ghz run by a user: ``--connections`` HTTP/2 connections for the whole run, shared by ``-c``
    workers."""

    name = "ghz"

    def read_options(self, words: list[str], output: str) -> ToolOptions:
        """Its defaults: 200 calls by 50 workers over one connection."""
        options = Options.loose(words, FLAGS)
        users = options.count("-c", "--concurrency", default=50)
        connections = options.count("--connections", default=1)
        rate = options.number("-r", "--rps")
        names = ("-c", "--concurrency", "--connections", "-n", "--total", "-z", "--duration")
        timed = options.has("-z", "--duration")
        calls = options.count("-n", "--total", default=200)
        unread = options.unread(EFFECTS, KNOWN)
        off = {check for part in unread for check in part.checks}
        is_async = options.has("--async") or "concurrency" in off
        shared = -(-users // connections) if users and connections else None
        return ToolOptions(
            connections=connections,
            users=None if is_async else users,
            in_flight=None if is_async else shared,
            reuse=True,
            rate=None if "arrivals" in off else rate or None,
            requests=None if timed else calls,
            options=options.format_options(*names, "-r", "--rps", "--async"),
            unread=unread,
        )

    def read_report(self, output: str) -> ToolReport | None:
        """Parses its summary, its JSON, or its CSV of calls."""
        requests = whole(r"^\s+Count:\s+(\d+)", output)
        if requests is None:
            return _document(output) or _calls(output)
        good = whole(r"^\s+\[OK\]\s+(\d+) responses", output) or 0
        shares = {f"p{n}": _time(rf"^\s+{n} % in (.+)$", output) for n in (50, 90, 99)}
        return ToolReport(
            requests=requests,
            failed=requests - good,
            rate_per_s=number(r"^\s+Requests/sec:\s+([\d.]+)", output),
            seconds=_time(r"^\s+Total:\s+(.+)$", output),
            latency_s=times(
                {
                    "mean": _time(r"^\s+Average:\s+(.+)$", output),
                    **shares,
                    "max": _time(r"^\s+Slowest:\s+(.+)$", output),
                }
            ),
            percentile="next",  # `latencies` in runner/reporter.go
            figure="latency",
        )


def _document(output: str) -> ToolReport | None:
    """Parses ``-O json`` and ``-O pretty``."""
    start = output.find("{")
    if start < 0:
        return None
    try:
        value, _ = json.JSONDecoder().raw_decode(output[start:])
        report = msgspec.convert(value, GhzReport)
    except ValueError:  # msgspec's errors are ValueErrors
        return None
    shares = {f"p{entry.percentage}": entry.latency for entry in report.latency_distribution or ()}
    known = {name: ns / 1e9 for name, ns in shares.items() if name in ("p50", "p90", "p99")}
    return ToolReport(
        requests=report.count,
        failed=report.count - report.status_code_distribution.get("OK", 0),
        rate_per_s=report.rps,
        seconds=report.total / 1e9,
        latency_s=known | {"mean": report.average / 1e9, "max": report.slowest / 1e9},
        percentile="next",
        figure="latency in its JSON",
    )


def _calls(output: str) -> ToolReport | None:
    """Parses ``-O csv``: one line per call with milliseconds, error and status."""
    if not re.search(r"^duration \(ms\),status,error$", output, re.M):
        return None
    rows = re.findall(r"^([\d.]+),([^,\n]*),", output, re.M)
    took = sorted(float(ms) / 1e3 for ms, _ in rows)
    if not took:
        return None
    at = {f"p{n}": took[min(len(took) - 1, len(took) * n // 100)] for n in (50, 90, 99)}
    return ToolReport(
        requests=len(took),
        failed=sum(status != "OK" for _, status in rows),
        latency_s={"mean": sum(took) / len(took), **at, "max": took[-1]},
        percentile="next",
        figure="duration in its CSV",
    )


def _time(pattern: str, output: str) -> float | None:
    match = re.search(pattern, output, re.M)
    return seconds(match[1]) if match else None
