"""Compares the packets of a trial with what its stack declares."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from math import ceil
from typing import TYPE_CHECKING, Literal

from wirelab.documents.axes import Connection
from wirelab.format.counting import format_count, of_all
from wirelab.format.units import format_seconds
from wirelab.records.group import GroupResult
from wirelab.records.load import LoadRecord
from wirelab.records.trial import Check, Trial

if TYPE_CHECKING:
    from wirelab.records.wire import WireRecord, WireWrites

MISFITS = 0.01
"""Share of messages that may come in another number of segments than declared: a segment that
is sent again, or joins what was written apart, is the network's doing."""
RESIDUAL_US = 50.0
"""What stamps and packets may contradict each other by, p99 over the calls of a trial."""
UNMATCHED = 0.01
"""Share of calls that may be without packets: those at the edges of a capture."""
PLAIN = ("http1", "giop", "raw")
"""Protocols whose messages have one head and one body, so that writes can be counted."""
ENCRYPTED = "the connections are encrypted, so packets do not show exchanges"
FRAMES = "HTTP/2 frames share segments, so segments do not show writes"
PROXIED = "the packets are those of the proxy, which splits replies into its own writes"
POLICY = "policy on the wire"
IN_FLIGHT = "in flight on the wire"


def _policy(trial: Trial) -> Check | None:
    """The connection policy, by how many exchanges each connection carried."""
    if not trial.wire:
        return None
    used = trial.wire.connections
    calls, count = trial.wire.exchanges, used.used
    if not calls:
        return Check.unmeasurable(POLICY, _unseen(trial))
    policy = trial.point.axes.connection
    words = (
        f"{format_count(calls, 'exchange')} on {format_count(count, 'connection')} in the packets"
    )
    if policy.kind == "close":
        right = used.used_once == count
        return Check.judge(POLICY, right, f"{words}, one each{_not(right)}")
    return _check_connection_count(trial, policy, count, words)


def _check_connection_count(trial: Trial, policy: Connection, count: int, words: str) -> Check:
    """A policy under which connections stay, by their number."""
    expected = find_connection_bounds(trial, policy)
    if expected is None:
        return Check.unmeasurable(POLICY, explain_no_bound(policy))
    most, spare = expected[1], spare_connections(trial)
    reason = f"{words}, at most {most:,} by connection={policy}"
    if spare:
        reason += f" and {spare:,} in place of connections lost to failed calls"
    return Check.judge(POLICY, count <= most + spare, reason)


def _unseen(trial: Trial) -> str:
    """Why no exchange is in the packets."""
    return ENCRYPTED if _is_encrypted(trial) else "no exchange was recognised"


def _is_encrypted(trial: Trial) -> bool:
    return trial.point.axes.security != "none"


def _check_in_flight(trial: Trial) -> Check | None:
    """Exchanges under way at a time on one connection."""
    if not trial.wire:
        return None
    if not trial.wire.exchanges:
        return Check.unmeasurable(IN_FLIGHT, _unseen(trial))
    if trial.point.semantic_class == "one-way":
        return Check.unmeasurable(IN_FLIGHT, "a call without a reply has no end in its packets")
    allowed, seen = trial.point.axes.in_flight, trial.wire.connections.in_flight_max
    most = format_count(seen, "exchange")
    reason = f"at most {most} under way on a connection in the packets, {allowed} allowed"
    return Check.judge(IN_FLIGHT, seen <= allowed, reason)


def _writes(
    side: Literal["client", "server"], of: Callable[[WireWrites], tuple[int, int]]
) -> Callable[[Trial], Check | None]:
    axis, name = f"{side}.writes", f"{side} writes on the wire"

    def judge(trial: Trial) -> Check | None:
        if not trial.wire:
            return None
        hidden = _hides_writes(trial, trial.wire)
        if side == "server" and trial.point.axes.via != "none":
            hidden = PROXIED
        if hidden:
            return Check.unmeasurable(name, hidden)
        axes = trial.point.axes
        declared = (axes.client if side == "client" else axes.server).writes
        joined, split = of(trial.wire.writes)
        if not joined + split:
            return None
        other = split if declared == "joined" else joined
        right = other <= MISFITS * (joined + split)
        reason = f"{joined:,} in one segment, {split:,} in two or more; {axis}={declared}"
        return Check.judge(name, right, reason)

    return judge


