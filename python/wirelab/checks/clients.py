"""Names the client whose part of a load differs from the others'."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from statistics import median

from wirelab.format.counting import format_count
from wirelab.format.units import format_seconds
from wirelab.records.client import ClientRecord, ClientsRecord
from wirelab.records.trial import Check, Trial

NAME = "clients"
"""Of the check."""
LATE_MS = 5.0
"""Start skew that is not mentioned."""
MOVED_MS = 1.0
"""Change of a clock that is not mentioned."""
SLOWER = 0.8
"""Share of the others' rate below which a client is named."""
BUSY = 0.9
"""Share of a core that an engine with one thread uses when it is the limit."""


def check(trial: Trial) -> Check | None:
    """Whether the clients of a trial did the same."""
    if trial.clients is None:
        return None
    found = list(notes(trial.clients, trial.result.window_s))
    if found:
        return Check(NAME, "marked", "; ".join(found))
    count = len(trial.clients.clients)
    return Check(NAME, "ok", f"{count} clients made their parts of the load alike")


def notes(record: ClientsRecord, window_s: float) -> Iterator[str]:
    """One sentence per difference that the figures contain; the window in seconds."""
    for client in record.clients:
        where = f"{client.client} on {client.node}"
        if client.late_ms > LATE_MS:
            late = format_seconds(client.late_ms / 1e3)
            yield (
                f"{where} was ready {late} after the common start: its first calls are late "
                "because of it"
            )
        if client.clock_moved_ms > MOVED_MS:
            moved = format_seconds(client.clock_moved_ms / 1e3)
            yield f"the clock of {where} moved by {moved} against this one: the parts may not fit"
        if window_s > 0.0 and client.cpu_s > BUSY * window_s:
            yield (
                f"{where} used {client.cpu_s / window_s:.2f} cores, about all that one thread can: "
                "the load may be its limit and not the service's"
            )
    yield from _slower(record.clients)
    if record.cores is not None and len(record.clients) > record.cores:
        yield (
            f"{len(record.clients)} clients shared {format_count(record.cores, 'core')} with the "
            "service: more clients than cores make no more load"
        )


def _slower(clients: Sequence[ClientRecord]) -> Iterator[str]:
    if len(clients) < 2:
        return

    def rate(client: ClientRecord) -> float:
        """Calls per second of the whole load, if all clients were like this one."""
        return client.rate_per_s / client.share

    slowest = min(clients, key=rate)
    others = median(rate(client) for client in clients if client is not slowest)
    if rate(slowest) < SLOWER * others:
        yield (
            f"{slowest.client} on {slowest.node} made {rate(slowest) / others:.0%} of the calls "
            "that the others made for their share of the load: look at that node"
        )
