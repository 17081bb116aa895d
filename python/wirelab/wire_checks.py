"""What the packets of a trial say of what its stack had declared."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from wirelab.counting import counted, of_all
from wirelab.trial import Check, Trial
from wirelab.units import format_seconds

MISFITS = 0.01
"""Share of messages that may come in another number of segments than declared: a segment that
is sent again, or joins what was written apart, is the network's doing."""
RESIDUAL_US = 50.0
"""What stamps and packets may contradict each other by, p99 over the calls of a trial."""
UNMATCHED = 0.01
"""Share of calls that may be without packets: those at the edges of a capture."""
PLAIN = ("http1", "giop", "raw")
"""Protocols whose messages have one head and one body, so that writes can be counted."""

Json = dict[str, Any]


def _policy(trial: Trial) -> Check | None:
    """The connection policy, by how many exchanges each connection carried."""
    if not trial.wire:
        return None
    used = trial.wire["connections"]
    calls, count = trial.wire["exchanges"], used["used"]
    policy = trial.point.axes["connection"]
    on = counted(count, "connection")
    words = f"{counted(calls, 'exchange')} on {on} in the packets"
    if not calls:
        return Check.unmeasurable("policy on the wire", "no exchange was recognised")
    if policy == "close":
        right = used["used_once"] == count
        return Check.judged("policy on the wire", right, f"{words}, one each{_not(right)}")
    allowed = _allowed(trial, policy)
    if allowed is None:
        return None
    return Check.judged(
        "policy on the wire", count <= allowed, f"{words}, {allowed:,} of them declared"
    )


def _allowed(trial: Trial, policy: str) -> int | None:
    """Connections that the policy allows, and those that took the place of ended ones."""
    opened = int(trial.result.get("connections_opened") or 0)
    users = trial.point.load.get("users")
    if policy.startswith("pool="):
        return max(int(policy.removeprefix("pool=")), opened if _failed(trial) else 0)
    return max(int(users), opened) if users else None


def _failed(trial: Trial) -> bool:
    return bool(trial.result.get("errors"))


def _in_flight(trial: Trial) -> Check | None:
    """Exchanges under way at a time on one connection."""
    if not trial.wire or not trial.wire["exchanges"]:
        return None
    _, _, number = trial.point.axes["in_flight"].partition("=")
    allowed, seen = int(number or 1), trial.wire["connections"]["in_flight_max"]
    most = counted(seen, "exchange")
    reason = f"at most {most} under way on a connection in the packets, {allowed} allowed"
    return Check.judged("in flight on the wire", seen <= allowed, reason)


def _writes(side: str, kind: str) -> Callable[[Trial], Check | None]:
    axis, name = f"{side}.writes", f"{side} writes on the wire"

    def judge(trial: Trial) -> Check | None:
        if not trial.wire or not set(trial.wire["protocols"]) <= set(PLAIN):
            return None
        declared = trial.point.axes[axis]
        counted = trial.wire["writes"]
        joined, split = counted[f"{kind}_joined"], counted[f"{kind}_split"]
        if not joined + split:
            return None
        other = split if declared == "joined" else joined
        right = other <= MISFITS * (joined + split)
        reason = f"{joined:,} in one segment, {split:,} in two or more; {axis}={declared}"
        return Check.judged(name, right, reason)

    return judge


def _whole(trial: Trial) -> Check | None:
    """Whether the packets show all calls that were made."""
    if not trial.wire:
        return None
    made, seen = int(trial.result.get("calls_whole_run") or 0), trial.wire["exchanges"]
    if trial.wire["damaged"]:
        return Check.judged("packets", False, f"the capture is damaged: {trial.wire['damaged']}")
    if trial.point.axes["caller"] != "engine" or "tls" in trial.wire["protocols"]:
        return None
    reason = f"{counted(seen, 'exchange')} in the packets of {counted(made, 'call')} made"
    return Check.judged("packets", seen == made, reason)


def _reconciled(trial: Trial) -> Check | None:
    """Whether each call's time is explained by its packets."""
    found = trial.wire.get("reconciliation") if trial.wire else None
    if not found:
        return None
    name = "calls beside packets"
    if "left_out" in found:
        return Check.unmeasurable(name, found["left_out"])
    calls = found["calls"]
    logged, matched = calls["logged"], calls["matched"]
    if not matched:
        why = "their connections are encrypted" if calls["encrypted"] else "none was found"
        return Check.unmeasurable(name, f"of {counted(logged, 'call')} no packets are known: {why}")
    p99 = float(found["all"]["residual"]["p99_us"])
    reason = (
        f"{of_all(matched, logged, 'call')} laid beside their packets; stamps contradict each "
        f"other by {_time(p99)} at p99 (at most {_time(RESIDUAL_US)})"
    )
    clock = found["clock_us"]
    agree = clock is None or clock["low"] <= 0.0 <= clock["high"]
    if clock is not None:
        reason += f"; clocks differ by {_time(clock['low'])} to {_time(clock['high'])}"
    is_whole = logged - matched <= UNMATCHED * logged and not calls["error"]
    return Check.judged(name, p99 <= RESIDUAL_US and is_whole and agree, reason)


def _time(microseconds: float) -> str:
    return format_seconds(microseconds / 1e6)


def _not(right: bool) -> str:
    return "" if right else ": some carried more"


CHECKS: Sequence[Callable[[Trial], Check | None]] = (
    _whole,
    _policy,
    _in_flight,
    _writes("client", "requests"),
    _writes("server", "replies"),
    _reconciled,
)
"""Every check, in the order in which they are shown."""
