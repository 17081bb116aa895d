"""A process's own view of its connections: bytes in, bytes out, and when it waited."""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from collections.abc import Iterable
from dataclasses import dataclass, field

from bench.ground_truth.syscalls.strace import RECEIVES, SENDS, WAITS, Call, Ends, Stop

_SPEC = re.compile(r"\{tv_sec=(\d+), tv_nsec=(\d+)\}")
_MS = re.compile(r"\], \d+, (-?\d+)")
WAIT_NS_MIN = 100_000
"""A shorter wait found something at once: it was there before."""
FOREVER_NS = 10**18
OVERRUN_NS = 1_000_000
"""A wait that goes on for longer than its own limit and this was none: the process was not
given a processor."""
_VALUE = re.compile(r"(TCP_NODELAY|SO_RCVBUF), \[(\d+)\]")


@dataclass(frozen=True)
class Transfer:
    """Bytes that one call moved between the process and its kernel."""

    at: int
    ended: int
    start: int
    """Offset of the first byte in the stream of its direction."""
    end: int
    """Offset behind the last."""
    given: int
    """Bytes offered, or room for them."""
    prefix: bytes

    @property
    def bytes(self) -> int:
        return self.end - self.start


@dataclass
class Endpoint:
    """One end of a TCP connection."""

    ends: Ends
    connect: Call | None = None
    """At the end that opened it."""
    nagle: bool = True
    """TCP_NODELAY was never set."""
    receive_buffer: int | None = None
    """SO_RCVBUF as the process set it, bytes."""
    sends: list[Transfer] = field(default_factory=list)
    receives: list[Transfer] = field(default_factory=list)
    refused: list[Call] = field(default_factory=list)
    """Sends that the kernel took nothing of: EAGAIN, its buffer was full."""
    end_seen_at: int | None = None
    """recv() returned 0."""
    closed_at: int | None = None
    failed: bool = False
    """A call ended in an error of the connection."""

    def add_send(self, call: Call) -> None:
        if call.error == "EAGAIN":
            self.refused.append(call)
        elif call.result > 0:
            self.sends.append(_make_transfer(self.sends, call))

    def add_receive(self, call: Call) -> None:
        if call.result > 0:
            self.receives.append(_make_transfer(self.receives, call))
        elif call.result == 0 and self.end_seen_at is None:
            self.end_seen_at = call.ended

    def set_option(self, words: str) -> None:
        """An option of which a label speaks."""
        found = _VALUE.search(words)
        if found and found[1] == "TCP_NODELAY":
            self.nagle = found[2] == "0"
        elif found:
            self.receive_buffer = int(found[2])


def _make_transfer(transfers: list[Transfer], call: Call) -> Transfer:
    start = transfers[-1].end if transfers else 0
    end = start + call.result
    # A kernel that takes less than it was given shows more of the buffer than it took.
    prefix = call.prefix[: call.result]
    return Transfer(call.at, call.ended, start, end, sum(call.given), prefix)


class Spans:
    """Spans of time, none touching another."""

    def __init__(self, spans: Iterable[tuple[int, int]]) -> None:
        self._spans: list[tuple[int, int]] = []
        for start, end in sorted(spans):
            if self._spans and start <= self._spans[-1][1]:
                start, before = self._spans.pop()
                end = max(end, before)
            self._spans.append((start, end))
        self._starts = [start for start, _ in self._spans]

    def last_end(self, at: int) -> int | None:
        """When the last span before that moment ended, the moment itself inside of one."""
        place = bisect_right(self._starts, at) - 1
        return min(self._spans[place][1], at) if place >= 0 else None

    def next_start(self, at: int) -> int | None:
        """When the first span from that moment on begins."""
        place = bisect_left(self._starts, at)
        return self._starts[place] if place < len(self._starts) else None

    def overlap(self, start: int, end: int) -> int:
        """How much of the time from start to end they cover, ns."""
        first = max(0, bisect_right(self._starts, start) - 1)
        covered = 0
        for begun, over in self._spans[first:]:
            if begun >= end:
                break
            covered += max(0, min(over, end) - max(begun, start))
        return covered


