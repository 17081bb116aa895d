"""Labels of what was lost: openings that had to be asked for twice, data sent again."""

from __future__ import annotations

from collections.abc import Iterator

from bench.ground_truth.labels.occurrence import DATA, SYN, Bound, Circumstances, Drop, Occurrence
from bench.ground_truth.syscalls.conversations import Connection, Conversation, Exchange

SYN_MS = Bound(500.0, 900.0)
"""Linux repeats a SYN after 1 s (RFC 6298 section 2)."""


def syn_retransmission(talk: Conversation, around: Circumstances) -> Iterator[Occurrence]:
    """From connect() to the first send that the kernel took, less a round trip."""
    for connection in talk.connections:
        connect, sends = connection.client.connect, connection.client.sends
        if connect is None or not sends:
            continue
        found = SYN_MS.judge(SYN, connection.port, 0, sends[0].at - connect.at - around.rtt_ns)
        if found is not None:
            yield found


def data_retransmission(talk: Conversation, around: Circumstances) -> Iterator[Occurrence]:
    """The link dropped a packet with payload while the exchange was under way; TCP must
    have sent it again, because the receiver has it. A control frame of HTTP/2 may have delayed
    this exchange, or the next."""
    for connection in talk.connections:
        lost = [
            drop
            for drop in around.drops
            if drop.port == connection.port and not drop.is_syn and drop.bytes
        ]
        for exchange in connection.exchanges:
            own = [drop for drop in lost if _concerns(drop, exchange)]
            if any(_is_own_send(drop, exchange, connection) for drop in own):
                yield Occurrence(DATA, connection.port, exchange.ordinal, 0.0)
            elif own:
                for ordinal in (exchange.ordinal, exchange.ordinal + 1):
                    yield Occurrence(DATA, connection.port, ordinal, 0.0, is_certain=False)


def _is_own_send(drop: Drop, exchange: Exchange, connection: Connection) -> bool:
    """The last send before the loss was one of the message's own."""
    sender = connection.client if drop.is_forward else connection.server
    message = exchange.request if drop.is_forward else exchange.reply
    last = [send for send in sender.sends if send.at <= drop.at][-1:]
    return message is not None and bool(last) and last[0] in message.sends


def _concerns(drop: Drop, exchange: Exchange) -> bool:
    """The packet was dropped after the first send of its message, and before the exchange
    was over."""
    message = exchange.request if drop.is_forward else exchange.reply
    if message is None:
        return False
    receives = (exchange.reply or exchange.request).receives
    until = receives[-1].ended if receives else message.sends[-1].ended
    return message.sends[0].at <= drop.at <= until
