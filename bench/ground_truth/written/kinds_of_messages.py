"""The kinds about messages inside streams: losses, buffers, proxies and Nagle's algorithm between
a message and its reader. Every capture also notes the time before each message."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

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
from bench.ground_truth.written.conversation import (
    MS,
    SECOND,
    Connection,
    Conversation,
    write_request,
)
from bench.ground_truth.written.scenario import Scenario, pair

UPGRADE = (
    "Connection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\n"
    "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n"
)
SWITCHING = (
    b"HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n"
    b"Sec-WebSocket-Accept: s3pPLMBiTxaQ9kYGzzhZRbK+xOo=\r\n\r\n"
)
EVENTS, LINES = "text/event-stream", "application/x-ndjson"
TEXT_FRAME = 0x81
SHORT_MAX = 125
"""Bytes of a payload whose length has one byte (RFC 6455 section 5.2)."""
EVENTS_FIELD = bytes([0x5F, len(EVENTS)]) + EVENTS.encode()
"""Of HPACK: content-type of the static table, with a literal value (RFC 7541 section 6.2.1)."""
PAUSES = ("dribbled-writes", "uneven-stream", "sender-stalled", "client-idle")
"""What is true of a stream whose server pauses between its messages, too."""

Wrap = Callable[[Conversation, int | None], bytes]


def _text(capture: Conversation) -> str:
    return "x" * capture.random.randrange(20, 60)


def write_event(capture: Conversation, made_ms: int | None = None) -> bytes:
    """A server-sent event, unlike any other of its capture."""
    number = capture.random.randrange(1 << 40)
    made = f"id: {made_ms}\n" if made_ms is not None else ""
    return f"{made}data: {number:x} {_text(capture)}\n\n".encode()


def write_line(capture: Conversation, made_ms: int | None = None) -> bytes:
    """A line of JSON."""
    made = f'"at":{made_ms},' if made_ms is not None else ""
    return f'{{{made}"text":"{_text(capture)}"}}\n'.encode()


def write_frame(capture: Conversation, made_ms: int | None = None) -> bytes:
    """A text message of a server in WebSocket."""
    payload = write_line(capture, made_ms)
    if len(payload) <= SHORT_MAX:
        return bytes([TEXT_FRAME, len(payload)]) + payload
    return bytes([TEXT_FRAME, SHORT_MAX + 1]) + len(payload).to_bytes(2, "big") + payload


@dataclass
class Stream:
    """One stream of messages, and when the last of them could be read."""

    capture: Conversation
    connection: Connection
    write: Wrap
    last_us: int

    def note(self, count: int = 1) -> None:
        """That number of messages can be read now."""
        gaps = [self.capture.now_us - self.last_us] + [0] * (count - 1)
        self.capture.gaps_us += gaps
        self.last_us = self.capture.now_us

    def send(self, payload: bytes, count: int = 1) -> None:
        """Messages in one packet, and its acknowledgment."""
        self.capture.send(self.connection, "server", payload)
        self.note(count)
        self.capture.wait(self.connection.to_client_us)
        self.capture.ack(self.connection, "client")


def open_stream(capture: Conversation, kind: str, connection: Connection | None = None) -> Stream:
    """A connection with the head of a stream: `websocket`, or a content type."""
    connection = capture.open() if connection is None else connection
    capture.pause(0.5, 2)
    asked_us = capture.now_us
    if kind == "websocket":
        capture.send(connection, "client", write_request(capture.random, fields=UPGRADE))
    else:
        capture.send(connection, "client", write_request(capture.random))
    capture.wait(connection.to_server_us)
    capture.pause(0.1, 0.5)
    head = f"HTTP/1.1 200 OK\r\nContent-Type: {kind}\r\n\r\n".encode()
    capture.send(connection, "server", SWITCHING if kind == "websocket" else head)
    since_us = capture.now_us if kind == "websocket" else asked_us
    capture.wait(connection.to_client_us)
    capture.ack(connection, "client")
    writers: dict[str, Wrap] = {EVENTS: write_event, LINES: write_line}
    return Stream(capture, connection, writers.get(kind, write_frame), since_us)


def any_stream(capture: Conversation) -> Stream:
    """One of the framings."""
    return open_stream(capture, capture.random.choice(["websocket", EVENTS, LINES]))


def _steady(stream: Stream, count: int) -> None:
    """Messages that come one by one."""
    for _ in range(count):
        stream.capture.pause(15, 40)
        stream.send(stream.write(stream.capture, None))


def _ack_below(capture: Conversation, connection: Connection, missing: int) -> None:
    """An acknowledgment without the last bytes of the server."""
    connection.next[1] -= missing
    capture.ack(connection, "client")
    connection.next[1] += missing


def _lose(
    capture: Conversation,
    connection: Connection,
    lost: bytes,
    behind: Sequence[bytes],
    apart_ms: tuple[float, float],
) -> None:
    """The first is lost before the capture, the others come; a timer repeats the first."""
    capture.lose(connection, "server", lost)
    missing = len(lost)
    for payload in behind:
        capture.pause(*apart_ms)
        capture.send(connection, "server", payload)
        missing += len(payload)
        capture.wait(connection.to_client_us)
        _ack_below(capture, connection, missing)
    capture.pause(205, 400)
    connection.next[1] -= missing
    capture.send(connection, "server", lost)
    connection.next[1] += missing - len(lost)


def _lose_messages(capture: Conversation, apart_ms: tuple[float, float]) -> None:
    stream = any_stream(capture)
    _steady(stream, capture.random.randrange(3, 8))
    capture.pause(15, 40)
    messages = [stream.write(capture, None) for _ in range(capture.random.randrange(3, 7))]
    _lose(capture, stream.connection, messages[0], messages[1:], apart_ms)
    stream.note(len(messages))
    capture.wait(stream.connection.to_client_us)
    capture.ack(stream.connection, "client")
    _steady(stream, capture.random.randrange(3, 8))
    capture.parts.clear()


def lose_before_others(capture: Conversation) -> None:
    """A message is lost, and those behind it, which were sent apart, wait for it."""
    _lose_messages(capture, (15, 40))


def lose_of_a_burst(capture: Conversation) -> None:
    """The same of messages that were sent at once."""
    _lose_messages(capture, (0.02, 0.2))


def _send_groups(capture: Conversation, groups: Sequence[int], apart_ms: int) -> None:
    """Messages with their times; those of one group come together, the last of them just made."""
    stream = open_stream(capture, capture.random.choice(["websocket", LINES]))
    ahead_ms = capture.random.randrange(-2_000, 2_000)
    for count in groups:
        made = []
        for _ in range(count):
            capture.wait(apart_ms * MS)
            made.append(capture.now_us // MS + ahead_ms)
        if count == 1:
            capture.pause(40, 60)
            made = [capture.now_us // MS + ahead_ms]
        else:
            capture.pause(0.1, 0.3)
        stream.send(b"".join(stream.write(capture, at) for at in made), count)
    capture.parts.clear()


def make_apart(capture: Conversation) -> None:
    """Messages that were made apart, and come in groups now and then."""
    groups = [1] * capture.random.randrange(8, 16)
    for _ in range(capture.random.randrange(2, 4)):
        groups[capture.random.randrange(3, len(groups))] = capture.random.randrange(3, 6)
    _send_groups(capture, groups, capture.random.randrange(30, 80))


def make_together(capture: Conversation) -> None:
    """A history of what was made before it was asked for, then groups that were made at once."""
    stream = open_stream(capture, capture.random.choice(["websocket", LINES]))
    ahead_ms = capture.random.randrange(-2_000, 2_000)
    now_ms = capture.now_us // MS + ahead_ms
    apart_ms = capture.random.randrange(20, 2_000)
    count = capture.random.randrange(5, 30)
    made = [now_ms - 10 - apart_ms * (count - number) for number in range(count)]
    stream.send(b"".join(stream.write(capture, at) for at in made[:10]), len(made[:10]))
    for _ in range(capture.random.randrange(8, 16)):
        capture.pause(40, 200)
        at = capture.now_us // MS + ahead_ms
        size = capture.random.choice([1, 1, 3, 5])
        stream.send(b"".join(stream.write(capture, at) for _ in range(size)), size)
    capture.parts.clear()


def _pass_on(capture: Conversation, sizes: Callable[[], int]) -> None:
    """A proxy of which both connections are captured; it passes on that number at a time."""
    near_us = capture.random.randrange(20, 60)
    front = capture.connect(capture.random.randrange(150, 900), near_us)
    back = capture.connect(near_us, capture.random.randrange(150, 900))
    client, server = front.hosts
    proxy = type(client)(int(client) + 1)
    front.hosts, back.hosts = (client, proxy), (proxy, server)
    capture.shake_hands(front)
    capture.shake_hands(back)
    kind = capture.random.choice([EVENTS, LINES])
    source = open_stream(capture, kind, back)
    sink = open_stream(capture, kind, front)
    for _ in range(capture.random.randrange(6, 12)):
        held = b""
        count = sizes()
        for _ in range(count):
            capture.pause(15, 40)
            message = source.write(capture, None)
            source.send(message)
            held += message
        capture.pause(0.05, 0.5)
        sink.send(held, count)
    capture.parts.clear()


def collect_in_proxy(capture: Conversation) -> None:
    """It passes several on when the last of them has come."""
    _pass_on(capture, lambda: capture.random.randrange(3, 7))


def pass_pass_on(capture: Conversation) -> None:
    """It passes each on at once."""
    _pass_on(capture, lambda: 1)


def _open_http2(capture: Conversation) -> tuple[Connection, dict[int, Stream]]:
    """A connection with two streams of events."""
    connection = capture.open()
    capture.wait(200)
    requests = [frame(HEADERS, END_STREAM | END_HEADERS, stream, ASK) for stream in (1, 3)]
    asked = PREFACE + frame(SETTINGS, 0, 0) + b"".join(requests)
    asked_us = capture.now_us
    capture.send(connection, "client", asked)
    capture.wait(connection.to_server_us)
    heads = [frame(HEADERS, END_HEADERS, stream, OK + EVENTS_FIELD) for stream in (1, 3)]
    capture.send(connection, "server", frame(SETTINGS, 0, 0) + b"".join(heads))
    capture.wait(connection.to_client_us)
    capture.ack(connection, "client")

    def writer(number: int) -> Wrap:
        return lambda capture, made: frame(DATA, 0, number, write_event(capture, made))

    streams = {number: Stream(capture, connection, writer(number), asked_us) for number in (1, 3)}
    return connection, streams


def _lose_in_http2(capture: Conversation, lost: int, others: Sequence[int]) -> None:
    """A message of one stream is lost; then messages of other streams come."""
    connection, streams = _open_http2(capture)
    for _ in range(capture.random.randrange(2, 5)):
        _steady(streams[1], 1)
        _steady(streams[3], 1)
    capture.pause(15, 40)
    first = streams[lost].write(capture, None)
    behind = [streams[number].write(capture, None) for number in others]
    _lose(capture, connection, first, behind, (15, 40))
    for number in (lost, *others):
        streams[number].note()
    capture.wait(connection.to_client_us)
    capture.ack(connection, "client")
    _steady(streams[1], 2)
    _steady(streams[3], 2)
    capture.parts.clear()


def block_other_stream(capture: Conversation) -> None:
    """They are on the other stream, and lost nothing."""
    _lose_in_http2(capture, 1, [3] * capture.random.randrange(1, 4))


def block_own_stream(capture: Conversation) -> None:
    """They are on the same stream, where any transport keeps their order."""
    _lose_in_http2(capture, 3, [3] * capture.random.randrange(1, 4))


def hold_small_frames(capture: Conversation) -> None:
    """The second of two small messages waits for the delayed acknowledgment of the first."""
    stream = open_stream(capture, "websocket")
    for _ in range(capture.random.randrange(6, 15)):
        capture.pause(30, 120)
        stream.send(stream.write(capture, None))
        capture.pause(30, 120)
        capture.send(stream.connection, "server", stream.write(capture, None))
        stream.note()
        capture.pause(40, 44)
        capture.ack(stream.connection, "client")
        capture.wait(stream.connection.to_server_us)
        stream.send(stream.write(capture, None))
    capture.parts.clear()


def pause_between_frames(capture: Conversation) -> None:
    """The same intervals, and acknowledgments at once: the server itself pauses."""
    stream = open_stream(capture, "websocket")
    for _ in range(capture.random.randrange(12, 30)):
        capture.pause(40, 200)
        stream.send(stream.write(capture, None))
    capture.parts.clear()


def stop_reading(capture: Conversation) -> None:
    """A client whose window closes while messages come, and opens again later."""
    stream = open_stream(capture, capture.random.choice([EVENTS, LINES]))
    connection = stream.connection
    _steady(stream, 3)
    for left in (1, 0):
        capture.pause(15, 40)
        capture.send(connection, "server", stream.write(capture, None))
        stream.note()
        capture.wait(connection.to_client_us)
        connection.windows[0] = left
        capture.ack(connection, "client")
    capture.pause(300, 2_000)
    connection.windows[0] = 8_000
    capture.ack(connection, "client")
    capture.wait(connection.to_server_us)
    stream.send(stream.write(capture, None))
    _steady(stream, 3)
    capture.parts.clear()


def write_steadily(capture: Conversation) -> None:
    """Messages that come one by one, one of them after a long pause of the server."""
    stream = any_stream(capture)
    _steady(stream, capture.random.randrange(5, 20))
    capture.wait(capture.random.randrange(300, 2_000) * MS)
    _steady(stream, capture.random.randrange(5, 20))
    capture.wait(SECOND // 10)
    stream.send(stream.write(capture, None))
    capture.parts.clear()


COALESCED = ("messages-coalesced",)
LOST = ("data-retransmission",)
MESSAGE_KINDS: tuple[Scenario, ...] = (
    *pair(
        "K19 messages behind a loss",
        lose_before_others,
        lose_of_a_burst,
        ((*COALESCED, *LOST), LOST),
        PAUSES,
    ),
    *pair("K20 messages made apart", make_apart, make_together, (COALESCED, ()), PAUSES),
    *pair(
        "K21 a proxy that collects",
        collect_in_proxy,
        pass_pass_on,
        (("stream-buffered",), ()),
        PAUSES,
    ),
    *pair(
        "K22 losses between streams",
        block_other_stream,
        block_own_stream,
        (("h2-head-of-line", *LOST), LOST),
        (*PAUSES, *COALESCED),
    ),
    *pair(
        "K23 small frames",
        hold_small_frames,
        pause_between_frames,
        (("nagle-delayed-ack",), ()),
        PAUSES,
    ),
    *pair(
        "K24 messages that are not read",
        stop_reading,
        write_steadily,
        (("zero-window",), ()),
        (*PAUSES, "client-not-reading"),
    ),
)
