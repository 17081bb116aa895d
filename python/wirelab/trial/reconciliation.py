"""Matches each call of a trial with its packets, if calls are logged, and summarises the result.

The engine logs every call of a trial that captures packets; ``wirelab-engine dissect --calls``
compares the log with the packets (docs/reference/call-times.md).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec

from wirelab.documents.dissection import (
    CallPhase,
    Dissection,
    Operation,
    Part,
    Reconciliation,
    Spent,
)
from wirelab.experiment.capture_ends import NO_CAPTURE
from wirelab.records.wire import BothEnds, CallTimes, TimePart
from wirelab.stack.axes import ENGINE

if TYPE_CHECKING:
    from wirelab.experiment.matrix import Cell
    from wirelab.experiment.model import Experiment

LOG = "calls.csv"
"""Name of the log in a trial's folder; about 120 B per call."""
CALLS_MAX = 2_000_000
"""Maximum number of calls of a trial that is logged."""
RATE_MAX = 100_000.0
"""Assumed maximum rate of a closed load under capture, calls per second, because no better bound
is known before the run."""

CALLS_APART = 0.001
"""Maximum share of calls missing in one of two captures, for both to cover the same calls."""
STALLS_APART = 0.02
"""Maximum difference between the stalls in two captures, as a share of the mean response time.
Stalls belong to no part, so a direction that contains one would be reported too long."""


@dataclass(frozen=True)
class CallLog:
    """The log of a trial's calls, or the reason why there is none."""

    path: Path | None
    left_out: str = ""
    """Why calls are not logged although packets are captured; empty if they are logged."""


def call_log(experiment: Experiment, cell: Cell, folder: Path) -> CallLog:
    """The log of a trial of ``cell`` in ``folder``."""
    if cell.capture == NO_CAPTURE:
        return CallLog(None)
    caller = cell.stack.axes.caller
    if caller != ENGINE:
        return CallLog(None, f"{caller} does not log calls")
    calls = _calls_max(experiment, cell)
    if calls > CALLS_MAX:
        return CallLog(
            None,
            f"the trial may make {calls:,.0f} calls, and at most {CALLS_MAX:,} are logged; "
            "use a shorter window or fewer calls",
        )
    return CallLog((folder / LOG).absolute())


def _calls_max(experiment: Experiment, cell: Cell) -> float:
    """Maximum number of calls of the trial, warm-up included."""
    rate = cell.load.point().rate_max() or RATE_MAX
    window = experiment.window_of(cell.message, cell.load)
    warming = rate * experiment.warmup_of(cell.load, cell.stack.axes).max
    if window.calls:
        return window.calls.calls + warming
    return rate * (window.duration_s or 0.0) + warming


def log_of(capture: Path) -> Path | None:
    """The log next to a capture of a run, if there is one. Behind a proxy are calls of the proxy,
    which nobody logs."""
    if capture.stem.endswith("-upstream"):
        return None
    log = capture.parent / LOG
    return log if log.is_file() else None


def summarize(documents: Sequence[Dissection]) -> CallTimes | None:
    """Summary for a trial's record, from the dissections of its captures, the client's first; None
    if nothing was captured. With both ends also the times of each direction and of the server."""
    found = [document.reconciliation for document in documents]
    if not found or found[0] is None:
        return None
    return _with(found[0], found[1] if len(found) > 1 else None)


def join_dissections(documents: Sequence[Dissection]) -> list[Dissection]:
    """Dissections of a run's captures. If two belong to one trial, their common result is added to
    that of the client's end."""
    servers = {
        file.parent: document.reconciliation
        for document in documents
        if (file := Path(document.file)).stem.endswith("-server")
    }
    return [_join(document, servers) for document in documents]


