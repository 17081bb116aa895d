"""A service's runtime metrics under names that all languages share.

Services export metrics of their runtime: client_golang's Go collector, Micrometer's JVM binders,
the process collector. This module translates one scrape of them.
"""

from __future__ import annotations

from wirelab.process.metrics import Metrics, total

GAUGES = (
    "heap_committed_bytes",
    "heap_used_bytes",
    "heap_idle_bytes",
    "rss_bytes",
    "threads",
    "tasks",
    "store_connections_in_use",
    "calls_in_flight",
)
"""Gauges."""
COUNTERS = (
    "gc_pause_seconds_total",
    "gc_pauses_total",
    "cpu_seconds_total",
    "calls_total",
    "errors_total",
    "call_seconds_total",
)
"""Counters."""
NAMES = (*GAUGES, *COUNTERS)

_HEAP = 'area="heap"'
_SOURCES: dict[str, tuple[tuple[str, str], ...]] = {
    # HeapSys of Go's runtime.MemStats includes pages that were returned to the kernel.
    "heap_committed_bytes": (
        ("jvm_memory_committed_bytes", _HEAP),
        ("go_memstats_heap_sys_bytes", ""),
    ),
    "heap_used_bytes": (
        ("jvm_memory_used_bytes", _HEAP),
        ("go_memstats_heap_inuse_bytes", ""),
    ),
    "heap_idle_bytes": (("go_memstats_heap_idle_bytes", ""),),
    "rss_bytes": (("process_resident_memory_bytes", ""),),
    "threads": (
        ("jvm_threads_live_threads", ""),
        ("go_threads", ""),
        ("process_threads", ""),
    ),
    "tasks": (("go_goroutines", ""), ("tokio_tasks_alive", "")),
    "store_connections_in_use": (("wirelab_store_connections", 'state="in_use"'),),
    "calls_in_flight": (("wirelab_calls_in_flight", ""),),
    "gc_pause_seconds_total": (
        ("jvm_gc_pause_seconds_sum", ""),
        ("go_gc_duration_seconds_sum", ""),
    ),
    "gc_pauses_total": (
        ("jvm_gc_pause_seconds_count", ""),
        ("go_gc_duration_seconds_count", ""),
    ),
    "cpu_seconds_total": (("process_cpu_seconds_total", ""),),
    "calls_total": (("wirelab_calls_total", ""),),
    "errors_total": (("wirelab_errors_total", ""),),
    "call_seconds_total": (("wirelab_call_seconds_total", ""),),
}
"""Metric, and the label that its sample must have. The first one that a service exports is used,
summed over its other labels."""
_JVM_GC = ("gc_pause_seconds_total", "gc_pauses_total")


def normalise(metrics: Metrics) -> Metrics:
    """The samples of a scrape by their shared names, in the order of :data:`NAMES`; a name is
    absent if the service does not export it."""
    found = {name: value for name in NAMES if (value := _value(metrics, name)) is not None}
    if "heap_committed_bytes" in found and "heap_used_bytes" in found:
        # The JVM has no metric for it. It reads used and committed one after the other, so a page
        # may be counted as used before it is counted as committed.
        idle = max(0.0, found["heap_committed_bytes"] - found["heap_used_bytes"])
        found.setdefault("heap_idle_bytes", idle)
    if _any(metrics, "jvm_memory_committed_bytes"):
        # Micrometer creates the timer of pauses with the first pause.
        found = {**dict.fromkeys(_JVM_GC, 0.0), **found}
    return {name: found[name] for name in NAMES if name in found}


def _value(metrics: Metrics, name: str) -> float | None:
    for metric, label in _SOURCES[name]:
        chosen = (
            {key: value for key, value in metrics.items() if label in key} if label else metrics
        )
        if _any(chosen, metric):
            return total(chosen, metric)
    return None


def _any(metrics: Metrics, name: str) -> bool:
    return any(key == name or key.startswith(f"{name}{{") for key in metrics)
