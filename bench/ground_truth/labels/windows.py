"""Labels of the causes where the network could take more, but a window is empty."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise

from bench.ground_truth.labels.occurrence import (
    H2_WINDOW,
    IDLE_RESTART,
    NS_PER_MS,
    SLOW_START,
    TCP_WINDOW,
    Bound,
    Circumstances,
    Occurrence,
)
from bench.ground_truth.syscalls import conversations
from bench.ground_truth.syscalls.conversations import (
    REPLY,
    REQUEST,
    Connection,
    Conversation,
    Exchange,
    Message,
)
from bench.ground_truth.syscalls.endpoints import Endpoint, Transfer

ROUND = 0.6
"""Of a round trip: a shorter silence between two arrivals is not a wait for an acknowledgment."""
SILENCE_MS_MIN = 0.1
ROUND_TRIP_MS_MIN = 1.0
"""Rounds of a shorter link cost less than a busy machine does."""
WINDOW_MS = Bound(2.0, 5.0, short_ms=0.05)
INITIAL_WINDOW_SEGMENTS = 10
"""RFC 6928."""
KERNEL_WINDOW_BYTES = 60_000
"""Linux offers 65,536 bytes at most until it has seen some arrive."""
IDLE_MIN_NS = 200 * NS_PER_MS
"""The least retransmission timeout of Linux is this plus a round trip; after so long without
a send the congestion window is reduced (RFC 9293, RFC 5681 section 4.1)."""


@dataclass(frozen=True)
class Silence:
    """Nothing was taken from the socket, while the sender's kernel held bytes that it had
    accepted before, or took no more."""

    ns: int
    before: int
    """Bytes that had come since the last silence, or the beginning of the message."""
    is_sure: bool
    """The receiver slept most of it, and the bytes that ended it had been handed over: the
    send buffer was not full."""


def silences(
    talk: Conversation,
    connection: Connection,
    direction: str,
    message: Message,
    around: Circumstances,
) -> list[Silence]:
    """Those of at least ROUND round trips."""
    least = max(int(ROUND * around.rtt_ns), int(SILENCE_MS_MIN * NS_PER_MS))
    sender, _ = connection.sides(direction)
    receiver = talk.receiver(direction)
    found: list[Silence] = []
    flight = message.receives[0].bytes if message.receives else 0
    for before, taken in pairwise(message.receives):
        given, is_full = _find_send(sender, message, taken)
        arrivable = given.ended + around.one_way_ns
        is_full = is_full and arrivable > before.ended
        start = before.ended if is_full else max(before.ended, arrivable)
        length = taken.ended - start
        asleep = receiver.waiting.overlap(start, taken.ended)
        stopped = receiver.stopped.overlap(start, taken.ended)
        if length >= least and not stopped:
            is_sure = asleep * 2 > length and not is_full
            found.append(Silence(length, flight, is_sure))
            flight = 0
        flight += taken.bytes
    return found


def _find_send(sender: Endpoint, message: Message, taken: Transfer) -> tuple[Transfer, bool]:
    """The send that handed over the first byte of a receive, and whether the kernel had
    refused it before."""
    last = len(message.sends) - 1
    places = (number for number, one in enumerate(message.sends) if one.end > taken.start)
    place = next(places, last)
    given = message.sends[place]
    if place == 0:
        return given, False
    before = message.sends[place - 1]
    return given, before.given > before.bytes or _was_refused(sender, before, given)


def rounds(talk: Conversation, around: Circumstances) -> Iterator[Occurrence]:
    """tcp-window-exhausted, slow-start and idle-restart: a message of more than one flight
    arrives in rounds. A small SO_RCVBUF of the receiver is to blame where no flight was
    larger; else the sender's congestion window: one that had grown before and was reduced
    by a pause, or one that had not grown yet."""
    for connection in talk.connections:
        for exchange in connection.exchanges:
            for direction, message in _messages(exchange):
                if message.bytes <= around.segment_bytes:
                    continue
                for cause in _possible(connection, direction, message, around):
                    yield Occurrence(
                        cause, connection.port, exchange.ordinal, 0.0, is_certain=False
                    )
                judged = _classify_rounds(talk, connection, direction, message, around)
                for cause, ns, is_sure in judged:
                    found = WINDOW_MS.judge(
                        cause, connection.port, exchange.ordinal, ns, exchange.ns
                    )
                    if found is not None:
                        certain = found.is_certain and is_sure
                        yield Occurrence(cause, found.port, found.ordinal, found.ms, certain)


def _messages(exchange: Exchange) -> Iterator[tuple[str, Message]]:
    yield REQUEST, exchange.request
    if exchange.reply is not None:
        yield REPLY, exchange.reply


def _classify_rounds(
    talk: Conversation,
    connection: Connection,
    direction: str,
    message: Message,
    around: Circumstances,
) -> Iterator[tuple[str, int, bool]]:
    """Causes of a message's rounds, the time that each may have cost, and whether it is
    beyond doubt that it did."""
    silent = silences(talk, connection, direction, message, around)
    total = sum(one.ns for one in silent)
    if not total:
        return
    if not around.is_clean(connection.port, 0, silent_until(message)):
        # A loss has reduced the congestion window.
        yield from ((cause, total, False) for cause in (TCP_WINDOW, SLOW_START, IDLE_RESTART))
        return
    cause, is_sure = _blame(connection, direction, message, silent, around)
    is_short = around.rtt_ns < ROUND_TRIP_MS_MIN * NS_PER_MS
    if cause == TCP_WINDOW:
        yield TCP_WINDOW, sum(one.ns for one in silent if one.is_sure), is_sure
        yield TCP_WINDOW, total, False
        if not is_sure:
            yield from ((other, total, False) for other in (SLOW_START, IDLE_RESTART))
    elif not is_short and message.bytes > INITIAL_WINDOW_SEGMENTS * around.segment_bytes:
        yield cause, sum(one.ns for one in silent if one.is_sure), is_sure
        yield SLOW_START, total, False
        if _may_outgrow(connection, direction, message):
            yield TCP_WINDOW, total, False


def _possible(
    connection: Connection, direction: str, message: Message, around: Circumstances
) -> Iterator[str]:
    """Causes that are there whatever the receives show, which come late where the receiver
    is busy: the message is larger than that window."""
    sender, receiver = connection.sides(direction)
    window = receiver.receive_buffer
    if window is None and message.start < KERNEL_WINDOW_BYTES:
        window = KERNEL_WINDOW_BYTES
    if window is not None and window < message.bytes:
        yield TCP_WINDOW
    initial = INITIAL_WINDOW_SEGMENTS * around.segment_bytes
    if message.bytes <= initial or around.rtt_ns < ROUND_TRIP_MS_MIN * NS_PER_MS:
        return
    if message.start <= 2 * initial:
        yield SLOW_START
    elif _pause(sender, message) >= IDLE_MIN_NS + around.rtt_ns:
        yield IDLE_RESTART


def _pause(sender: Endpoint, message: Message) -> int:
    """Since the sender's last send before the message, ns; 0 where that is its first."""
    earlier = [one for one in sender.sends if one.end <= message.start]
    return message.sends[0].at - earlier[-1].ended if earlier else 0


