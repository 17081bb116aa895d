"""Labels of the causes where the network could take more, but a window is empty."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from bench.ground_truth import frames
from bench.ground_truth.circumstances import Circumstances
from bench.ground_truth.conversations import (
    REPLY,
    REQUEST,
    Connection,
    Conversation,
    Exchange,
    Message,
)
from bench.ground_truth.endpoints import Endpoint, Transfer
from bench.ground_truth.occurrence import (
    H2_WINDOW,
    IDLE_RESTART,
    NS_PER_MS,
    SLOW_START,
    TCP_WINDOW,
    Bound,
    Occurrence,
)

ROUND = 0.6
"""Of a round trip: a shorter silence between two arrivals is no wait for an acknowledgment."""
SILENCE_MS_MIN = 0.1
ROUND_TRIP_MS_MIN = 1.0
"""Rounds of a shorter link cost less than a busy machine does."""
WINDOW_MS = Bound(2.0, 5.0, short_ms=0.05)
INITIAL_WINDOW_SEGMENTS = 10
"""RFC 6928."""
IDLE_MIN_NS = 200 * NS_PER_MS
"""The least retransmission timeout of Linux is this plus a round trip; after so long without
a send the congestion window is reduced (RFC 9293, RFC 5681 section 4.1)."""


@dataclass(frozen=True)
class Silence:
    """The receiver had taken all that had come and waited, while the sender's kernel held
    bytes that it had accepted before."""

    at: int
    ns: int
    before: int
    """Bytes that had come since the last silence, or the beginning of the message."""


def silences(
    talk: Conversation,
    connection: Connection,
    direction: str,
    message: Message,
    around: Circumstances,
) -> list[Silence]:
    """Those of at least ROUND round trips, while nothing was lost."""
    least = max(int(ROUND * around.rtt_ns), int(SILENCE_MS_MIN * NS_PER_MS))
    receiver = talk.receiver(direction)
    found: list[Silence] = []
    flight = message.receives[0].bytes if message.receives else 0
    for before, taken in zip(message.receives, message.receives[1:], strict=False):
        given = next(one for one in message.sends if one.start <= taken.start < one.end)
        start = max(before.ended, given.ended + around.one_way_ns)
        length = taken.ended - start
        asleep = receiver.waiting.within(start, taken.ended)
        stopped = receiver.stopped.within(start, taken.ended)
        if (
            length >= least
            and asleep * 2 > length
            and not stopped
            and around.is_clean(connection.port, message.sends[0].at, taken.ended)
        ):
            found.append(Silence(start, length, flight))
            flight = 0
        flight += taken.bytes
    return found


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
                silent = silences(talk, connection, direction, message, around)
                total = sum(one.ns for one in silent)
                if not total:
                    continue
                cause, is_sure = _blame(connection, direction, message, silent, around)
                if cause != TCP_WINDOW and around.rtt_ns < ROUND_TRIP_MS_MIN * NS_PER_MS:
                    continue
                found = WINDOW_MS.judge(
                    cause, connection.port, exchange.ordinal, total, exchange.ns
                )
                if found is not None:
                    certain = found.is_certain and is_sure
                    yield Occurrence(cause, found.port, found.ordinal, found.ms, certain)


def _messages(exchange: Exchange) -> Iterator[tuple[str, Message]]:
    yield REQUEST, exchange.request
    if exchange.reply is not None:
        yield REPLY, exchange.reply


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
    # The kernel doubles SO_RCVBUF, for its own needs among others (socket(7)).
    if receiver.receive_buffer is not None and largest <= 2 * receiver.receive_buffer:
        # Beyond doubt where the window is too small for slow start to begin with.
        return TCP_WINDOW, receiver.receive_buffer < initial
    earlier = [one for one in sender.sends if one.end <= message.start]
    grown = message.start > 2 * initial
    if not earlier or not grown:
        return SLOW_START, True
    pause = message.sends[0].at - earlier[-1].ended
    if pause >= IDLE_MIN_NS + around.rtt_ns:
        return IDLE_RESTART, pause >= 2 * (IDLE_MIN_NS + around.rtt_ns)
    return SLOW_START, False


def h2_window(talk: Conversation, around: Circumstances) -> Iterator[Occurrence]:
    """The sender of a message made its next send only after it had received
    WINDOW_UPDATE, though its kernel had taken all it was given."""
    for connection in talk.connections:
        for exchange in connection.exchanges:
            total = sum(
                _starved(connection, direction, message)
                for direction, message in _messages(exchange)
            )
            found = WINDOW_MS.judge(
                H2_WINDOW, connection.port, exchange.ordinal, total, exchange.ns
            )
            if found is not None:
                yield found


def _starved(connection: Connection, direction: str, message: Message) -> int:
    """How long the sender of a message waited for WINDOW_UPDATE, ns."""
    sender, receiver = connection.sides(direction)
    grants = [one for one in receiver.sends if _grants(one)]
    if not grants:
        return 0
    total = 0
    for before, following in zip(message.sends, message.sends[1:], strict=False):
        if before.given > before.bytes or _was_refused(sender, before, following):
            continue
        heard = [one for one in sender.receives if before.ended <= one.ended <= following.at]
        if any(_holds(one, grants) for one in heard):
            total += following.at - before.ended
    return total


def _grants(send: Transfer) -> bool:
    return any(kind == frames.WINDOW_UPDATE for kind, _, _ in frames.frames(send.prefix))


def _was_refused(sender: Endpoint, before: Transfer, following: Transfer) -> bool:
    return any(before.ended <= one.at <= following.at for one in sender.refused)


def _holds(received: Transfer, grants: list[Transfer]) -> bool:
    return any(one.start < received.end and one.end > received.start for one in grants)
