"""Checks whether the connections of a load fit into the open file limit of a service.

This is checked before anything starts, because otherwise the load would fail trial by trial. The
engine has no such limit: it spreads connections over threads with open file tables of their own.
"""

from __future__ import annotations

import resource

from wirelab.documents.axes import Axes
from wirelab.format.counting import format_count

SPARE = 256
"""Files that a service needs besides its connections; a JVM opens the most."""


def limit() -> int | None:
    """Files that each child may open, because it gets the hard limit; None: unlimited."""
    _, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    return None if hard == resource.RLIM_INFINITY else hard


def connections(axes: Axes, concurrency: int) -> int:
    """Connections of a load with that number of concurrent calls over a stack of these axes. Caller
    and service hold one end each, regardless of the number of threads."""
    policy = axes.connection
    if policy.kind == "close":
        return concurrency
    if policy.count is not None:
        return policy.count
    return -(-concurrency // axes.in_flight)


def refusal(needed: int) -> str | None:
    """Why that number of connections is not possible here; None if it is."""
    allowed = limit()
    if allowed is None or needed + SPARE <= allowed:
        return None
    return (
        f"{format_count(needed, 'concurrent connection')} and {SPARE} other files exceed the "
        "limit of "
        f"{allowed:,} open files per process"
    )


def remedy(needed: int) -> str:
    """Remedy for too many connections. If not even one connection fits, fewer connections do not
    help."""
    raised = f"raise the limit (ulimit -n {needed + SPARE})"
    fits = (limit() or 0) > SPARE
    return f"use fewer users or connections, or {raised}" if fits else raised
