"""ab, wrk and h2load as callers of rest: GET requests to the operation's path.

Only their summaries are known. Calls have no time stamps, and a window ends with the process. ab,
wrk and h2load abandon calls in flight at the end of a timed window. The number of calls that
reached the service is therefore known only if a number of calls was requested.

wrk 4.1 adds calls that it did not make: it corrects latencies for coordinated omission with the
mean interval between calls (``stats_correct`` in wrk.c). A pause of the machine therefore has a
larger effect on its mean than on those of other callers.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from pathlib import Path
from types import MappingProxyType

from wirelab.documents.event import Progress
from wirelab.documents.plan import Window
from wirelab.errors import TrialFailed
from wirelab.loadtools import tool_run
from wirelab.loadtools.ab import ApacheBench
from wirelab.loadtools.ghz import ABOVE_MIN, MARGIN_S, ToolRequest
from wirelab.loadtools.h2load import H2load
from wirelab.loadtools.tool import Tool
from wirelab.loadtools.tool_report import ToolAdapter, ToolReport
from wirelab.loadtools.tool_run import ToolRun
from wirelab.loadtools.wrk import Wrk
from wirelab.process import usage
from wirelab.process.interruption import Interruption
from wirelab.records.caller import CallerRecord
from wirelab.records.group import GroupResult, Times, Warmup

PATHS = MappingProxyType({"Hello": "/transfer/hello", "HelloBytes": "/transfer/hello-bytes"})
"""Operations that rest reads with GET (contracts/README.md)."""

AB_RATE_MAX = 100_000.0
"""Calls per second. ab ends a timed window early when it has made the calls of ``-n``, so it gets
more than it can make: one core makes a tenth of this."""


def _url(request: ToolRequest) -> str:
    return f"http://{request.target}{PATHS[request.operation]}"


def _ab(request: ToolRequest, window: Window) -> list[str]:
    """``-t`` must come first: it sets a number of calls, which ``-n`` replaces; the run ends with
    the first of the two limits."""
    seconds = math.ceil(window.calls.max_s if window.calls else window.duration_s or 0.0)
    calls = window.calls.calls if window.calls else round(AB_RATE_MAX * seconds)
    length = ["-t", str(seconds)]
    timeout = ["-s", str(math.ceil(request.timeout_s))]
    return ["-q", "-r", "-c", str(request.users), *timeout, *length, "-n", str(calls)]


def _wrk(request: ToolRequest, window: Window) -> list[str]:
    closing = ["-H", "Connection: close"] if request.axes.connection.kind == "close" else []
    return [
        *("-t", str(_threads(request)), "-c", str(request.users), *closing, "--latency"),
        *("-d", f"{math.ceil(window.duration_s or 0.0)}s"),
        *("--timeout", f"{math.ceil(request.timeout_s)}s"),
    ]


def _h2load(request: ToolRequest, window: Window) -> list[str]:
    calls = window.calls
    duration_ms = round(1e3 * (window.duration_s or 0.0))
    length = ["-n", str(calls.calls)] if calls else ["-D", f"{duration_ms}ms"]
    version = ["--h1"] if request.axes.transport == "http/1.1" else []
    users, threads = str(request.users), str(_threads(request))
    return [*version, "-c", users, "-m", "1", "-t", threads, *length]


def _threads(request: ToolRequest) -> int:
    """The largest number of threads, up to its processors, that divides the users evenly."""
    most = min(request.processors, request.users)
    return next(n for n in range(most, 0, -1) if request.users % n == 0)


COMMANDS: Mapping[str, Callable[[ToolRequest, Window], list[str]]] = MappingProxyType(
    {"ab": _ab, "wrk": _wrk, "h2load": _h2load}
)
"""Value of the axis ``caller`` -> its options."""
ADAPTERS: Mapping[str, ToolAdapter] = MappingProxyType(
    {"ab": ApacheBench(), "wrk": Wrk(), "h2load": H2load()}
)


def command(tool: Tool, request: ToolRequest, window: Window) -> list[str]:
    """The command line of one run."""
    return [str(tool.path), *COMMANDS[tool.name](request, window), _url(request)]


def drive(
    tool: Tool,
    request: ToolRequest,
    folder: Path,
    *,
    interruption: Interruption,
    on_progress: Callable[[Progress], None] = lambda _: None,
    on_tick: Callable[[], None] = lambda: None,
) -> tuple[GroupResult, CallerRecord]:
    """Warms the service up with one run and measures with a second one. ``folder`` receives the
    output of the tool. Raises :class:`TrialFailed` if it fails or its output cannot be read, and
    :class:`Interrupted` on request."""

    def run(phase: str, window: Window, window_s_max: float) -> tuple[ToolReport, ToolRun]:
        on_progress(Progress(phase=phase, calls=0, errors=0, elapsed_s=0.0, in_flight=0))
        done = tool_run.run(
            command(tool, request, window),
            log=folder / f"{tool.name}.log",
            cores=request.cores,
            namespace=request.namespace,
            group=request.group,
            seconds_max=math.ceil(window_s_max) + request.timeout_s + MARGIN_S,
            interruption=interruption,
            on_tick=on_tick,
        )
        (folder / f"{tool.name}-{phase}.txt").write_text(done.output, encoding="utf-8")
        return read(tool.name, done.output), done

    warmup: ToolReport | None = None
    if request.warmup_s > 0:
        warmup, _ = run("warmup", Window(duration_s=request.warmup_s), request.warmup_s)
    report, done = run("measure", request.window, request.window_s_max)
    on_progress(Progress(phase="drain", calls=0, errors=0, elapsed_s=0.0, in_flight=0))
    return outcome(tool, request, report, done, warmup)


def read(name: str, output: str) -> ToolReport:
    """The tool's report. Raises :class:`TrialFailed`."""
    report = ADAPTERS[name].read_report(output)
    if report is None:
        raise TrialFailed(f"the report of {name} cannot be read")
    if not report.requests or not report.seconds:
        raise TrialFailed(f"no call of {name} ended within the window")
    return report


