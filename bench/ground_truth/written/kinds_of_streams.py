"""The other kinds: windows, streams of messages, HTTP/2, tunnels, clocks and mirror ports."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from ipaddress import IPv4Address

from bench.ground_truth.scripted.http2 import ACK as H2_ACK
from bench.ground_truth.scripted.http2 import (
    ASK,
    DATA,
    END_HEADERS,
    END_STREAM,
    HEADERS,
    OK,
    PREFACE,
    SETTINGS,
    frame,
)
from bench.ground_truth.written import frames
from bench.ground_truth.written.conversation import (
    MS,
    MSS,
    SECOND,
    WINDOW_SHIFT,
    Connection,
    Conversation,
    Side,
    write_reply,
    write_request,
)
from bench.ground_truth.written.kinds import BETWEEN, THINKS, call, think
from bench.ground_truth.written.scenario import Scenario, pair

WINDOW_UPDATE = 8
H2_WINDOW = 65_535
"""Of a stream and of a connection, until a side announces another (RFC 9113 section 6.9.2)."""
POST = ASK.replace(b"\x82", b"\x83", 1)
TUNNEL_ENDS = (IPv4Address("192.168.7.1"), IPv4Address("192.168.7.2"))
TRANSFERS: dict[Side, str] = {"client": "request-transfer", "server": "reply-transfer"}


def send_full(capture: Conversation, connection: Connection, side: Side, message: bytes) -> None:
    """A message in full segments, acknowledged by each second one."""
    other: Side = "server" if side == "client" else "client"
    pieces = [message[at : at + MSS] for at in range(0, len(message), MSS)]
    for number, piece in enumerate(pieces):
        capture.send(connection, side, piece)
        capture.wait(10, TRANSFERS[side])
        if number % 2 or number == len(pieces) - 1:
            capture.ack(connection, other)


def _open_http2(capture: Conversation) -> Connection:
    connection = capture.open()
    capture.wait(100, "client-before-request")
    capture.send(connection, "client", PREFACE + frame(SETTINGS, 0, 0))
    capture.wait(connection.to_server_us, "path")
    capture.send(connection, "server", frame(SETTINGS, 0, 0) + frame(SETTINGS, H2_ACK, 0))
    capture.pause(10, 30, "client-before-request")
    capture.send(connection, "client", frame(SETTINGS, H2_ACK, 0))
    capture.pause(10, 30, "client-before-request")
    return connection


def _data(size: int, stream: int, *, last: bool) -> bytes:
    pieces = [(at, min(16_384, size - at)) for at in range(0, size, 16_384)]
    return b"".join(
        frame(DATA, END_STREAM if last and at + length == size else 0, stream, b"x" * length)
        for at, length in pieces
    )


def _update(bytes_: int) -> bytes:
    value = bytes_.to_bytes(4, "big")
    return frame(WINDOW_UPDATE, 0, 0, value) + frame(WINDOW_UPDATE, 0, 1, value)


def upload_by_windows(capture: Conversation) -> None:
    """An upload over HTTP/2 that waits for WINDOW_UPDATE."""
    connection = _open_http2(capture)
    rounds = capture.random.randrange(1, 4)
    head = frame(HEADERS, END_HEADERS, 1, POST)
    send_full(capture, connection, "client", head + _data(H2_WINDOW, 1, last=False))
    for number in range(rounds):
        capture.pause(100, 400, "window-limited")
        capture.send(connection, "server", _update(H2_WINDOW))
        capture.wait(connection.to_client_us, "window-limited")
        send_full(capture, connection, "client", _data(H2_WINDOW, 1, last=number == rounds - 1))
    _answer_http2(capture, connection, think_ms=(0.1, 0.5))


def upload_within_windows(capture: Conversation) -> None:
    """A smaller upload, for which the server takes its time."""
    connection = _open_http2(capture)
    head = frame(HEADERS, END_HEADERS, 1, POST)
    send_full(capture, connection, "client", head + _data(40_000, 1, last=True))
    _answer_http2(capture, connection, think_ms=(200, 900))


def _answer_http2(
    capture: Conversation, connection: Connection, think_ms: tuple[float, float]
) -> None:
    capture.wait(connection.to_server_us, "path")
    capture.pause(*think_ms, "server")
    reply = frame(HEADERS, END_HEADERS, 1, OK) + frame(DATA, END_STREAM, 1, b"x" * 200)
    capture.answer(connection, reply, BETWEEN)


def write_upgraded(capture: Conversation) -> None:
    """HTTP/2 by an upgrade (RFC 7540 section 3.2); stream 1 answers the first request."""
    connection = capture.open()
    capture.wait(300, "client-before-request")
    fields = "Connection: Upgrade, HTTP2-Settings\r\nUpgrade: h2c\r\nHTTP2-Settings: AAMAAABk\r\n"
    capture.ask(connection, write_request(capture.random, fields=fields))
    switching = b"HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: h2c\r\n\r\n"
    capture.wait(100, "server")
    capture.send(connection, "server", switching + frame(SETTINGS, 0, 0))
    capture.wait(connection.to_client_us, "server")
    capture.send(connection, "client", PREFACE + frame(SETTINGS, 0, 0) + frame(SETTINGS, H2_ACK, 0))
    capture.wait(connection.to_server_us, "server")
    capture.send(connection, "server", frame(SETTINGS, H2_ACK, 0))
    capture.pause(150, 900, "server")
    reply = frame(HEADERS, END_HEADERS, 1, OK) + frame(DATA, END_STREAM, 1, b"x" * 200)
    capture.answer(connection, reply, BETWEEN)


def idle_after_reply(capture: Conversation) -> None:
    """Long idle time behind a complete reply, ended by a reset, a probe or a FIN."""
    connection = capture.open()
    for _ in range(capture.random.randrange(1, 4)):
        call(capture, connection)
    ending = capture.random.choice(["reset", "probe", "end"])
    part = BETWEEN if ending == "probe" else "before-closing"
    capture.pause(5_000, 90_000, part)
    if ending == "reset":
        capture.reset(connection, "client")
    elif ending == "end":
        capture.end(connection, "server")
    else:
        capture.probe(connection, "client")
        capture.wait(connection.to_server_us, part)
        capture.ack(connection, "server")


def pause_in_reply(capture: Conversation) -> None:
    """The server pauses inside a reply, before its length is reached."""
    connection = capture.open()
    call(capture, connection)
    capture.pause(1, 2, BETWEEN)
    capture.ask(connection, write_request(capture.random))
    capture.wait(200, "server")
    reply = write_reply(600)
    capture.send(connection, "server", reply[:300])
    capture.wait(connection.to_client_us, "server-stall")
    capture.ack(connection, "client")
    capture.pause(300, 5_000, "server-stall")
    capture.answer(connection, reply[300:], BETWEEN)


def _ask_unknown(capture: Conversation, connection: Connection, think_ms: float) -> None:
    capture.wait(MS, BETWEEN)
    capture.ask(connection, b"\x01\xfeASK 17\x00")
    capture.wait(think_ms * MS, "server")
    capture.answer(connection, b"\x02\xfdANSWER 17\x00", BETWEEN)


def one_way(capture: Conversation) -> None:
    """Messages of one side only, of a protocol that is not parsed."""
    connection = capture.open()
    for _ in range(2):
        _ask_unknown(capture, connection, 0.3)
    side: Side = capture.random.choice(["client", "server"])
    other: Side = "server" if side == "client" else "client"
    part = BETWEEN if side == "client" else "server-unasked"
    for _ in range(capture.random.randrange(8, 25)):
        capture.pause(150, 900, part)
        capture.send(connection, side, b"\x04\xfbPUBLISH topic 1234567890\x00")
        capture.wait(40, part)
        capture.ack(connection, other)


def unknown_and_thinking(capture: Conversation) -> None:
    """Questions and answers of a protocol that is not parsed."""
    connection = capture.open()
    for _ in range(capture.random.randrange(3, 8)):
        _ask_unknown(capture, connection, capture.random.uniform(50, 400))


def chat(capture: Conversation) -> None:
    """A server that passes on what others write, now and then, and asks whether the client is
    there (IRC)."""
    connection = capture.open()
    capture.pause(1, 5, "client-before-request")
    capture.ask(connection, b"NICK ann\r\nUSER ann 0 * :Ann\r\n")
    capture.wait(MS, "server")
    capture.answer(connection, b":irc.test 001 ann :Welcome\r\n", "server-unasked")
    for number in range(capture.random.randrange(6, 15)):
        capture.pause(500, 20_000, "server-unasked")
        if number % 4 == 3:
            capture.send(connection, "server", b"PING :irc.test\r\n")
            capture.wait(200, "server-unasked")
            capture.send(connection, "client", b"PONG :irc.test\r\n")
            capture.wait(connection.to_server_us, "server-unasked")
            capture.ack(connection, "server")
        else:
            line = f":bob!b@x PRIVMSG #shop :message {number}\r\n".encode()
            capture.answer(connection, line, "server-unasked")


def small_flights(capture: Conversation) -> None:
    """A reply larger than an initial window of three or four segments (RFC 3390), which grows by
    as many in each round trip, or by one (RFC 5681 section 3.1)."""
    rtt = capture.random.randrange(30, 120) * MS
    connection = capture.open(to_client_us=rtt, to_server_us=20)
    capture.wait(MS, "client-before-request")
    capture.ask(connection, write_request(capture.random))
    capture.wait(200, "server")
    rest = write_reply(capture.random.randrange(60_000, 120_000))
    flight = capture.random.choice([3, 4])
    growth = capture.random.choice([flight, 1])
    while rest:
        for _ in range(flight):
            capture.wait(10, "reply-transfer")
            capture.send(connection, "server", rest[:MSS])
            rest = rest[MSS:]
            if not rest:
                break
        capture.wait(rtt, "congestion-limited" if rest else BETWEEN)
        capture.ack(connection, "client")
        flight += growth
    # The acknowledgment of the last flight, behind the reply, ends the capture.


def pause_between_flights(capture: Conversation) -> None:
    """The same way, and a server that itself pauses."""
    rtt = capture.random.randrange(30, 60) * MS
    connection = capture.open(to_client_us=rtt, to_server_us=20)
    capture.wait(MS, "client-before-request")
    capture.ask(connection, write_request(capture.random))
    capture.wait(200, "server")
    reply = write_reply(3 * MSS)
    capture.send(connection, "server", reply[:MSS])
    capture.wait(rtt, "server-stall")
    capture.ack(connection, "client")
    capture.pause(300, 900, "server-stall")
    capture.send(connection, "server", reply[MSS:])
    capture.wait(rtt, BETWEEN)
    capture.ack(connection, "client")


def _rewrite(capture: Conversation, change: Callable[[bytes], bytes]) -> None:
    capture.frames = [replace(one, data=change(one.data)) for one in capture.frames]


def write_tunnelled(capture: Conversation) -> None:
    """A slow server behind a tunnel."""
    think(capture)
    if capture.random.random() < 0.5:
        _rewrite(capture, lambda data: frames.vxlan(data, TUNNEL_ENDS))
    else:
        _rewrite(capture, lambda data: frames.gre(data[14:], TUNNEL_ENDS))


def clock_back(capture: Conversation) -> None:
    """The clock of the capture steps back between two calls."""
    connection = capture.open()
    calls = capture.random.randrange(4, 10)
    for number in range(calls):
        if number == calls // 2:
            capture.now_us -= capture.random.randrange(300 * MS, 5 * SECOND)
        call(capture, connection, (40, 300))


def write_mirrored(capture: Conversation) -> None:
    """A mirror port shows each packet before and behind a router or a switch."""
    capture.ids = "connection"
    connection = capture.open()
    for _ in range(capture.random.randrange(3, 8)):
        call(capture, connection, (20, 100))
    copies = []
    routed = capture.random.random() < 0.5
    for one in capture.frames:
        packet = one.data[14:]
        hop = frames.pass_router(packet)
        data = (
            frames.ethernet(hop, frames.OTHER_MACS) if routed else frames.ethernet(packet, vlan=7)
        )
        copies.append(frames.Frame(one.at_us + capture.random.randrange(1, 15), data))
    capture.frames = sorted([*capture.frames, *copies], key=lambda one: one.at_us)


def write_sent_again(capture: Conversation) -> None:
    """Requests that a timer repeats, each with an identification of its own."""
    capture.ids = "connection"
    connection = capture.open(to_client_us=30, to_server_us=10 * MS)
    call(capture, connection)
    for _ in range(capture.random.randrange(1, 3)):
        capture.pause(1, 3, BETWEEN)
        request = write_request(capture.random)
        capture.send(connection, "client", request)
        capture.pause(220, 300, "loss-recovery")
        capture.repeat(connection, "client", request)
        capture.wait(connection.to_server_us, "path")
        capture.answer(connection, write_reply(90), BETWEEN)


def window_closed(capture: Conversation) -> None:
    """The client's window closes, and opens again much later."""
    connection = capture.connect()
    connection.windows[0] = (16 * MSS) >> WINDOW_SHIFT
    capture.shake_hands(connection)
    capture.wait(MS, "client-before-request")
    capture.ask(connection, write_request(capture.random))
    capture.wait(200, "server")
    reply = write_reply(30 * MSS)
    half = 16 * MSS
    for at in range(0, half, MSS):
        capture.send(connection, "server", reply[at : at + MSS])
        capture.wait(10, "reply-transfer")
        connection.windows[0] = (half - at - MSS) >> WINDOW_SHIFT
        capture.ack(connection, "client")
    capture.pause(200, 1_500, "window-closed")
    connection.windows[0] = 8_000
    capture.ack(connection, "client")
    capture.wait(connection.to_server_us, "window-closed")
    send_full(capture, connection, "server", reply[half:])


