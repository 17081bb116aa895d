"""Observes a service from outside while the engine drives it: CPU, memory, its own counters."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence

from wirelab.documents.event import Progress
from wirelab.process import metrics, runtime_metrics
from wirelab.process.external import AnyExternal
from wirelab.process.metrics import Metrics, Sample
from wirelab.process.services import Service
from wirelab.records.group import GroupResult
from wirelab.records.service import ServiceRecord
from wirelab.trial.idle_cpu import Span, estimate_idle_cpu
from wirelab.trial.series import Series

FIRST_GAP_S, LAST_GAP_S = 0.1, 0.4
"""First and last interval between scrapes. The first applies when a window opens; the interval then
doubles up to the last. Short windows thus contain two samples, and every half second contains
one, because ticks come about every 50 ms. Scraping takes less than 0.1 % of the service's
time."""

GLANCE_S_MAX = 0.25
"""Time limit for a scrape, seconds."""
BUSY_GAP_S, BUSY_GAP_S_MAX = 2.0, 16.0
"""Delay after a service was too busy to answer a scrape; it doubles while that continues."""

OnRuntime = Callable[[Mapping[str, float]], None]


def window_ns(group: GroupResult) -> tuple[int, int]:
    """Start and end of a result's window, nanoseconds of CLOCK_MONOTONIC."""
    start_ns = group.window_start_ns or 0
    return start_ns, start_ns + round(group.window_s * 1e9)


class Observer:
    """Collects samples between ``before`` and ``after`` of one drive."""

    def __init__(
        self, service: Service | AnyExternal, on_runtime: OnRuntime = lambda _: None
    ) -> None:
        """``on_runtime`` is called for every sample of the service's runtime metrics, named as in
        :mod:`wirelab.process.runtime_metrics`."""
        self.series = Series()
        self._service = service
        self._on_runtime = on_runtime
        self._cpu: list[Sample] = []
        self._busy: list[Sample] = []
        self._switches: list[tuple[int, dict[int, int]]] = []
        self._measuring = False
        self._gap_s = LAST_GAP_S
        self._busy_gap_s = BUSY_GAP_S
        began_ns = time.monotonic_ns()
        self._due_ns = _later(began_ns, LAST_GAP_S)
        self.text_before = service.scrape()
        self._take_sample(began_ns, self.text_before)
        self.text_after = ""
        self.tick()

    def tick(self) -> None:
        """Takes the samples that are due. To be called often."""
        self._service.tick()
        cpu = self._service.cpu_seconds()
        now = time.monotonic_ns()
        if cpu is not None:
            self._cpu.append(Sample(now, cpu))
        if now >= self._due_ns:
            self._scrape()

    def progress(self, progress: Progress) -> None:
        """Receives the engine's progress lines."""
        self.series.progress(time.monotonic_ns(), progress)
        if progress.phase == "measure" and not self._measuring:
            self._measuring = True
            self._count_switches()
            if self._busy_gap_s == BUSY_GAP_S:
                self._gap_s, self._due_ns = FIRST_GAP_S, 0
            self.tick()
        elif progress.phase == "drain":
            self._window_over()

    def _window_over(self) -> None:
        if self._measuring:
            self._measuring = False
            self._count_switches()

    def _count_switches(self) -> None:
        counts = self._service.involuntary_switches()
        if counts is not None:
            self._switches.append((time.monotonic_ns(), counts))

    def finish(self) -> None:
        """Takes the last samples while the service is still running."""
        # If nothing was left to drain, no line reported the end of the window.
        self._window_over()
        self.tick()
        began_ns = time.monotonic_ns()
        self.text_after = self._service.scrape()
        self._take_sample(began_ns, self.text_after)

    def findings(self, start_ns: int, end_ns: int) -> ServiceRecord:
        """Observations of the service for a window with these ends."""
        before, after = metrics.parse(self.text_before), metrics.parse(self.text_after)
        self.series.open_window(start_ns)
        return ServiceRecord(
            cpu_s=self._cpu[-1].value - self._cpu[0].value if self._cpu else None,
            cpu_window_s=metrics.growth(self._cpu, start_ns, end_ns),
            rss_max_bytes=self._service.rss_max_bytes(),
            switches_involuntary_per_s=self._switches_per_s(),
            calls_seen=_count_increase(before, after, "wirelab_calls_total"),
            errors_seen=_count_increase(before, after, "wirelab_errors_total"),
            connections_seen=_count_increase(before, after, "wirelab_connections_total"),
            concurrency_seen=self._concurrency(start_ns, end_ns),
            runtime_metrics=self.series.summary(start_ns, end_ns),
            metrics=after,
        )

    def idle_cpu(self, own: Sequence[Span], whole: Span) -> float | None:
        """See :func:`wirelab.trial.idle_cpu.estimate_idle_cpu`."""
        return estimate_idle_cpu(self._cpu, own, whole)

    def _switches_per_s(self) -> float | None:
        """Involuntary context switches between the first and the last sample of the window, of the
        threads that existed then; None if the window was too short for two counts."""
        if len(self._switches) < 2:
            return None
        (begin, first), (end, last) = self._switches[0], self._switches[-1]
        switched = sum(count - first.get(thread, 0) for thread, count in last.items())
        return switched * 1e9 / (end - begin)

    def _scrape(self) -> None:
        began_ns = time.monotonic_ns()
        text = self._service.glance(GLANCE_S_MAX)
        if text is None:
            self._due_ns = _later(time.monotonic_ns(), self._busy_gap_s)
            self._busy_gap_s = min(2 * self._busy_gap_s, BUSY_GAP_S_MAX)
            return
        counters, at_ns = self._take_sample(began_ns, text)
        if self._measuring and counters:
            busy = metrics.total(counters, "wirelab_call_seconds_total")
            self._busy.append(Sample(at_ns, busy))
        self._busy_gap_s = BUSY_GAP_S
        self._due_ns = _later(began_ns, self._gap_s)
        self._gap_s = min(2 * self._gap_s, LAST_GAP_S)

    def _take_sample(self, began_ns: int, text: str) -> tuple[Metrics, int]:
        """Samples of the scrape that has just ended, and their time."""
        at_ns = (began_ns + time.monotonic_ns()) // 2
        counters = metrics.parse(text)
        runtime = runtime_metrics.normalise(counters)
        self.series.add(at_ns, runtime)
        self._on_runtime(runtime)
        return counters, at_ns

    def _concurrency(self, start_ns: int, end_ns: int) -> float | None:
        """Calls inside the service's own code, averaged between the first and the last scrape of
        the window (Little's law); None if the window contains fewer than two."""
        inside = [sample for sample in self._busy if start_ns <= sample.at_ns <= end_ns]
        if len(inside) < 2:
            return None
        first, last = inside[0], inside[-1]
        return (last.value - first.value) * 1e9 / (last.at_ns - first.at_ns)


def _count_increase(before: Metrics, after: Metrics, name: str) -> int | None:
    """Increase of a counter; None for a service without metrics."""
    return round(metrics.total(after, name) - metrics.total(before, name)) if after else None


def _later(at_ns: int, seconds: float) -> int:
    return at_ns + round(seconds * 1e9)
