"""Labels of the causes that are a way of using sockets: the pattern is there or it is not."""

from __future__ import annotations

import re
from collections.abc import Iterator

from bench.ground_truth.labels.occurrence import (
    NS_PER_MS,
    PER_CALL,
    SPLIT,
    UNTIL_CLOSE,
    Circumstances,
    Occurrence,
)
from bench.ground_truth.syscalls.conversations import Connection, Conversation, Message

_FRAMED = re.compile(rb"\r\n(content-length:|transfer-encoding: *chunked)", re.IGNORECASE)


def split_writes(talk: Conversation, around: Circumstances) -> Iterator[Occurrence]:
    """One message handed over in two sends or more, the first of less than one segment:
    two packets where one would have done, or the beginning of one."""
    for connection in talk.connections:
        for exchange in connection.exchanges:
            found = [
                _is_split(message, around.segment_bytes)
                for message in (exchange.request, exchange.reply)
                if message is not None
            ]
            if True in found or None in found:
                certain = True in found
                yield Occurrence(SPLIT, connection.port, exchange.ordinal, 0.0, certain)


def _is_split(message: Message, segment_bytes: int) -> bool | None:
    """None where a later part came so late that it may not have been at hand."""
    if len(message.sends) < 2 or message.sends[0].bytes >= segment_bytes:
        return False
    first, second = message.sends[:2]
    if first.given > first.bytes:
        return False  # the kernel took less than it was given: one send that went on
    return True if second.at - first.ended < NS_PER_MS else None


def connection_per_call(talk: Conversation, around: Circumstances) -> Iterator[Occurrence]:
    """A connect() for one exchange, by a client that does so again and again."""
    alone = [one for one in talk.connections if len(one.exchanges) == 1]
    if len(talk.connections) < 2:
        return
    for connection in alone:
        peers = [one for one in alone if one.client.ends[1] == connection.client.ends[1]]
        # A pool that was opened at the start has calls on several connections at once.
        yield Occurrence(PER_CALL, connection.port, 0, 0.0, len(peers) == len(talk.connections))


def read_until_close(talk: Conversation, around: Circumstances) -> Iterator[Occurrence]:
    """A reply of HTTP/1.x that names no length: recv() = 0 ended it."""
    for connection in talk.connections:
        for exchange in connection.exchanges:
            reply = exchange.reply
            if reply is None or not _is_unframed(reply, connection):
                continue
            waited = 0
            if connection.client.end_seen_at is not None and reply.receives:
                waited = connection.client.end_seen_at - reply.receives[-1].ended
            yield Occurrence(
                UNTIL_CLOSE, connection.port, exchange.ordinal, round(waited / NS_PER_MS, 3)
            )


def _is_unframed(reply: Message, connection: Connection) -> bool:
    head = reply.sends[0].prefix
    return (
        head.startswith(b"HTTP/1.")
        and b"\r\n\r\n" in head
        and _FRAMED.search(head.partition(b"\r\n\r\n")[0]) is None
        and connection.client.end_seen_at is not None
    )