def _hides_writes(trial: Trial, wire: WireRecord) -> str:
    """Why the segments of messages do not tell how they were written; empty where they do."""
    if _is_encrypted(trial):
        return ENCRYPTED
    return "" if set(wire.protocols) <= set(PLAIN) else FRAMES


def _whole(trial: Trial) -> Check | None:
    """Whether the packets show all calls that were made."""
    if not trial.wire:
        return None
    made, seen = trial.result.calls_whole_run or 0, trial.wire.exchanges
    if trial.wire.damaged:
        return Check.judge("packets", False, f"the capture is damaged: {trial.wire.damaged}")
    if _is_encrypted(trial):
        return Check.unmeasurable("packets", ENCRYPTED)
    if trial.result.calls_whole_run is None:
        return Check.unmeasurable("packets", "the caller does not report how many calls it made")
    if trial.point.axes.caller != "engine" and spare_connections(trial):
        return Check.unmeasurable("packets", "the tool also counts failed calls, sent or not")
    reason = f"{format_count(seen, 'exchange')} in the packets of {format_count(made, 'call')} made"
    return Check.judge("packets", seen == made, reason)


def _check_reconciliation(trial: Trial) -> Check | None:
    """Whether each call's time is explained by its packets."""
    name, wire = "calls and packets", trial.wire
    if wire is not None and wire.not_reconciled:
        return Check.unmeasurable(name, wire.not_reconciled)
    found = wire.reconciliation if wire else None
    if found is None:
        return None
    calls = found.calls
    logged, matched = calls.logged, calls.matched
    if found.all is None:
        why = "their connections are encrypted" if calls.encrypted else "none was found"
        return Check.unmeasurable(name, f"{format_count(logged, 'call')} without packets: {why}")
    p99 = found.all.residual.p99_us
    reason = (
        f"{of_all(matched, logged, 'call')} matched with their packets; stamps contradict each "
        f"other by {_time(p99)} at p99 (at most {_time(RESIDUAL_US)})"
    )
    clock = found.clock_us
    agree = clock is None or clock.low <= 0.0 <= clock.high
    if clock is not None:
        reason += f"; clocks differ by {_time(clock.low)} to {_time(clock.high)}"
    is_whole = logged - matched <= UNMATCHED * logged and not calls.error
    return Check.judge(name, p99 <= RESIDUAL_US and is_whole and agree, reason)


def _time(microseconds: float) -> str:
    return format_seconds(microseconds / 1e6)


def _not(right: bool) -> str:
    return "" if right else ": some carried more"


CHECKS: Sequence[Callable[[Trial], Check | None]] = (
    _whole,
    _policy,
    _check_in_flight,
    _writes("client", lambda writes: (writes.requests_joined, writes.requests_split)),
    _writes("server", lambda writes: (writes.replies_joined, writes.replies_split)),
    _check_reconciliation,
)
"""Every check, in the order in which they are shown."""


def find_connection_bounds(trial: Trial, policy: Connection) -> tuple[int, int] | None:
    """Fewest and most connections that the policy allows without an error; None where it fixes
    no number under the trial's load."""
    background = trial.point.load.background
    loads = (trial.point.load, *(group.load for group in background))
    bounds = [
        _connections_of(trial, load, result, policy)
        for load, result in zip(loads, (trial.result, *trial.background), strict=False)
    ]
    known = [bound for bound in bounds if bound is not None]
    if len(known) < len(bounds):
        return None
    return sum(low for low, _ in known), sum(high for _, high in known)


def _connections_of(
    trial: Trial, load: LoadRecord, result: GroupResult, policy: Connection
) -> tuple[int, int] | None:
    """The same of one group."""
    users = load.users
    if policy.kind == "close":
        calls = result.calls_whole_run or 0
        return calls, calls
    if (pool := policy.count) is not None:
        return (pool if users is None else min(pool, int(users))), pool
    if users is None:
        return None
    # A foreign tool warms up in a run of its own, with connections of its own.
    runs = trial.engine.runs or 1
    return runs * ceil(int(users) / trial.point.axes.in_flight), runs * int(users)


def explain_no_bound(policy: Connection) -> str:
    """Why nothing is expected, in words."""
    return f"{policy} fixes no number of connections in an open load"


def spare_connections(trial: Trial) -> int:
    """Connections beyond those: a failed call may cost its own, and another one is opened."""
    return trial.total(lambda one: one.errors) or 0
