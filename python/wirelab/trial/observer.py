"""Watches a service from outside while the engine drives it: CPU, memory, its own counters."""

from __future__ import annotations

import time
from typing import Any

from wirelab.documents.event import Progress
from wirelab.process import metrics
from wirelab.process.metrics import Metrics, Sample
from wirelab.process.services import Service

FIRST_GAP_S, LAST_GAP_S = 0.1, 0.5
"""Between scrapes inside a window; the gap doubles up to the last. Short windows so hold
two, long ones are covered to their end, and scraping takes less than 0.1 % of the service."""

GLANCE_S_MAX = 0.25
"""A service too busy to answer a scrape in that time is not asked again in this window."""

Json = dict[str, Any]


def window_ns(group: Json) -> tuple[int, int]:
    """Start and end of the window of a group's result, nanoseconds of CLOCK_MONOTONIC."""
    start_ns = int(group["window_start_ns"])
    return start_ns, start_ns + round(group["window_s"] * 1e9)


class Observer:
    """Collects samples between ``before`` and ``after`` one drive."""

    def __init__(self, service: Service) -> None:
        self._service = service
        self._pid = service.ready.pid
        self._cpu: list[Sample] = []
        self._busy: list[Sample] = []
        self._switches: list[tuple[int, dict[int, int]]] = []
        self._measuring = False
        self._too_busy = False
        self._gap_s = FIRST_GAP_S
        self._due_ns = 0
        self.text_before = service.scrape()
        self.text_after = ""
        self.tick()

    def tick(self) -> None:
        """Takes what is due. Called often."""
        cpu = metrics.cpu_seconds(self._pid)
        now = time.monotonic_ns()
        if cpu is not None:
            self._cpu.append(Sample(now, cpu))
        if self._measuring and not self._too_busy and now >= self._due_ns:
            self._scrape()

    def progress(self, progress: Progress) -> None:
        """Hears the engine's progress lines."""
        if progress.phase == "measure" and not self._measuring:
            self._measuring = True
            self._count_switches()
            self.tick()
        elif progress.phase == "drain":
            self._window_over()

    def _window_over(self) -> None:
        if self._measuring:
            self._measuring = False
            self._count_switches()

    def _count_switches(self) -> None:
        counts = metrics.involuntary_switches(self._pid)
        if counts is not None:
            self._switches.append((time.monotonic_ns(), counts))

    def finish(self) -> None:
        """Takes the last samples, while the service still runs."""
        # Where nothing was left to drain, nobody said that the window was over.
        self._window_over()
        self.tick()
        self.text_after = self._service.scrape()

    def findings(self, start_ns: int, end_ns: int) -> Json:
        """What a trial's ``service`` holds, given the ends of the window."""
        before, after = metrics.parse(self.text_before), metrics.parse(self.text_after)
        return {
            "cpu_s": self._cpu[-1].value - self._cpu[0].value if self._cpu else None,
            "cpu_window_s": metrics.growth(self._cpu, start_ns, end_ns),
            "rss_max_bytes": metrics.rss_max_bytes(self._pid),
            "switches_involuntary_per_s": self._switched_per_s(),
            "calls_seen": round(_grown(before, after, "wirelab_calls_total")),
            "errors_seen": round(_grown(before, after, "wirelab_errors_total")),
            "connections_seen": round(_grown(before, after, "wirelab_connections_total")),
            "concurrency_seen": self._concurrency(start_ns, end_ns),
            "metrics": after,
        }

    def _switched_per_s(self) -> float | None:
        """Involuntary context switches between the first word of the window and its end, of
        the threads that lived then; None where the window was too short for two counts."""
        if len(self._switches) < 2:
            return None
        (begin, first), (end, last) = self._switches[0], self._switches[-1]
        switched = sum(count - first.get(thread, 0) for thread, count in last.items())
        return switched * 1e9 / (end - begin)

    def _scrape(self) -> None:
        began = time.monotonic_ns()
        text = self._service.glance(GLANCE_S_MAX)
        ended = time.monotonic_ns()
        if text is None:
            self._too_busy = True
            return
        counters = metrics.parse(text)
        busy = metrics.total(counters, "wirelab_call_seconds_total")
        self._busy.append(Sample((began + ended) // 2, busy))
        self._due_ns = ended + round(self._gap_s * 1e9)
        self._gap_s = min(2 * self._gap_s, LAST_GAP_S)

    def _concurrency(self, start_ns: int, end_ns: int) -> float | None:
        """Calls inside the service's own code, averaged between the first and the last scrape
        of the window (Little's law, from outside); None when the window held no two."""
        inside = [sample for sample in self._busy if start_ns <= sample.at_ns <= end_ns]
        if len(inside) < 2:
            return None
        first, last = inside[0], inside[-1]
        return (last.value - first.value) * 1e9 / (last.at_ns - first.at_ns)


def _grown(before: Metrics, after: Metrics, name: str) -> float:
    return metrics.total(after, name) - metrics.total(before, name)