def silent_until(message: Message) -> int:
    """When the last byte of a message was taken."""
    return message.receives[-1].ended if message.receives else message.sends[-1].ended


def _may_outgrow(connection: Connection, direction: str, message: Message) -> bool:
    """The message is larger than the window that the receiver's kernel offers at first. How
    fast it offers more is not visible in any system call."""
    _, receiver = connection.sides(direction)
    first = receiver.receive_buffer or KERNEL_WINDOW_BYTES
    return message.bytes > first


def _blame(
    connection: Connection,
    direction: str,
    message: Message,
    silent: list[Silence],
    around: Circumstances,
) -> tuple[str, bool]:
    """The cause of a message's rounds, and whether it is beyond doubt."""
    sender, receiver = connection.sides(direction)
    initial = INITIAL_WINDOW_SEGMENTS * around.segment_bytes
    largest = max(one.before for one in silent)
    window = receiver.receive_buffer
    # The kernel doubles SO_RCVBUF, for its own needs among others (socket(7)).
    if window is not None and window < message.bytes:
        # Beyond doubt where the window is too small for slow start to begin with.
        if window < initial or largest <= 2 * window:
            return TCP_WINDOW, window < initial
        return SLOW_START, False
    pause = _pause(sender, message)
    if not pause or message.start <= 2 * initial:
        return SLOW_START, True
    if pause >= IDLE_MIN_NS + around.rtt_ns:
        return IDLE_RESTART, pause >= 2 * (IDLE_MIN_NS + around.rtt_ns)
    return SLOW_START, False


def h2_window(talk: Conversation, around: Circumstances) -> Iterator[Occurrence]:
    """The sender of a message made its next send only after it had received
    WINDOW_UPDATE, though its kernel had taken all it was given."""
    for connection in talk.connections:
        for exchange in connection.exchanges:
            total = sum(
                _credit_wait(connection, direction, message)
                for direction, message in _messages(exchange)
            )
            found = WINDOW_MS.judge(
                H2_WINDOW, connection.port, exchange.ordinal, total, exchange.ns
            )
            if found is not None:
                yield found


def _credit_wait(connection: Connection, direction: str, message: Message) -> int:
    """How long the sender of a message waited for WINDOW_UPDATE, ns."""
    sender, receiver = connection.sides(direction)
    grants = [one for one in receiver.sends if _grants(one)]
    if not grants:
        return 0
    total = 0
    for before, following in pairwise(message.sends):
        if before.given > before.bytes or _was_refused(sender, before, following):
            continue
        heard = [one for one in sender.receives if before.ended <= one.ended <= following.at]
        if any(_holds(one, grants) for one in heard):
            total += following.at - before.ended
    return total


def _grants(send: Transfer) -> bool:
    return any(
        kind == conversations.WINDOW_UPDATE for kind, _, _ in conversations.frames(send.prefix)
    )


def _was_refused(sender: Endpoint, before: Transfer, following: Transfer) -> bool:
    return any(before.ended <= one.at <= following.at for one in sender.refused)


def _holds(received: Transfer, grants: list[Transfer]) -> bool:
    return any(one.start < received.end and one.end > received.start for one in grants)
