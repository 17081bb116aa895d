"""Whether a load's connections fit into the files that a service may open.

Asked before anything is started: a load that does not fit would fail trial by trial. The engine
is no bound: it spreads connections over threads that have open files of their own.
"""

from __future__ import annotations

import resource
from collections.abc import Mapping

from wirelab.format.counting import counted

SPARE = 256
"""Files that a service needs beside its connections; a virtual machine opens the most."""


def limit() -> int | None:
    """Files that each child may open, for it is given the hard limit; None: any number."""
    _, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    return None if hard == resource.RLIM_INFINITY else hard


def connections(axes: Mapping[str, str], concurrency: int) -> int:
    """Connections of a load with so many calls at a time over a stack of these axes. Caller and
    service hold one end each, however many threads share them."""
    policy, _, count = axes["connection"].partition("=")
    if policy == "close":
        return concurrency
    if policy == "pool":
        return int(count)
    _, _, in_flight = axes["in_flight"].partition("=")
    return -(-concurrency // int(in_flight or 1))


def refusal(needed: int) -> str | None:
    """Why so many connections are not possible here; None where they are."""
    allowed = limit()
    if allowed is None or needed + SPARE <= allowed:
        return None
    return (
        f"{counted(needed, 'connection')} at a time, and {SPARE} other files, are more than the "
        f"{allowed:,} open files that a process may have here"
    )


def remedy(needed: int) -> str:
    """What to do about a refusal of so many connections. Where not even one would fit, asking
    for fewer is no help."""
    raised = f"raise the limit (ulimit -n {needed + SPARE})"
    fits = (limit() or 0) > SPARE
    return f"ask for fewer users or connections, or {raised}" if fits else raised