def _join(document: Dissection, servers: Mapping[Path, Reconciliation | None]) -> Dissection:
    file, own = Path(document.file), document.reconciliation
    other = servers.get(file.parent)
    if own is None or other is None or not file.stem.endswith("-client"):
        return document
    return msgspec.structs.replace(document, reconciliation=_with(own, other))


def _with(client: Reconciliation, server: Reconciliation | None) -> CallTimes:
    """The reconciliation at the client's end, completed by that at the server's end."""
    own = msgspec.structs.asdict(client)
    if server is None:
        return CallTimes(**own)
    return CallTimes(
        **own,
        at_server_us=mean_us(server.all, "server"),
        both_ends=_both_ends(client, server),
    )


def _both_ends(client: Reconciliation, server: Reconciliation) -> BothEnds | None:
    """Splits the server's part as seen at the client's end: the way of the request's last packet,
    the server itself, the way of the reply's first packet; or the reason why that is not possible.
    None if no call was matched with its packets.

    Both captures are compared with one log, and all time stamps use one clock. Each way is
    therefore the difference of two sums of means: when a packet passed one end and the other.
    """
    own, other = client.all, server.all
    if own is None or other is None:
        return None
    response = own.response.mean_us
    if abs(own.calls - other.calls) > CALLS_APART * own.calls:
        words = f"{own.calls:,} at the client's end, {other.calls:,} at the server's"
        return BothEnds(left_out=f"the two captures do not contain the same calls ({words})")
    stalls = [mean_us(end, "stalls") or 0.0 for end in (own, other)]
    if abs(stalls[0] - stalls[1]) > STALLS_APART * response:
        words = f"{stalls[0]:,.0f} and {stalls[1]:,.0f} µs of a mean call"
        return BothEnds(left_out=f"the two captures show stalls of different length ({words})")
    there, at_server, back = _ways(own, other)
    if min(there, back) < 0.0:
        words = "by the time stamps of the two captures, packets arrived before they were sent"
        return BothEnds(left_out=words)
    taken = next(part for part in other.phases if part.phase == "server")
    return BothEnds(
        parts=(
            TimePart(phase="request-way", mean_us=there, share=there / response),
            TimePart(
                phase="server",
                mean_us=taken.mean_us,
                share=at_server / response,
                p50_us=taken.p50_us,
                p99_us=taken.p99_us,
            ),
            TimePart(phase="reply-way", mean_us=back, share=back / response),
        )
    )


def _ways(own: Operation, other: Operation) -> tuple[float, float, float]:
    """Client's end to server's end, inside the server, and back: means in microseconds."""

    def request_us(end: Operation) -> float:
        """From a call's first write until its request has passed."""
        return (mean_us(end, "client-write") or 0.0) + (mean_us(end, "request-on-wire") or 0.0)

    there = request_us(other) - request_us(own)
    at_client, at_server = (mean_us(end, "server") or 0.0 for end in (own, other))
    return there, at_server, at_client - at_server - there


@dataclass(frozen=True)
class Split:
    """Parts of the mean response time of calls."""

    calls: int
    response: Spent
    phases: tuple[Part | TimePart, ...]
    residual: Spent


def split(found: Reconciliation) -> Split | None:
    """All calls together; with captures at both ends, the ways are separated from the server."""
    whole = found.all
    if whole is None:
        return None
    ends = ways(found)
    phases: list[Part | TimePart] = []
    for part in whole.phases:
        phases += ends if ends and part.phase == "server" else [part]
    return Split(whole.calls, whole.response, tuple(phases), whole.residual)


def ways(found: Reconciliation) -> tuple[TimePart, ...]:
    """The parts that two captures distinguish; empty if they do not."""
    ends = found.both_ends if isinstance(found, CallTimes) else None
    return ends.parts if ends else ()


def mean_us(operation: Operation | None, phase: CallPhase) -> float | None:
    """Mean of a phase in microseconds; None if no call has it."""
    parts = operation.phases if operation else ()
    return next((part.mean_us for part in parts if part.phase == phase), None)
