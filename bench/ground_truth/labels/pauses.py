"""Labels of the causes where somebody waits: a kernel for an acknowledgment, a client for
its server, a server for its client."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise

from bench.ground_truth.labels.occurrence import (
    NAGLE,
    NOT_READING,
    NS_PER_MS,
    THINK,
    Bound,
    Circumstances,
    Occurrence,
)
from bench.ground_truth.syscalls.conversations import (
    REPLY,
    REQUEST,
    Connection,
    Conversation,
    Exchange,
    Message,
)
from bench.ground_truth.syscalls.endpoints import Endpoint, Transfer

NAGLE_MS = Bound(10.0, 20.0)
THINK_MS = Bound(2.0, 5.0)
CLEAR_SHARE = 0.5
"""Of a round trip: less may be taken for the link's variation."""
FULL_SHARE = 0.6
"""Of SO_RCVBUF: the kernel keeps some for its own needs, and doubles the figure for them."""
NOT_READING_MS = Bound(5.0, 20.0)
SEGMENTS_OF_A_SMALL_MESSAGE = 8
"""Nagle's algorithm holds back less than a segment; a larger message may wait for other
reasons, of which :mod:`windows` speaks."""


def nagle_delayed_ack(talk: Conversation, around: Circumstances) -> Iterator[Occurrence]:
    """Bytes that one send handed over, behind others, on a socket without TCP_NODELAY, came
    out of the receiver's socket at least 20 ms later than a round trip explains, though the
    receiver slept in epoll_wait() all the while and nothing was lost. Where it was busy
    instead, that may have been the reason."""
    for connection in talk.connections:
        for exchange in connection.exchanges:
            for direction, message in ((REQUEST, exchange.request), (REPLY, exchange.reply)):
                if message is None or not connection.sides(direction)[0].nagle:
                    continue
                for ns, is_sure in _find_held_sends(talk, connection, direction, message, around):
                    found = NAGLE_MS.judge(
                        NAGLE, connection.port, exchange.ordinal, ns, exchange.ns
                    )
                    if found is not None:
                        certain = found.is_certain and is_sure
                        yield Occurrence(NAGLE, found.port, found.ordinal, found.ms, certain)


def _find_held_sends(
    talk: Conversation,
    connection: Connection,
    direction: str,
    message: Message,
    around: Circumstances,
) -> Iterator[tuple[int, bool]]:
    """How long each send of the message was held back beyond a round trip, ns, and whether
    its receiver slept."""
    if message.bytes > SEGMENTS_OF_A_SMALL_MESSAGE * around.segment_bytes:
        return
    receiver = talk.receiver(direction)
    for send in message.sends:
        taken = _first_taken(message.receives, send)
        if taken is None or send.start == 0:
            continue  # nothing before it could be unacknowledged
        if not around.is_clean(connection.port, send.at, taken.ended):
            continue
        late = taken.ended - send.ended - around.one_way_ns
        asleep = receiver.waiting.overlap(send.ended, taken.ended)
        stopped = receiver.stopped.overlap(send.ended, taken.ended)
        is_sure = asleep * 2 > taken.ended - send.ended and not stopped
        yield late - around.rtt_ns, is_sure


def _first_taken(receives: tuple[Transfer, ...], send: Transfer) -> Transfer | None:
    """The receive that gave the first byte of a send."""
    return next((one for one in receives if one.start <= send.start < one.end), None)


def server_think_time(talk: Conversation, around: Circumstances) -> Iterator[Occurrence]:
    """Between the server's recv() of the last byte of a request and its first send of the
    reply; with it the time that the request lay in the kernel of a server that did not wait
    for any. Where a steady link was late as well, as on a busy machine, nobody who sees
    packets at one end can tell which it was: that counts neither way."""
    for connection in talk.connections:
        for exchange in connection.exchanges:
            thought, late = _think_time(talk, exchange, around), 0
            if around.is_steady:
                late = _late(exchange, around)
            for ns, is_sure in ((thought, True), (thought + late, False)):
                found = THINK_MS.judge(THINK, connection.port, exchange.ordinal, ns, exchange.ns)
                if found is not None:
                    is_clear = ns >= CLEAR_SHARE * around.rtt_ns
                    certain = found.is_certain and is_sure and is_clear
                    yield Occurrence(THINK, found.port, found.ordinal, found.ms, certain)
                    break


def _late(exchange: Exchange, around: Circumstances) -> int:
    """How much later than by the link's delay the last byte of the request and the first of
    the reply were taken."""
    request, reply = exchange.request, exchange.reply
    if reply is None or not request.receives or not reply.receives:
        return 0
    there = request.receives[-1].ended - request.sends[-1].ended
    back = reply.receives[0].ended - reply.sends[0].ended
    return max(0, there + back - around.rtt_ns)


def _think_time(talk: Conversation, exchange: Exchange, around: Circumstances) -> int:
    if exchange.reply is None or not exchange.request.receives:
        return 0
    last = exchange.request.receives[-1]
    arrived = exchange.request.sends[-1].ended + around.one_way_ns
    # While it waited, nothing was there.
    since = max(arrived, talk.server.waiting.last_end(last.at) or 0)
    return exchange.reply.sends[0].at - last.ended + max(0, last.at - since)


def client_not_reading(talk: Conversation, around: Circumstances) -> Iterator[Occurrence]:
    """The client neither called recv() nor waited to, while bytes of the reply filled its
    socket, and more came once it had taken them: its window had closed. A pause during which
    the rest of the reply fits into the socket's buffer delays no packet and is not an occurrence
    that a capture could show; it is not counted either way."""
    for connection in talk.connections:
        for exchange in connection.exchanges:
            if exchange.reply is None:
                continue
            for idle, seen in _idle(talk, connection.client, exchange.reply, around):
                found = NOT_READING_MS.judge(
                    NOT_READING, connection.port, exchange.ordinal, idle, exchange.ns
                )
                if found is not None:
                    certain = found.is_certain and seen
                    yield Occurrence(found.cause, found.port, found.ordinal, found.ms, certain)


def _idle(
    talk: Conversation, client: Endpoint, reply: Message, around: Circumstances
) -> Iterator[tuple[int, bool]]:
    """How long bytes of the reply were not asked for, each time, ns, and whether its sender
    noticed: more was received after the client had first found its socket empty."""
    for before, taken in zip((None, *reply.receives), reply.receives, strict=False):
        sent = next((one for one in reply.sends if one.end > taken.start), reply.sends[-1])
        since = max(sent.ended + around.one_way_ns, before.ended if before else 0)
        if taken.at <= since:
            continue
        # While it waited, nothing was there; but a stop does not end the call.
        stopped = talk.client.stopped.overlap(since, taken.at)
        idle = max(stopped, taken.at - max(since, talk.client.waiting.last_end(taken.at) or 0))
        if idle > NOT_READING_MS.least_ms * NS_PER_MS:
            yield idle, _was_full(client, taken) and _came_more(talk, reply, taken)


def _was_full(client: Endpoint, taken: Transfer) -> bool:
    """What was taken was about as much as the socket holds. How much that is where the kernel
    chooses is not visible in any call."""
    buffer = client.receive_buffer
    return buffer is not None and taken.bytes >= FULL_SHARE * buffer


def _came_more(talk: Conversation, reply: Message, first: Transfer) -> bool:
    """After this receive the client waited, and got more of the reply."""
    later = [one for one in reply.receives if one.at >= first.at]
    return any(
        talk.client.asking.overlap(one.ended, following.at) > 0
        for one, following in pairwise(later)
    )
