"""Apache JMeter 5.6 as caller of rest, with a test plan written for the run.

From its documentation and its results. Times are whole milliseconds. ``elapsed`` lasts from the
start of a sample, including connecting, to the end of the reply; ``timeStamp`` is its start;
``Connect`` is the part until the connection existed (0 for a kept one). A thread starts its next
sample when the last has ended; a sample in flight at the end is waited for. A sample is good if its
status is below 400. The process is a JVM, so the first samples of every run are slow.
"""

from __future__ import annotations

import csv
import math
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from importlib import resources
from pathlib import Path

from wirelab.documents.event import Progress
from wirelab.documents.plan import Window
from wirelab.errors import TrialFailed
from wirelab.loadtools import tool_run
from wirelab.loadtools.ghz import (
    ABOVE_MIN,
    EXAMPLES_MAX,
    MARGIN_S,
    PERCENTILES,
    SLOT_NS,
    ToolRequest,
)
from wirelab.loadtools.http_tools import PATHS
from wirelab.loadtools.tool import Tool
from wirelab.loadtools.tool_run import ToolRun
from wirelab.process import usage
from wirelab.process.interruption import Interruption
from wirelab.records.caller import CallerRecord
from wirelab.records.group import GroupResult, Times, Warmup

FOREVER = -1
"""Number of loops per user in runs that only time ends."""
JVM = (
    *("-Xms1g", "-Xmx1g", "-XX:MaxMetaspaceSize=256m"),
    *("-XX:+UseG1GC", "-XX:MaxGCPauseMillis=100", "-XX:G1ReservePercent=20"),
)
"""JVM options of JMeter's own start script."""
NS_PER_MS = 1_000_000
KINDS = {
    "java.net.SocketTimeoutException": "timeout",
    "org.apache.http.conn.ConnectTimeoutException": "timeout",
    "org.apache.http.conn.HttpHostConnectException": "refused",
    "java.net.ConnectException": "refused",
    "org.apache.http.NoHttpResponseException": "closed",
}
"""Prefix of the status for samples without a status -> kind of error."""
_NO_STATUS = "Non HTTP response code: "


@dataclass(frozen=True)
class Users:
    """A thread group: users with the same number of calls."""

    users: int
    loops: int


@dataclass(frozen=True)
class Sample:
    """One line of the results."""

    start_ms: int
    """Milliseconds since 1970."""
    elapsed_ms: int
    connect_ms: int
    ok: bool
    code: str
    message: str

    @property
    def end_ms(self) -> int:
        """Milliseconds since 1970."""
        return self.start_ms + self.elapsed_ms

    @property
    def kind(self) -> str:
        """Kind of error of a failed sample."""
        code = self.code.removeprefix(_NO_STATUS)
        return KINDS.get(code, "reported by jmeter")


def groups(users: int, calls: int | None) -> list[Users]:
    """Distributes the calls, because a plan has a number per user; None: until the time is over."""
    if calls is None:
        return [Users(users, FOREVER)]
    each, more = divmod(calls, users)
    every = [Users(more, each + 1), Users(users - more, each)]
    return [group for group in every if group.users and group.loops]


def test_plan(request: ToolRequest, window: Window) -> str:
    """The test plan (.jmx) of one run."""
    host, _, port = request.target.rpartition(":")
    bounded_s = window.calls.max_s if window.calls else window.duration_s or 0.0
    template = resources.files("wirelab").joinpath("data/jmeter/plan.jmx.j2")
    import jinja2

    environment = jinja2.Environment(autoescape=True, undefined=jinja2.StrictUndefined)
    return environment.from_string(template.read_text(encoding="utf-8")).render(
        groups=groups(request.users, window.calls.calls if window.calls else None),
        seconds=math.ceil(bounded_s),
        operation=request.operation,
        host=host,
        port=port,
        path=PATHS[request.operation],
        keep=request.axes.connection.kind == "keep",
        timeout_ms=round(1e3 * request.timeout_s),
    )


