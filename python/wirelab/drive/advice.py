"""What a person may want to try after `wirelab drive`, where the result itself suggests it."""

from __future__ import annotations

from pathlib import Path

import msgspec

from wirelab.checks.backlog import arrivals, count_unfinished
from wirelab.checks.system_noise import WAITED_SHARE_MAX, are_short
from wirelab.documents.event import Process
from wirelab.drive.amount import Amount
from wirelab.drive.server_noise import KeptOff
from wirelab.format.counting import format_count
from wirelab.format.units import format_seconds
from wirelab.records.group import GroupResult
from wirelab.stack.reference import Stack
from wirelab.stack.targets import Server

PAUSE_S_MIN = 0.1
"""Sum of the pauses before attempts to connect from which on they are worth a hint."""
CLOSED_MIN = 3
"""Calls that show that a server ends connections as a rule."""
WINDOW_S_MIN = 0.8
"""A shorter window has too few slots to tell a trend."""


def hints(
    target: Stack | Server,
    group: GroupResult,
    amount: Amount,
    *,
    interrupted: bool = False,
    keeps: bool = True,
    is_websocket: bool = False,
    authority: Path | None = None,
) -> list[str]:
    """Sentences, none for a result that explains itself. ``keeps``: connections were to be kept;
    ``authority``: whose certificates were to be accepted."""
    steady, short = None, None
    if not interrupted:
        short = _short(group, amount)
        # A load that is to change has no steady rate.
        changes = amount.stages or amount.bursts
        steady = _advise_missed_stages(group, amount) if changes else _unsteady(target, group)
    # A stream that was ended as requested takes its connection of HTTP/1.1 along.
    keeps = keeps and not (group.streams and group.streams.stopped)
    unasked = _advise_unsolicited(group) if is_websocket and keeps else None
    ended = _advise_keep_alive(group) if keeps and not unasked else None
    found = (
        _nobody(target, group),
        _tls(target, group),
        _certificate(target, group, authority),
        _version(target, group),
        unasked,
        _advise_declined(group),
        ended,
        _advise_reuse_limit(group) if keeps else None,
        _advise_goaway(target, group),
        _resent(group),
        _framing(group),
        _advise_reconnect_pauses(group),
        short,
        _none_ended(group),
        _advise_backlog(group, amount),
        steady,
    )
    return [hint for hint in found if hint is not None]


def _nobody(target: Stack | Server, group: GroupResult) -> str | None:
    if isinstance(target, Stack) or not _is_refused(group):
        return None
    if group.ok:
        refused = format_count(group.errors_by_kind.get("refused", 0), "call")
        return (
            f"the server at {target.address} was away for a part of the run: its port refused "
            f"{refused}, and the rate, which is of good calls, is one of the whole window"
        )
    return f"nobody listens at {target.address}: is the server running, and is the port right?"


def noise(group: GroupResult, process: Process, kept_off: KeptOff | None = None) -> list[str]:
    """Sentences about other work of the machine that the result contains, from the engine's
    ``process`` and what was observed of the server; none on a quiet machine."""
    found = (
        _advise_waits(group, process),
        _server_waited(group, kept_off),
        _advise_pauses(group, process),
    )
    return [one for one in found if one is not None]


def _advise_waits(group: GroupResult, process: Process) -> str | None:
    """The engine had no core of its own."""
    waited = process.run_delay_s
    if waited is None or waited <= WAITED_SHARE_MAX * group.window_s:
        return None
    return (
        f"the engine's threads waited {format_seconds(waited)} for a core within the window: other "
        "programs used it, and the times include these waits; repeat it on a quieter machine"
    )


def _server_waited(group: GroupResult, kept_off: KeptOff | None) -> str | None:
    """The server had no core of its own."""
    if kept_off is None:
        return None
    # Threads of one process wait for each other too, which is a property of that process.
    waited = min(kept_off.waited_s, kept_off.others_s)
    if waited <= WAITED_SHARE_MAX * group.window_s:
        return None
    return (
        f"the server's threads waited {format_seconds(kept_off.waited_s)} for a core within the "
        f"window, and other programs used {format_seconds(kept_off.others_s)} of the cores: the "
        "server can do more, and its times are shorter, on a quieter machine; repeat it there"
    )


def _advise_pauses(group: GroupResult, process: Process) -> str | None:
    """The engine was stopped, or the machine was."""
    pauses = process.pauses
    if pauses is None or are_short(pauses, group.window_s):
        return None
    return (
        f"the engine did not run for up to {format_seconds(pauses.longest_s)}, "
        f"{format_seconds(pauses.total_s)} in all: it was stopped or had no core, and the largest "
        "times are its own, not the server's; repeat it"
    )


