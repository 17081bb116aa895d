"""Conversations made by hand: what each end called when, in milliseconds."""

from __future__ import annotations

from collections.abc import Iterable

from bench.ground_truth.labels.occurrence import Circumstances
from bench.ground_truth.syscalls.conversations import Conversation, put_together
from bench.ground_truth.syscalls.endpoints import Endpoint, Process, Spans, Transfer
from bench.ground_truth.syscalls.strace import Call

MS = 1_000_000
CLIENT, SERVER = "198.18.0.1:40000", "198.18.0.2:80"

Step = tuple[float, int] | tuple[float, int, bytes]
"""When, how many bytes, and what they began with."""


def transfers(steps: Iterable[Step]) -> list[Transfer]:
    """Calls of 10 us each that moved the bytes one after another."""
    found: list[Transfer] = []
    for at_ms, size, *prefix in steps:
        at = round(at_ms * MS)
        start = found[-1].end if found else 0
        begun = prefix[0] if prefix else b"x"
        found.append(Transfer(at, at + 10_000, start, start + size, size, begun))
    return found


def connect(at_ms: float) -> Call:
    """A connect() under way."""
    at = round(at_ms * MS)
    return Call("connect", at, at + 10_000, -1, "EINPROGRESS", 4, None)


def talk(
    client: Endpoint,
    server: Endpoint,
    *,
    stopped: tuple[float, float] | None = None,
    busy: tuple[float, float] | None = None,
    is_http2: bool = False,
) -> Conversation:
    """Both wait all the time, except the client while it is stopped, and the server while
    it is busy."""
    return put_together(
        Process({client.ends: client}, _waits(stopped), _waits(stopped), _spans(stopped)),
        Process({server.ends: server}, _waits(busy), _waits(busy), Spans([])),
        is_http2=is_http2,
        is_serial=True,
    )


def _waits(gap: tuple[float, float] | None) -> Spans:
    start, end = gap or (1e6, 1e6)
    return Spans([(0, round(start * MS)), (round(end * MS), 10**15)])


def _spans(span: tuple[float, float] | None) -> Spans:
    return Spans([(round(span[0] * MS), round(span[1] * MS))] if span else [])


def client(sends: Iterable[Step], receives: Iterable[Step], *, nagle: bool = False) -> Endpoint:
    """The client's end."""
    return Endpoint(
        (CLIENT, SERVER),
        connect(0.0),
        nagle,
        sends=transfers(sends),
        receives=transfers(receives),
    )


def server(sends: Iterable[Step], receives: Iterable[Step], *, nagle: bool = False) -> Endpoint:
    """The server's end."""
    return Endpoint(
        (SERVER, CLIENT), None, nagle, sends=transfers(sends), receives=transfers(receives)
    )


def link(rtt_ms: float = 0.04) -> Circumstances:
    """An Ethernet link without losses."""
    return Circumstances(round(rtt_ms * MS), 1_448)
