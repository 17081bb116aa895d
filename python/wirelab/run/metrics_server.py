"""Serves metrics of a run in progress as OpenMetrics on a port of the loopback interface.

Names and meanings: docs/reference/runtime-metrics.md.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import TYPE_CHECKING

from prometheus_client import CollectorRegistry, start_http_server
from prometheus_client.metrics_core import (
    CounterMetricFamily,
    GaugeMetricFamily,
    InfoMetricFamily,
    Metric,
    StateSetMetricFamily,
    SummaryMetricFamily,
)
from prometheus_client.registry import Collector

from wirelab.errors import UsageError
from wirelab.process import runtime_metrics
from wirelab.records.trial import Point, Trial
from wirelab.run.progress import Progress, RemainingWork, TimeLeft

if TYPE_CHECKING:
    from wirelab.documents.event import Progress as EngineProgress
    from wirelab.experiment.matrix import PlannedTrial

LOOPBACK = "127.0.0.1"
PHASES = ("starting", "warmup", "measure", "drain")
CELL = ("stack", "operation", "bytes", "load", "link")
"""Labels of a cell."""
CELLS_MAX = 1000
"""Maximum number of cells whose last trial is shown; the oldest are removed."""
_RATE_STEP_S = 0.5
"""Minimum time over which the rate of the running trial is computed."""
_HELP = {
    "heap_committed_bytes": "Heap that the service's runtime obtained from the kernel.",
    "heap_used_bytes": "Heap that holds objects.",
    "heap_idle_bytes": "Heap that holds no objects.",
    "rss_bytes": "Resident memory of the service.",
    "threads": "Threads of the service.",
    "tasks": "Tasks that the service's threads share: goroutines, Tokio tasks.",
    "store_connections_in_use": "Database pool connections of the service that are in use.",
    "calls_in_flight": "Calls inside the service's own code.",
    "gc_pause_seconds_total": "Time for which the garbage collector stopped the service.",
    "gc_pauses_total": "Pauses of the service's garbage collector.",
    "cpu_seconds_total": "CPU time of the service.",
    "calls_total": "Calls that reached the service's own code.",
    "errors_total": "Calls that the service answered with an error.",
    "call_seconds_total": "Time that calls spent in the service's own code.",
}
"""Help texts for the runtime metrics of the running trial's service."""