def outcome(
    tool: Tool,
    request: ToolRequest,
    report: ToolReport,
    done: ToolRun,
    warmup: ToolReport | None,
) -> tuple[GroupResult, CallerRecord]:
    """Result of one measured run, and the process that made the calls. Values that the tool does
    not report are left out."""
    ended, seconds = report.requests or 0, report.seconds or 0.0
    calls = ended + report.unanswered
    # The end is detected only when the process is reaped.
    start_ns = done.cpu[0].at_ns
    end_ns = start_ns + round(seconds * 1e9)
    cpu_s = done.cpu_within(start_ns, end_ns)
    user_s, system_s = usage.split(done.ended, cpu_s)
    errors = min(report.failed or 0, calls)
    ok = calls - errors
    runs = 1 if warmup is None else 2
    # wrk opens additional connections to test the address; ab opens one per call, counted or not.
    is_fixed = tool.name == "h2load"
    is_counted = warmup is None and request.window.calls is not None
    group = GroupResult(
        load="closed",
        window_s=seconds,
        window_start_ns=start_ns,
        calls_planned=request.calls_planned,
        calls=calls,
        ok=ok,
        errors=errors,
        errors_by_kind={f"reported by {tool.name}": errors} if errors else {},
        rate_per_s=ok / seconds,
        connections_opened=request.users * runs if is_fixed else None,
        calls_whole_run=calls if is_counted else None,
        warmup=_warmup(warmup),
        times=_times(request, report, ended, seconds),
        cpu_s=cpu_s,
    )
    caller = CallerRecord(
        cpu_user_s=user_s,
        cpu_system_s=system_s,
        cpu_process_s=done.ended.cpu_user_s + done.ended.cpu_system_s,
        rss_max_bytes=done.rss_max_bytes,
        switches_involuntary=done.ended.switches_involuntary,
        steal_s=done.steal_within(start_ns, end_ns),
        cores=request.cores,
        processors=1 if tool.name == "ab" else _threads(request),
        runs=runs,
        caller=tool.name,
        version=tool.version,
        libraries=dict(tool.libraries),
        sha256=tool.sha256,
    )
    return group, caller


def _warmup(report: ToolReport | None) -> Warmup:
    if report is None:
        return Warmup()
    return Warmup(report.seconds or 0.0, (report.requests or 0) + report.unanswered)


def _times(
    request: ToolRequest, report: ToolReport, calls: int, seconds: float
) -> dict[str, Times]:
    """The mean. If a tool prints none, it is that of a closed load without think time: users x
    seconds / calls, which ab prints as "Time per request". None if the tool prints no largest
    time."""
    largest = report.latency_s.get("max")
    if largest is None:
        return {}
    mean_s = report.latency_s.get("mean", request.users * seconds / calls)
    return {
        "response": Times(
            count=calls,
            mean_ns=mean_s * 1e9,
            min_ns=None,
            max_ns=round(largest * 1e9),
            percentiles_ns={
                name: round(value * 1e9)
                for name, value in report.latency_s.items()
                if name[0] == "p"
                # The tool prints times in steps; nothing is known within a step.
                and value > 0.0
                and calls * (100 - float(name[1:])) >= 100 * ABOVE_MIN
            },
        )
    }