@dataclass(frozen=True)
class Process:
    """All that one process did with TCP."""

    endpoints: dict[Ends, Endpoint]
    waiting: Spans
    """Some thread of it slept in epoll_wait(2) or the like."""
    asking: Spans
    """Some thread of it was in such a call, if only to find that something was there."""
    stopped: Spans
    """It was stopped by SIGSTOP."""

    @classmethod
    def of(cls, events: Iterable[Call | Stop]) -> Process:
        """Reads the events of one log."""
        reader = _Reader()
        for event in events:
            reader.take(event)
        return cls(
            reader.endpoints, Spans(reader.waits), Spans(reader.polled), Spans(reader.stops())
        )


class _Reader:
    """Sorts calls by connection. A connecting socket has no ends yet in the log: what was
    done with it waits under its descriptor."""

    def __init__(self) -> None:
        self.endpoints: dict[Ends, Endpoint] = {}
        self.waits: list[tuple[int, int]] = []
        self.polled: list[tuple[int, int]] = []
        self._early: dict[int, list[Call]] = {}
        self._stops: list[Stop] = []

    def take(self, event: Call | Stop) -> None:
        if isinstance(event, Stop):
            self._stops.append(event)
        elif event.name in WAITS:
            self.polled.append((event.at, event.ended))
            end = min(event.ended, event.at + _limit(event.words) + OVERRUN_NS)
            if end - event.at >= WAIT_NS_MIN:
                self.waits.append((event.at, end))
        elif event.descriptor is not None and event.ends is None:
            self._keep_early(event.descriptor, event)
        elif event.descriptor is not None and event.ends is not None:
            self._add_call(event.descriptor, event.ends, event)

    def stops(self) -> list[tuple[int, int]]:
        """Every thread reports each stop: the first counts, up to the next SIGCONT."""
        spans: list[tuple[int, int]] = []
        since: int | None = None
        for stop in self._stops:
            if stop.stopped and since is None:
                since = stop.at
            elif not stop.stopped and since is not None:
                spans.append((since, stop.at))
                since = None
        return spans

    def _keep_early(self, descriptor: int, call: Call) -> None:
        if call.name == "close":
            self._early.pop(descriptor, None)
        else:
            self._early.setdefault(descriptor, []).append(call)

    def _add_call(self, descriptor: int, ends: Ends, call: Call) -> None:
        endpoint = self.endpoints.get(ends)
        if endpoint is None:
            endpoint = self.endpoints[ends] = Endpoint(ends)
        early = self._early.pop(descriptor, [])
        if call.listener is not None:
            # An accepted socket has the options of the one that it was accepted on.
            early = self._early.get(call.listener, [])
        for one in early:
            _apply(endpoint, one)
        _apply(endpoint, call)


def _limit(words: str) -> int:
    """How long the call may wait at most, ns."""
    if spec := _SPEC.search(words):
        return int(spec[1]) * 1_000_000_000 + int(spec[2])
    found = _MS.search(words)
    if found is None or int(found[1]) < 0:
        return FOREVER_NS
    return int(found[1]) * 1_000_000


def _apply(endpoint: Endpoint, call: Call) -> None:
    if call.name in SENDS:
        endpoint.add_send(call)
    elif call.name in RECEIVES:
        endpoint.add_receive(call)
    elif call.name == "connect" and endpoint.connect is None:
        endpoint.connect = call
    elif call.name == "setsockopt" and call.result == 0:
        endpoint.set_option(call.words)
    elif call.name == "close":
        endpoint.closed_at = call.ended
    if call.error in ("ECONNRESET", "EPIPE", "ETIMEDOUT"):
        endpoint.failed = True