def _is_refused(group: GroupResult) -> bool:
    """The port was closed, at least for a time."""
    return "connection_refused" in _codes(group)


def _short(group: GroupResult, amount: Amount) -> str | None:
    """A number of calls that was not reached."""
    planned, (made, _) = group.calls_planned, arrivals(group)
    if planned is None or made >= planned:
        return None
    by = "--iterations" if amount.iterations else "--calls"
    return f"--max-time ended it after {made:,} of the {planned:,} that {by} asked for"


def _none_ended(group: GroupResult) -> str | None:
    if group.ended or not group.ok:
        return None
    reason = "no call ended within the window, so that there is no rate"
    if group.calls_planned is None:
        return f"{reason}: --duration longer than a call"
    return f"{reason}: more --calls, and --max-time longer than they take, or --warmup"


def _advise_backlog(group: GroupResult, amount: Amount) -> str | None:
    """Calls that arrived by the rate and had not ended when the window closed."""
    if group.load != "open" or not group.ok or not group.ended:
        return None
    behind, allowed = count_unfinished(group, amount.concurrency())
    if behind <= allowed:
        return None
    return (
        f"the rate was not kept: {behind:,} of {group.calls:,} calls had not ended when the "
        "window closed, so that response times grow with its length. Either the server can do no "
        "more, or it was asked too little at a time: more --connections or --in-flight let more "
        "calls be under way"
    )


def _advise_goaway(target: Stack | Server, group: GroupResult) -> str | None:
    if isinstance(target, Stack) or "not_processed" not in _codes(group):
        return None
    return (
        "the server ended connections with calls under way (GOAWAY), also where these were sent "
        "again, three times each: does it allow only few requests on each connection "
        "(keepalive_requests of nginx)?"
    )


def _resent(group: GroupResult) -> str | None:
    if not group.resent:
        return None
    return (
        f"{format_count(group.resent, 'call')} of {group.calls:,} had to be sent again, since the "
        "server had not processed them (GOAWAY or REFUSED_STREAM, RFC 9113 section 8.7); their "
        "times include it"
    )


def _framing(group: GroupResult) -> str | None:
    if not group.framing:
        return None
    return (
        f"{format_count(group.framing, 'reply')} had both Transfer-Encoding, by which "
        "it was read, and Content-Length (RFC 9112 section 6.3): each such connection was closed, "
        "and the times include opening the next"
    )


def _advise_reconnect_pauses(group: GroupResult) -> str | None:
    """Calls waited for an attempt to connect."""
    paused_s = group.reconnect_pause_s or 0.0
    if paused_s < PAUSE_S_MIN:
        return None
    failed = format_count(group.connections_failed or 0, "connection")
    return (
        f"{failed} failed or ended without a reply, and calls waited "
        f"{format_seconds(paused_s)} in all before the next attempts: the pause "
        "begins at 1 ms and doubles with each failure in a row, up to --reconnect-delay"
    )


def _advise_unsolicited(group: GroupResult) -> str | None:
    """A server of WebSocket that sends messages by itself, or more than were expected."""
    opened = (group.connections_opened or 0) - (group.connections_peak or 0) - group.errors
    if not group.ok or opened <= 0:
        return None
    return (
        f"{format_count(opened, 'connection')} ended between two calls: the server closed them, "
        "or sent "
        "what no call asked for. Such a message ends its connection, or is taken for a reply of "
        "the next call, whose times are then wrong; --expect-messages is the number of replies "
        "to each call"
    )


def _advise_declined(group: GroupResult) -> str | None:
    """A server that did not agree to compress."""
    offers = group.websocket_extensions or {}
    if declined := offers.get("none", 0):
        return (
            f"the server declined permessage-deflate on {declined:,} of "
            f"{format_count(sum(offers.values()), 'connection')}: messages went uncompressed there"
        )
    return None


def _certificate(target: Stack | Server, group: GroupResult, authority: Path | None) -> str | None:
    if isinstance(target, Stack) or group.ok:
        return None
    codes = _codes(group)
    if "certificate_ca_as_end_entity" in codes:
        return (
            "the server's certificate is one of an authority (CA:TRUE), as `openssl req -x509` "
            "makes it, and stands for a server only where it is given itself: give that very "
            "certificate with --ca FILE, or --insecure"
        )
    if "certificate_unknown_issuer" in codes and authority is not None:
        return f"{authority} (--ca) does not hold the authority of the server's certificate"
    if "certificate_unknown_issuer" in codes:
        return (
            "the server's certificate is not signed by a known authority: "
            "name that authority with --ca FILE, or give --insecure"
        )
    return None