class RunMetrics(Collector):
    """Observes the progress of a run, forwards it to ``next_``, and answers scrapes, which come
    from other threads."""

    def __init__(self, next_: Progress) -> None:
        self._next = next_
        self._lock = threading.Lock()
        self._left = TimeLeft(())
        self._planned = self._resumed = 0
        self._ended = {"measured": 0, "failed": 0}
        self._calls: dict[str, tuple[int, int]] = {}
        self._trial: PlannedTrial | None = None
        self._began_s = 0.0
        self._phase = ""
        self._in_phase = (0, 0)
        self._mark: tuple[str, float, int] = ("", 0.0, 0)
        self._rate_per_s: float | None = None
        self._runtime: dict[str, float] = {}
        self._cells: dict[tuple[str, ...], Trial] = {}

    def begin(self, work: RemainingWork) -> None:
        """Called when a run, or a part of a reproduction, starts."""
        with self._lock:
            self._left = TimeLeft(work.seconds, work.at_once)
            self._planned, self._resumed = work.trials, work.finished
            self._ended = {"measured": 0, "failed": 0}
        self._next.begin(work)

    def note(self, text: str) -> None:
        """Forwarded."""
        self._next.note(text)

    def building(self, text: str) -> None:
        self._next.building(text)

    def trial(self, planned: PlannedTrial) -> None:
        """Called for the next trial; resets its figures."""
        with self._lock:
            self._trial, self._began_s = planned, time.monotonic()
            self._enter("starting")
            self._runtime = {}
        self._next.trial(planned)

    def update(self, progress: EngineProgress) -> None:
        """Calls and errors are counted from the start of each phase."""
        with self._lock:
            if progress.phase != self._phase:
                self._enter(progress.phase)
            self._count(progress)
        self._next.update(progress)

    def runtime(self, values: Mapping[str, float]) -> None:
        """Stores the sample to be shown."""
        with self._lock:
            self._runtime = dict(values)
        self._next.runtime(values)

    def end_trial(self, trial: Trial) -> None:
        """The trial's figures are shown until its cell is measured again."""
        with self._lock:
            self._left.took(trial.seconds)
            self._ended[trial.status] += 1
            self._trial, self._runtime, self._rate_per_s = None, {}, None
            if trial.status == "measured":
                key = _cell(trial.point)
                self._cells.pop(key, None)
                self._cells[key] = trial
                while len(self._cells) > CELLS_MAX:
                    self._cells.pop(next(iter(self._cells)))
        self._next.end_trial(trial)

    def end(self) -> None:
        """Forwarded."""
        self._next.end()

    def collect(self) -> Iterator[Metric]:
        """All metrics at this moment."""
        with self._lock:
            metrics = [*self._of_run(), *self._of_trial(), *self._of_service(), *self._of_cells()]
        yield from metrics

    def _enter(self, phase: str) -> None:
        self._phase, self._in_phase = phase, (0, 0)
        self._mark, self._rate_per_s = (phase, 0.0, 0), None

    def _count(self, progress: EngineProgress) -> None:
        if self._trial is None:
            return
        stack = str(self._trial.cell.stack)
        calls, errors = self._calls.get(stack, (0, 0))
        before = self._in_phase
        grown = progress.calls - before[0], progress.errors - before[1]
        self._calls[stack] = calls + max(0, grown[0]), errors + max(0, grown[1])
        self._in_phase = progress.calls, progress.errors
        _, since_s, since_calls = self._mark
        lasted_s = progress.elapsed_s - since_s
        if lasted_s >= _RATE_STEP_S:
            self._rate_per_s = (progress.calls - since_calls) / lasted_s
            self._mark = (progress.phase, progress.elapsed_s, progress.calls)

    def _of_run(self) -> Iterator[Metric]:
        planned = GaugeMetricFamily("wirelab_run_trials_planned", "Planned trials of the run.")
        planned.add_metric([], self._planned)
        yield planned
        resumed = GaugeMetricFamily(
            "wirelab_run_trials_resumed", "Trials that the run directory contained at the start."
        )
        resumed.add_metric([], self._resumed)
        yield resumed
        ended = CounterMetricFamily(
            "wirelab_run_trials_ended", "Trials that have ended, by status.", labels=["status"]
        )
        for status, count in self._ended.items():
            ended.add_metric([status], count)
        yield ended
        into_s = time.monotonic() - self._began_s if self._trial else 0.0
        left = GaugeMetricFamily("wirelab_run_left_seconds", "Estimated time left.", unit="seconds")
        left.add_metric([], self._left.seconds(into_s))
        yield left
        calls = CounterMetricFamily("wirelab_run_calls", "Calls that ended.", labels=["stack"])
        errors = CounterMetricFamily("wirelab_run_errors", "Calls that failed.", labels=["stack"])
        for stack, (made, failed) in self._calls.items():
            calls.add_metric([stack], made)
            errors.add_metric([stack], failed)
        yield calls
        yield errors

    def _of_trial(self) -> Iterator[Metric]:
        if self._trial is None:
            return
        cell = _find_cell(self._trial)
        info = InfoMetricFamily("wirelab_trial", "The running trial.")
        about = {**dict(zip(CELL, cell, strict=True)), "trial": self._trial.id}
        info.add_metric([], {**about, "repeat": str(self._trial.repeat)})
        yield info
        phase = StateSetMetricFamily("wirelab_trial_phase", "Phase of the running trial.")
        phase.add_metric([], {name: name == self._phase for name in PHASES})
        yield phase
        elapsed = GaugeMetricFamily(
            "wirelab_trial_elapsed_seconds", "Time since the running trial began.", unit="seconds"
        )
        elapsed.add_metric([], time.monotonic() - self._began_s)
        yield elapsed
        if self._rate_per_s is not None:
            rate = GaugeMetricFamily(
                "wirelab_trial_rate", "Calls per second of the running trial.", labels=["stack"]
            )
            rate.add_metric([cell[0]], self._rate_per_s)
            yield rate

    def _of_service(self) -> Iterator[Metric]:
        if self._trial is None:
            return
        stack = str(self._trial.cell.stack)
        for name, value in self._runtime.items():
            family = (
                CounterMetricFamily if name in runtime_metrics.COUNTERS else GaugeMetricFamily
            )(f"wirelab_service_{name.removesuffix('_total')}", _HELP[name], labels=["stack"])
            family.add_metric([stack], value)
            yield family

    def _of_cells(self) -> Iterator[Metric]:
        rate = GaugeMetricFamily(
            "wirelab_cell_rate", "Good calls per second of the cell's last trial.", labels=CELL
        )
        response = SummaryMetricFamily(
            "wirelab_cell_response_seconds",
            "Response times of the cell's last trial.",
            labels=CELL,
            unit="seconds",
        )
        for cell, trial in self._cells.items():
            rate.add_metric(cell, trial.result.rate_per_s)
            _add_times(response, cell, trial)
        yield rate
        yield response


@contextmanager
def serve(metrics: RunMetrics, port: int) -> Iterator[int]:
    """Serves the metrics within the block, on the loopback interface only; yields the port, which
    the kernel chooses if ``port`` is 0. Raises :class:`UsageError` if the port is in use."""
    registry = CollectorRegistry(auto_describe=False)
    registry.register(metrics)
    try:
        server, thread = start_http_server(port, LOOPBACK, registry)
    except OSError as error:
        raise UsageError(
            f"--metrics-port {port}: cannot listen on {LOOPBACK}:{port}: {error.strerror}",
            "give another port, or 0 for any free port",
        ) from error
    try:
        yield server.server_port
    finally:
        server.shutdown()
        server.server_close()
        thread.join()


def _add_times(family: SummaryMetricFamily, cell: tuple[str, ...], trial: Trial) -> None:
    """The library's summaries have no quantiles, although OpenMetrics allows them."""
    times = trial.result.times.get("response")
    if times is None or not times.count:
        return
    labels = dict(zip(CELL, cell, strict=True))
    for name, value_ns in times.percentiles_ns.items():
        quantile = f"{float(name.removeprefix('p')) / 100:.6g}"
        family.add_sample(family.name, {**labels, "quantile": quantile}, value_ns / 1e9)
    family.add_metric(cell, times.count, times.count * times.mean_ns / 1e9)


def _cell(point: Point) -> tuple[str, ...]:
    return (point.stack, point.operation, str(point.bytes), _load(point), point.link)


def _find_cell(planned: PlannedTrial) -> tuple[str, ...]:
    return _cell(planned.cell.point)


def _load(point: Point) -> str:
    """``closed 32``, ``poisson 1000``."""
    return f"{point.load.kind} {point.load.level():g}"