UNKNOWN = "K15 a server that sends unasked"
OTHER_KINDS: tuple[Scenario, ...] = (
    *pair(
        "K5 windows of HTTP/2",
        upload_by_windows,
        upload_within_windows,
        (("h2-window-exhausted",), THINKS),
    ),
    *pair(
        "K7 idle behind a complete reply",
        idle_after_reply,
        pause_in_reply,
        ((), ("sender-stalled",)),
        ("client-idle",),
    ),
    *pair("K8 messages one way", one_way, unknown_and_thinking, ((), THINKS), ("client-idle",)),
    *pair(
        "K9 small initial windows",
        small_flights,
        pause_between_flights,
        (("slow-start",), ("sender-stalled",)),
        ("long-path",),
    ),
    *pair("K10 upgrade to HTTP/2", write_upgraded, upload_within_windows, (THINKS, THINKS)),
    *pair("K12 tunnels", write_tunnelled, think, (THINKS, THINKS)),
    *pair("K13 clock steps", clock_back, think, (THINKS, THINKS)),
    *pair(UNKNOWN, chat, unknown_and_thinking, ((), THINKS), ("client-idle",)),
    *pair("K16 mirror ports", write_mirrored, write_sent_again, (THINKS, ("tail-loss",))),
    *pair(
        "K18 a window that opens again",
        window_closed,
        pause_in_reply,
        (("client-not-reading",), ("sender-stalled",)),
        ("zero-window",),
    ),
)