def _tls(target: Stack | Server, group: GroupResult) -> str | None:
    """TLS on one side only; a server may also close silently."""
    if isinstance(target, Stack) or group.ok or not group.errors:
        return None
    codes = _codes(group)
    plain, secure = ("grpc://", "grpcs://") if target.kind == "grpc" else ("http://", "https://")
    if "peer_without_tls" in codes:
        return f"the server speaks without TLS: write {plain} in place of {secure}"
    if "peer_wants_tls" in codes:
        return f"the server wants TLS: write {secure} in place of {plain}"
    silent = not group.bytes_received and set(_kinds(group)) <= {"reset", "closed"}
    if silent and target.secure_name is None:
        return f"the server ended every connection without a byte; does it want TLS ({secure})?"
    return None


def _version(target: Stack | Server, group: GroupResult) -> str | None:
    """A server of HTTP/2 that is asked in HTTP/1.1, or the other way round."""
    if isinstance(target, Stack) or group.ok:
        return None
    codes = _codes(group)
    if "peer_speaks_http2" in codes:
        return (
            "the server begins as one of HTTP/2 does: --http2 speaks it at once, and a gRPC "
            "service is called by grpc://HOST:PORT/package.Service/Method"
        )
    if "peer_speaks_http1" in codes:
        remedy = "without --http2" if target.kind == "http" else "as http://"
        return f"the server does not answer in HTTP/2 but in HTTP/1: call it {remedy}"
    return None


def _advise_keep_alive(group: GroupResult) -> str | None:
    """A server that ends connections which the caller would keep: closing and opening are
    then what was measured."""
    opened = (group.connections_opened or 0) - (group.connections_peak or 0)
    if not group.ok or opened < group.calls / 2:
        return None
    return (
        f"the server kept no connection: {group.connections_opened:,} were opened for "
        f"{group.calls:,} calls, and response times hold that; is keep-alive off there?"
    )


def _advise_reuse_limit(group: GroupResult) -> str | None:
    """A server that ends each connection after a number of replies, without announcing it."""
    opened, peak = group.connections_opened or 0, group.connections_peak or 0
    closed = sum(group.errors_by_kind.get(kind, 0) for kind in ("closed", "reset"))
    if not group.ok or closed < CLOSED_MIN or opened - peak < closed / 2 or closed > opened:
        return None
    return (
        f"{closed:,} calls failed because the server closed their connection, after about "
        f"{group.calls // opened:,} calls on each: does it limit the reuse of connections "
        "(keepalive_requests of nginx, max_requests) without `Connection: close`? --close uses one "
        "connection per call"
    )


def _advise_missed_stages(group: GroupResult, amount: Amount) -> str | None:
    """A stage that did not reach its level, or bursts that ran into each other."""
    if not group.ok or not group.periods:
        return None
    # Loaded after the calls, for which nobody then waits.
    from wirelab.checks import periods
    from wirelab.records.load import LoadRecord

    gaps = {"gaps": "exponential"} if amount.poisson else {}
    load = msgspec.convert({**amount.load(), **gaps}, LoadRecord)
    reached, reason = periods.judge(load, group)
    if reached:
        return None
    more = "" if group.load == "closed" else ": more --connections or --in-flight make room"
    return f"{reason}{more}"


def _codes(group: GroupResult) -> set[str]:
    """``ErrorCode`` of the engine, which results of older engines do not have."""
    return {code for code, count in group.errors_by_code.items() if count}


def _kinds(group: GroupResult) -> list[str]:
    return [kind for kind, count in group.errors_by_kind.items() if count]


def _unsteady(target: Stack | Server, group: GroupResult) -> str | None:
    """A rate that moved during the window, as that of a service which still compiles."""
    if not group.ok or group.window_s < WINDOW_S_MIN or _is_refused(group):
        return None
    # Loaded after the calls, for which nobody then waits.
    from wirelab.checks.load import whole_slots
    from wirelab.statistics.stationarity import stationary

    found = stationary(whole_slots(group))
    if found.stationary is not False:
        return None
    warmed = group.warmup.seconds
    longer = f"a --warmup longer than {warmed:g}s" if warmed else "--warmup 5s"
    compiles = isinstance(target, Stack) and target.axes.language == "java"
    why = ", in which Java still compiles" if compiles else ""
    return (
        f"the rate was not steady over the window ({found.reason}): {longer} leaves the "
        f"beginning out{why}; where that changes nothing, something else is at work on the machine"
    )