def command(tool: Tool, request: ToolRequest, folder: Path, phase: str) -> list[str]:
    """The command line of one run of ``jmeter-<phase>.jmx``."""
    return [
        *("java", *JVM, f"-XX:ActiveProcessorCount={request.processors}"),
        # Otherwise it creates a folder in the user's home.
        f"-Djava.util.prefs.userRoot={folder}",
        *("-jar", str(tool.path), "-n", "-t", str(folder / f"jmeter-{phase}.jmx")),
        *("-l", str(folder / f"jmeter-{phase}.jtl"), "-j", str(folder / f"jmeter-{phase}.log")),
        # No port for remote control; results as CSV with column names.
        *("-Jjmeterengine.nongui.port=0", "-Jjmeter.save.saveservice.output_format=csv"),
        "-Jjmeter.save.saveservice.print_field_names=true",
        "-Jsampleresult.timestamp.start=true",
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
    """Warms the service up with one run and measures with a second one. ``folder`` receives plans
    and results. Raises :class:`TrialFailed` if JMeter fails or its results cannot be read, and
    :class:`Interrupted` on request."""

    def run(phase: str, window: Window, window_s_max: float) -> tuple[list[Sample], ToolRun]:
        on_progress(Progress(phase=phase, calls=0, errors=0, elapsed_s=0.0, in_flight=0))
        plan = folder / f"jmeter-{phase}.jmx"
        plan.write_text(test_plan(request, window), encoding="utf-8")
        done = tool_run.run(
            command(tool, request, folder, phase),
            log=folder / "jmeter.log",
            cores=request.cores,
            namespace=request.namespace,
            group=request.group,
            seconds_max=math.ceil(window_s_max) + request.timeout_s + MARGIN_S,
            interruption=interruption,
            on_tick=on_tick,
        )
        return read(folder / f"jmeter-{phase}.jtl"), done

    warmup: list[Sample] = []
    if request.warmup_s > 0:
        warmup, _ = run("warmup", Window(duration_s=request.warmup_s), request.warmup_s)
    samples, done = run("measure", request.window, request.window_s_max)
    on_progress(Progress(phase="drain", calls=0, errors=0, elapsed_s=0.0, in_flight=0))
    return outcome(tool, request, samples, done, warmup)


def read(results: Path) -> list[Sample]:
    """The samples of a JTL file in CSV format. Raises :class:`TrialFailed`."""
    try:
        with results.open(encoding="utf-8", newline="") as lines:
            samples = [_sample(row) for row in csv.DictReader(lines)]
    except (OSError, KeyError, TypeError, ValueError) as error:
        raise TrialFailed(f"the results of jmeter cannot be read: {error!r}") from error
    if not samples:
        raise TrialFailed("no call of jmeter ended within the window")
    return samples


def _sample(row: dict[str, str]) -> Sample:
    return Sample(
        start_ms=int(row["timeStamp"]),
        elapsed_ms=int(row["elapsed"]),
        connect_ms=int(row["Connect"]),
        ok={"true": True, "false": False}[row["success"]],
        code=row["responseCode"],
        message=row["responseMessage"],
    )


def outcome(
    tool: Tool,
    request: ToolRequest,
    samples: Sequence[Sample],
    done: ToolRun,
    warmup: Sequence[Sample],
) -> tuple[GroupResult, CallerRecord]:
    """Result of one measured run, and the process that made the calls. The window lasts from the
    start of the first sample to the end of the last."""
    group = _group(request, samples, done.wall_offset_ns, warmup)
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
        processors=request.processors,
        runs=2 if warmup else 1,
        caller=tool.name,
        version=tool.version,
        libraries=dict(tool.libraries),
        sha256=tool.sha256,
    )
    return replace(group, cpu_s=cpu_s), caller


def _group(
    request: ToolRequest,
    samples: Sequence[Sample],
    wall_offset_ns: int,
    warmup: Sequence[Sample],
) -> GroupResult:
    start_ms = min(sample.start_ms for sample in samples)
    # At least one clock step, also if a single call took less.
    window_s = max(1, max(sample.end_ms for sample in samples) - start_ms) / 1e3
    good = [sample for sample in samples if sample.ok]
    bad = [sample for sample in samples if not sample.ok]
    times = {"response": _times([sample.elapsed_ms for sample in samples])}
    if good and bad:
        times["response_good"] = _times([sample.elapsed_ms for sample in good])
    if request.axes.connection.kind == "close":
        times["connect"] = _times([sample.connect_ms for sample in samples])
    examples = dict.fromkeys(f"{sample.code} {sample.message}".strip() for sample in bad)
    return GroupResult(
        load="closed",
        window_s=window_s,
        window_start_ns=start_ms * NS_PER_MS + wall_offset_ns,
        calls_planned=request.calls_planned,
        calls=len(samples),
        ok=len(good),
        errors=len(bad),
        errors_by_kind=dict(Counter(sample.kind for sample in bad)),
        error_examples=tuple(examples)[:EXAMPLES_MAX],
        rate_per_s=len(good) / window_s,
        calls_whole_run=len(warmup) + len(samples),
        warmup=Warmup(_length_s(warmup), len(warmup)),
        times=times,
        series=_series([sample.end_ms - start_ms for sample in good]),
    )


def _length_s(samples: Sequence[Sample]) -> float:
    if not samples:
        return 0.0
    return (max(one.end_ms for one in samples) - min(one.start_ms for one in samples)) / 1e3


def _times(took_ms: Sequence[int]) -> Times:
    """Percentiles, defined as in the engine; nothing is known below a millisecond."""
    ordered = sorted(took_ms)
    count = len(ordered)
    at = {f"p{p}": ordered[-(-count * p // 100) - 1] for p in PERCENTILES if _has(count, p)}
    return Times(
        count=count,
        mean_ns=sum(ordered) / count * NS_PER_MS,
        min_ns=ordered[0] * NS_PER_MS or None,
        max_ns=ordered[-1] * NS_PER_MS,
        percentiles_ns={name: ms * NS_PER_MS for name, ms in at.items() if ms},
    )


def _has(count: int, percentile: int) -> bool:
    return count * (100 - percentile) >= 100 * ABOVE_MIN


def _series(ends_ms: Sequence[int]) -> tuple[int, ...]:
    """Successful calls per tenth of a second."""
    counted = Counter(end * NS_PER_MS // SLOT_NS for end in ends_ms)
    return tuple(counted[place] for place in range(max(counted, default=-1) + 1))
