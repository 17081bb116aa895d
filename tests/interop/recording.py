"""What callers send and services answer, recorded between them."""

from __future__ import annotations

import base64
import hashlib
import json
import socket
import threading
from collections.abc import Callable, Iterator
from concurrent import futures
from dataclasses import dataclass, field
from typing import Any, Self

import grpc
import h11
from lxml import etree

Json = Any
READ_BYTES = 65_536
END_S_MAX = 10.0
"""Time limit for a connection to end once its caller has."""
GIOP_HEAD_BYTES = 12
GIOP_REQUEST, GIOP_REPLY = 0, 1


@dataclass(frozen=True)
class Exchange:
    """One call: which operation, its request and its reply, in a form that does not depend on
    the library that wrote them."""

    operation: str
    request: Json
    reply: Json


def digest(exchanges: list[Exchange]) -> str:
    """SHA-256 of requests and replies in their order."""
    text = json.dumps([[each.operation, each.request, each.reply] for each in exchanges])
    return hashlib.sha256(text.encode()).hexdigest()


@dataclass
class Recorder:
    """A relay of TCP connections, which keeps what goes through in both directions. Use as a
    context manager."""

    target: str
    streams: list[tuple[bytearray, bytearray]] = field(default_factory=list)
    _relays: list[threading.Thread] = field(default_factory=list)

    def __enter__(self) -> Self:
        self._listener = socket.create_server(("127.0.0.1", 0))
        self.address = f"127.0.0.1:{self._listener.getsockname()[1]}"
        self._relays.append(threading.Thread(target=self._accept))
        self._relays[0].start()
        return self

    def __exit__(self, *_: object) -> None:
        # Closing it alone would not end a thread that waits for a connection.
        self._listener.shutdown(socket.SHUT_RDWR)
        for relay in self._relays:
            relay.join(END_S_MAX)
        self._listener.close()

    def _accept(self) -> None:
        host, _, port = self.target.rpartition(":")
        while True:
            try:
                caller, _ = self._listener.accept()
            except OSError:
                return
            service = socket.create_connection((host, int(port)))
            sent, answered = bytearray(), bytearray()
            self.streams.append((sent, answered))
            relay = threading.Thread(target=_relay_both, args=(caller, service, sent, answered))
            relay.start()
            self._relays.append(relay)

    def exchanges(self, parse: Callable[[bytes, bytes], Iterator[Exchange]]) -> list[Exchange]:
        """The calls of all connections, one after the other."""
        return [
            each for sent, answered in self.streams for each in parse(bytes(sent), bytes(answered))
        ]


def _relay_both(
    caller: socket.socket, service: socket.socket, sent: bytearray, answered: bytearray
) -> None:
    with caller, service:
        replies = threading.Thread(target=_relay, args=(service, caller, answered))
        replies.start()
        _relay(caller, service, sent)
        replies.join(END_S_MAX)


def _relay(source: socket.socket, sink: socket.socket, kept: bytearray) -> None:
    try:
        while data := source.recv(READ_BYTES):
            kept += data
            sink.sendall(data)
        sink.shutdown(socket.SHUT_WR)
    except OSError:
        return


def parse_http(decode: Callable[[bytes], Json]) -> Callable[[bytes, bytes], Iterator[Exchange]]:
    """HTTP/1.1 with bodies that ``decode`` reads."""

    def parse(sent: bytes, answered: bytes) -> Iterator[Exchange]:
        requests = list(_read_messages(h11.Connection(h11.SERVER), sent))
        replies = _read_messages(h11.Connection(h11.CLIENT), answered, [m for m, _ in requests])
        for (method, body), (_, reply) in zip(requests, replies, strict=True):
            yield Exchange(method, decode(body) if body else None, decode(reply))

    return parse


