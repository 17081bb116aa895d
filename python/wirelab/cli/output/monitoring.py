"""``--metrics-port``: serves the metrics of a run while it is running."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from wirelab.run.progress import Progress


@contextmanager
def serve_metrics(progress: Progress, port: int | None) -> Iterator[Progress]:
    """Observer of a run; if a port is given, it also serves the run's metrics. Raises
    :class:`wirelab.errors.UsageError` if the port is in use."""
    if port is None:
        yield progress
        return
    from wirelab.run.metrics_server import LOOPBACK, RunMetrics, serve

    metrics = RunMetrics(progress)
    with serve(metrics, port) as bound:
        progress.note(f"metrics: http://{LOOPBACK}:{bound}/metrics")
        yield metrics
