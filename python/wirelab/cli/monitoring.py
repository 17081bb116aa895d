"""``--metrics-port``: a run that others can watch."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import click

if TYPE_CHECKING:
    from wirelab.run.progress import Progress

METRICS_PORT_OPTION: dict[str, Any] = {
    "type": click.IntRange(0, 65535),
    "metavar": "PORT",
    "help": "Serve OpenMetrics at http://127.0.0.1:PORT/metrics meanwhile; 0 takes a free port.",
}


@contextmanager
def monitored(progress: Progress, port: int | None) -> Iterator[Progress]:
    """What a run reports to, so that its metrics are served where a port is given. Raises
    :class:`wirelab.errors.UsageError` where that port is taken."""
    if port is None:
        yield progress
        return
    from wirelab.run.metrics_server import LOOPBACK, RunMetrics, serving

    metrics = RunMetrics(progress)
    with serving(metrics, port) as bound:
        progress.note(f"metrics: http://{LOOPBACK}:{bound}/metrics")
        yield metrics