def _read_messages(
    connection: h11.Connection, stream: bytes, methods: list[str] | None = None
) -> Iterator[tuple[str, bytes]]:
    """Each head and body. A client must have sent a request before it reads a reply."""
    connection.receive_data(stream)
    for number in range(len(methods) if methods is not None else 1_000_000):
        if methods is not None:
            name, _, path = methods[number].partition(" ")
            connection.send(h11.Request(method=name, target=path, headers=[("Host", "x")]))
            connection.send(h11.EndOfMessage())
        head, body = "", b""
        while True:
            event = connection.next_event()
            if event in (h11.NEED_DATA, h11.PAUSED) or isinstance(event, h11.ConnectionClosed):
                return
            if isinstance(event, h11.Request):
                action = dict(event.headers).get(b"soapaction", b"").decode().strip('"')
                head = f"{event.method.decode()} {action or event.target.decode()}"
            elif isinstance(event, h11.Data):
                body += bytes(event.data)
            elif isinstance(event, h11.EndOfMessage):
                break
        yield head, body
        if methods is None:
            connection.send(h11.Response(status_code=200, headers=[("Content-Length", "0")]))
            connection.send(h11.EndOfMessage())
        connection.start_next_cycle()


def read_envelope(envelope: bytes) -> Json:
    """Names and texts of the body of a SOAP envelope, without namespaces and attributes. An element
    without children and text is an empty text."""
    root = etree.fromstring(envelope)
    (body,) = root.findall("{*}Body")
    return [_tree(child) for child in body]


def _tree(element: Any) -> Json:
    name = etree.QName(element).localname
    if len(element):
        return [name, [_tree(child) for child in element]]
    return [name, element.text or ""]


def parse_giop(sent: bytes, answered: bytes) -> Iterator[Exchange]:
    """GIOP 1.2, most significant byte first, without fragments: bodies as base64."""
    requests = [body for kind, body in _split_giop(sent) if kind == GIOP_REQUEST]
    replies = [body for kind, body in _split_giop(answered) if kind == GIOP_REPLY]
    for request, reply in zip(requests, replies, strict=True):
        operation, ask = _read_request(request)
        yield Exchange(operation, ask, _read_reply(reply))


def _split_giop(stream: bytes) -> Iterator[tuple[int, bytes]]:
    at = 0
    while at < len(stream):
        size = int.from_bytes(stream[at + 8 : at + GIOP_HEAD_BYTES])
        end = at + GIOP_HEAD_BYTES + size
        assert stream[at : at + 4] == b"GIOP"
        assert not stream[at + 6] & 3, "a fragment, or least significant byte first"
        yield stream[at + 7], stream[at:end]
        at = end


class _Cursor:
    """Reads CDR from a message that begins with its head."""

    def __init__(self, message: bytes) -> None:
        self.message, self.at = message, GIOP_HEAD_BYTES

    def number(self) -> int:
        self.at += -self.at % 4
        self.at += 4
        return int.from_bytes(self.message[self.at - 4 : self.at])

    def octets(self) -> bytes:
        length = self.number()
        self.at += length
        return self.message[self.at - length : self.at]

    def contexts(self) -> None:
        for _ in range(self.number()):
            self.number()
            self.octets()

    def body(self) -> str:
        self.at += -self.at % 8
        return base64.b64encode(self.message[self.at :]).decode()


def _read_request(message: bytes) -> tuple[str, str]:
    cursor = _Cursor(message)
    cursor.number()
    cursor.at += 4 + 4  # flags and reserved octets, the discriminator of the target
    cursor.octets()
    operation = cursor.octets().rstrip(b"\0").decode()
    cursor.contexts()
    return operation, cursor.body()


def _read_reply(message: bytes) -> Json:
    cursor = _Cursor(message)
    cursor.number()
    status = cursor.number()
    cursor.contexts()
    return [status, cursor.body()]


@dataclass
class GrpcRecorder(grpc.GenericRpcHandler):  # type: ignore[misc]
    """A server of grpcio that passes unary calls on and keeps their bytes. Use as a context
    manager."""

    target: str
    kept: list[Exchange] = field(default_factory=list)

    def __enter__(self) -> Self:
        self._channel = grpc.insecure_channel(self.target)
        self._server = grpc.server(futures.ThreadPoolExecutor(1), handlers=[self])
        self.address = f"127.0.0.1:{self._server.add_insecure_port('127.0.0.1:0')}"
        self._server.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._server.stop(None)
        self._channel.close()

    def service(self, details: Any) -> Any:
        """Answers calls of any method."""

        def answer(request: bytes, _: object) -> bytes:
            reply: bytes = self._channel.unary_unary(details.method)(request)
            texts = (base64.b64encode(one).decode() for one in (request, reply))
            self.kept.append(Exchange(details.method, *texts))
            return reply

        return grpc.unary_unary_rpc_method_handler(answer)
