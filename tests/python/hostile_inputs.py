"""Bytes that a hostile client sends: each is to be refused, none may hurt the service."""

from __future__ import annotations

import random
import struct
import zlib
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

DEPTH = 100_000
UNPACKED_BYTES = 1_100_000_000
"""What a bomb expands to: over eight times what a message may have."""
HEADER_BYTES = 10_000_000
NAMESPACE = "urn:wirelab:transfer:v1"
SOAP_11 = "http://schemas.xmlsoap.org/soap/envelope/"
ENCODED = "http://schemas.xmlsoap.org/soap/encoding/"
FILE = "/etc/passwd"
"""What an external entity asks for."""


@dataclass(frozen=True)
class Attack:
    """What is sent on a connection of its own."""

    name: str
    data: Callable[[], bytes]
    cut: bool = False
    """The client then ends its side; else it waits for an answer."""
    harmless: bool = False
    """A reader may pass over it, and answer."""


def gzip_bomb() -> bytes:
    """A megabyte of gzip: the same deflated zeros over and over, and no end."""
    packer = zlib.compressobj(9, wbits=-15)
    block = bytes(1_000_000)
    packed = packer.compress(block) + packer.flush(zlib.Z_FULL_FLUSH)
    return b"\x1f\x8b\x08" + bytes(6) + b"\xff" + packed * (UNPACKED_BYTES // len(block))


def zstd_bomb() -> bytes:
    """34 kB of zstd: blocks that say one space 128 KiB times (RFC 8878, section 3.1.1.2)."""
    block = 128 << 10
    repeated = struct.pack("<I", 1 << 1 | block << 3)[:3] + b" "
    frame = b"\x28\xb5\x2f\xfd\x00\x50" + repeated * (UNPACKED_BYTES // block)
    return frame + b"\x01\x00\x00"


BOMBS = {"gzip": gzip_bomb, "zstd": zstd_bomb}

# -- bodies ------------------------------------------------------------------


BATCH_XML = "<batch>b</batch>"
DEEP_XML = "<a>" * DEPTH + "</a>" * DEPTH


@dataclass(frozen=True)
class Markup:
    """A good document of XML, by the text around the fields of Submit."""

    head: str
    tail: str

    def document(self, fields: str = BATCH_XML, prologue: str = "") -> bytes:
        return f"{prologue}{self.head}{fields}{self.tail}".encode()

    def attacks(self) -> list[Attack]:
        """Depth, and what document type declarations can do."""
        laughs = "".join(
            f'<!ENTITY l{n} "{f"&l{n - 1};" * 10 if n else "ha" * 50}">' for n in range(10)
        )
        return [
            Attack("xml-depth", lambda: self.document(f"<batch>{DEEP_XML}</batch>")),
            # In an element that nobody knows.
            Attack(
                "xml-depth-unknown",
                lambda: self.document(BATCH_XML + DEEP_XML),
                harmless=True,
            ),
            Attack("xml-no-end", lambda: self.document("<a>" * DEPTH)),
            Attack("billion-laughs", lambda: self._declare(laughs, "b&l9;")),
            Attack("laughs-unused", lambda: self._declare(laughs, "b")),
            Attack("external", lambda: self._declare(f'<!ENTITY x SYSTEM "{FILE}">', "b&x;")),
            Attack("external-subset", lambda: self.document(prologue=f'<!DOCTYPE a "{FILE}">')),
        ]

    def _declare(self, entities: str, batch: str) -> bytes:
        return self.document(f"<batch>{batch}</batch>", f"<!DOCTYPE a [{entities}]>")


XML = Markup(f'<SubmitRequest xmlns="{NAMESPACE}">', "</SubmitRequest>")
LITERAL = Markup(
    f'<e:Envelope xmlns:e="{SOAP_11}"><e:Body>{XML.head}', f"{XML.tail}</e:Body></e:Envelope>"
)
RPC_ENCODED = Markup(
    f'<e:Envelope xmlns:e="{SOAP_11}" e:encodingStyle="{ENCODED}"><e:Body><submit>',
    "</submit></e:Body></e:Envelope>",
)

JSON = b'{"batch":"b"}'
JSON_ATTACKS = [
    Attack("json-depth", lambda: b'{"batch":' + b"[" * DEPTH + b"]" * DEPTH + b"}"),
    # In a field that nobody knows.
    Attack(
        "json-depth-unknown",
        lambda: b'{"batch":"b","a":' + b"[" * DEPTH + b"]" * DEPTH + b"}",
        harmless=True,
    ),
    Attack(
        "json-objects-unknown",
        lambda: b'{"batch":"b","a":' * DEPTH + b"1" + b"}" * DEPTH,
        harmless=True,
    ),
    Attack("json-no-end", lambda: b"[" * DEPTH),
]

PROTOBUF = b"\x0a\x01b"
PROTOBUF_ATTACKS = [
    Attack("length-2-gib", lambda: b"\x0a\xff\xff\xff\xff\x07b"),
    Attack("length-negative", lambda: b"\x0a" + b"\xff" * 9 + b"\x01b"),
    Attack("length-without-end", lambda: b"\x0a" + b"\xff" * 1000),
    Attack("length-of-a-record", lambda: PROTOBUF + b"\x12\x05\x1a\xff\xff\xff\x7f"),
    Attack("groups", lambda: PROTOBUF + b"\x1b" * DEPTH),
]

# -- HTTP/1.1 ----------------------------------------------------------------


@dataclass(frozen=True)
class Post:
    """Submit over HTTP/1.1 in one codec."""

    path: str
    fields: tuple[str, ...]
    body: bytes
    coding: str

    def request(self, body: bytes, *more: str, length: int | None = None) -> bytes:
        announced = len(body) if length is None else length
        return self.head(*more, f"Content-Length: {announced}") + body

    def head(self, *more: str) -> bytes:
        first = f"POST {self.path} HTTP/1.1"
        lines = [first, "Host: localhost", "Connection: close", *self.fields, *more, "", ""]
        return "\r\n".join(lines).encode()

    def good(self) -> bytes:
        return self.request(self.body)

    def framings(self) -> list[Attack]:
        """Attacks on the head, and on how long the body is."""
        chunked = "Transfer-Encoding: chunked"
        fields = [f"X-{number}: {'x' * 990}" for number in range(HEADER_BYTES // 1000)]
        return [
            Attack("head-cut-off", lambda: self.good()[:40], cut=True),
            Attack("body-cut-off", lambda: self.request(self.body, length=1000), cut=True),
            Attack("length-2-62", lambda: self.request(self.body, length=1 << 62), cut=True),
            Attack("length-2-70", lambda: self.request(self.body, length=1 << 70), cut=True),
            Attack("chunk-of-2-60", lambda: self.head(chunked) + b"f" * 15 + b"\r\nb", cut=True),
            Attack("chunk-of-2-80", lambda: self.head(chunked) + b"f" * 20 + b"\r\nb", cut=True),
            Attack("many-headers", lambda: self.head(*fields)),
            Attack("endless-header", lambda: self.head("X: " + "x" * HEADER_BYTES)),
        ]

    def bodies(self, attacks: Sequence[Attack]) -> list[Attack]:
        """These attacks as bodies, and one by the content coding."""
        coded = f"Content-Encoding: {self.coding}"
        bomb = Attack("bomb", lambda: self.request(BOMBS[self.coding](), coded))
        return [bomb, *(_post(self, attack) for attack in attacks)]


def _post(post: Post, attack: Attack) -> Attack:
    return replace(attack, data=lambda: post.request(attack.data()))


def rest(kind: str, body: bytes, coding: str) -> Post:
    """The content type and a good body."""
    return Post("/transfer/submit", (f"Content-Type: {kind}",), body, coding)


def soap(markup: Markup, coding: str) -> Post:
    """SOAP 1.1."""
    fields = ("Content-Type: text/xml; charset=utf-8", f'SOAPAction: "{NAMESPACE}#Submit"')
    return Post("/transfer/soap", fields, markup.document(), coding)


# -- gRPC over HTTP/2 --------------------------------------------------------

PREFACE = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"
DATA, HEADERS, SETTINGS, CONTINUATION = 0, 1, 4, 9
END_STREAM, END_HEADERS = 1, 4
FRAME_BYTES_MAX = 16 << 10


def frame(kind: int, flags: int, payload: bytes, stream: int = 1) -> bytes:
    return struct.pack(">I", len(payload))[1:] + struct.pack(">BBI", kind, flags, stream) + payload


def _field(name: str, value: str) -> bytes:
    """Without an index (RFC 7541, section 6.2.2)."""
    return b"\x00" + bytes([len(name)]) + name.encode() + bytes([len(value)]) + value.encode()


def _fields(coding: str) -> bytes:
    path = "/wirelab.transfer.v1.Transfer/Submit"
    named = {":path": path, ":authority": "localhost", "content-type": "application/grpc"}
    named |= {"te": "trailers", "grpc-encoding": coding}
    # :method POST and :scheme http are in the static table.
    return b"\x83\x86" + b"".join(_field(name, value) for name, value in named.items())


def grpc(message: bytes, coding: str = "identity", length: int | None = None) -> bytes:
    """Submit with that message; ``length`` is the one in its prefix."""
    announced = len(message) if length is None else length
    data = struct.pack(">BI", coding != "identity", announced) + message
    pieces = [data[at : at + FRAME_BYTES_MAX] for at in range(0, len(data), FRAME_BYTES_MAX)]
    frames = [frame(DATA, END_STREAM * (piece is pieces[-1]), piece) for piece in pieces]
    opening = PREFACE + frame(SETTINGS, 0, b"", stream=0)
    return opening + frame(HEADERS, END_HEADERS, _fields(coding)) + b"".join(frames)


def _flood(block: bytes, more: bytes, count: int) -> bytes:
    """A good request, but for a header block that goes on in that many frames."""
    opening = PREFACE + frame(SETTINGS, 0, b"", stream=0) + frame(HEADERS, 0, block)
    end = frame(CONTINUATION, END_HEADERS, b"")
    message = frame(DATA, END_STREAM, struct.pack(">BI", 0, len(PROTOBUF)) + PROTOBUF)
    return opening + frame(CONTINUATION, 0, more) * count + end + message


def _many_headers() -> bytes:
    fields = _field("x-hostile", "x" * 100) * (FRAME_BYTES_MAX // 120)
    return _flood(_fields("identity"), fields, HEADER_BYTES // len(fields))


def _repeat_indexed_header() -> bytes:
    """4 kB into the dynamic table, then a byte for each time that it is meant."""
    value = b"\x7f" + bytes([0x80 | (3900 - 127) & 0x7F, (3900 - 127) >> 7]) + b"x" * 3900
    known = b"\x40\x01x" + value
    return _flood(_fields("identity") + known, b"\xbe" * FRAME_BYTES_MAX, 40)


def grpc_attacks(coding: str) -> list[Attack]:
    """On the frames, on the prefix, on the content coding, and on the message."""
    noise = random.Random(1).randbytes(1 << 16)
    opening = PREFACE + frame(SETTINGS, 0, b"", stream=0)
    return [
        Attack("garbage", lambda: noise),
        Attack("garbage-behind-the-preface", lambda: PREFACE + noise),
        Attack("garbage-behind-settings", lambda: opening + noise),
        Attack("http-1", lambda: b"GET / HTTP/1.1\r\nHost: localhost\r\n\r\n"),
        Attack("frame-of-16-mib", lambda: opening + b"\xff\xff\xff\x00\x00\x00\x00\x00\x01b"),
        Attack("frame-cut-off", lambda: grpc(PROTOBUF)[:-1], cut=True),
        Attack("many-headers", _many_headers),
        Attack("indexed-headers", _repeat_indexed_header),
        Attack("prefix-of-4-gib", lambda: grpc(PROTOBUF, length=0xFFFFFFFF)),
        Attack("prefix-of-100-mib", lambda: grpc(PROTOBUF, length=100 << 20)),
        Attack("bomb", lambda: grpc(BOMBS[coding](), coding)),
        *(_wrap_in_grpc(attack) for attack in PROTOBUF_ATTACKS),
    ]


def _wrap_in_grpc(attack: Attack) -> Attack:
    return replace(attack, data=lambda: grpc(attack.data()))


# -- IIOP --------------------------------------------------------------------

REQUEST, FRAGMENT = 0, 7
MORE_FRAGMENTS = 2


def giop(body: bytes, size: int | None = None, flags: int = 0, kind: int = REQUEST) -> bytes:
    """A message of GIOP 1.2, big-endian; ``size`` is the one in its header."""
    announced = len(body) if size is None else size
    return b"GIOP\x01\x02" + struct.pack(">BBI", flags, kind, announced) + body


def submit(key: bytes, parameters: bytes, operation: bytes = b"submit\0") -> bytes:
    """A request's header and body (CORBA 3.3 part 2, section 9.4.2)."""
    head = struct.pack(">IB3xH2xI", 1, 3, 0, len(key)) + key
    head += bytes(-len(head) % 4) + struct.pack(">I", len(operation)) + operation
    head += bytes(-len(head) % 4) + struct.pack(">I", 0)
    # The body begins at a multiple of eight, counted from the message's own begin.
    return head + bytes(-(len(head) + 12) % 8) + parameters


BATCH = struct.pack(">I", 2) + b"b\0\0\0"
NO_RECORDS = struct.pack(">I", 0)


def iiop_good(key: bytes) -> bytes:
    return giop(submit(key, BATCH + NO_RECORDS))


def fragments(request: bytes, count: int, size: int) -> bytes:
    """A request of which there is always more, ``count`` times ``size`` bytes."""
    more = giop(struct.pack(">I", 1) + bytes(size - 4), flags=MORE_FRAGMENTS, kind=FRAGMENT)
    return giop(request, flags=MORE_FRAGMENTS) + more * count


def iiop_attacks(key: bytes) -> list[Attack]:
    """On the header, and on lengths within the message to the object of that key."""

    def wrap_in_giop(parameters: bytes) -> bytes:
        return giop(submit(key, parameters))

    def replace_operation(operation: bytes) -> bytes:
        return iiop_good(key).replace(struct.pack(">I", 7) + b"submit", operation, 1)

    def good() -> bytes:
        return iiop_good(key)

    return [
        Attack("garbage", lambda: random.Random(1).randbytes(1 << 16)),
        Attack("head-cut-off", lambda: good()[:9], cut=True),
        Attack("body-cut-off", lambda: good()[:-1], cut=True),
        Attack("size-2-gib", lambda: giop(bytes(64), size=0x7FFFFFFF), cut=True),
        Attack("size-negative", lambda: giop(bytes(64), size=0xFFFFFFFF), cut=True),
        Attack("size-1-gib", lambda: giop(bytes(64), size=1 << 30), cut=True),
        Attack("kind-unknown", lambda: giop(bytes(64), kind=99), cut=True),
        Attack("fragments-of-600-mib", lambda: fragments(submit(key, BATCH), 600, 1 << 20)),
        Attack("operation-2-gib", lambda: replace_operation(b"\x7f\xff\xff\xffsubmit")),
        Attack("operation-negative", lambda: replace_operation(b"\xff\xff\xff\xffsubmit")),
        Attack("text-2-gib", lambda: wrap_in_giop(b"\x7f\xff\xff\xffb\0\0\0" + NO_RECORDS)),
        Attack("list-2-gib", lambda: wrap_in_giop(BATCH + b"\x7f\xff\xff\xff")),
        Attack("list-negative", lambda: wrap_in_giop(BATCH + b"\xff\xff\xff\xff")),
    ]


def object_key(ior: str) -> bytes:
    """Of the reference's first profile (CORBA 3.3 part 2, section 9.6.2)."""
    outer = _Cdr(bytes.fromhex(ior.removeprefix("IOR:")))
    outer.octets()  # the interface
    outer.number()  # profiles
    outer.number()  # the first one's kind
    profile = _Cdr(outer.octets())
    profile.at += 2  # the version
    profile.octets()  # the host
    profile.at += profile.at % 2 + 2  # the port
    return profile.octets()


class _Cdr:
    """An encapsulation."""

    def __init__(self, data: bytes) -> None:
        self._data = data
        self.at = 1

    def number(self) -> int:
        self.at += -self.at % 4
        order = "<" if self._data[0] else ">"
        (number,) = struct.unpack_from(f"{order}I", self._data, self.at)
        self.at += 4
        return int(number)

    def octets(self) -> bytes:
        length = self.number()
        self.at += length
        return self._data[self.at - length : self.at]


# -- raw ---------------------------------------------------------------------


def raw(content: bytes) -> bytes:
    """A framed content."""
    return b"%d\n" % len(content) + content


def raw_attacks(bodies: Sequence[Attack]) -> list[Attack]:
    """On the frame, and with these bodies."""
    return [
        Attack("length-garbage", lambda: b"hostile\n", cut=True),
        Attack("length-negative", lambda: b"-1\nb", cut=True),
        Attack("length-1-gb", lambda: b"999999999\nb", cut=True),
        Attack("length-without-end", lambda: b"9" * HEADER_BYTES, cut=True),
        Attack("body-cut-off", lambda: raw(LITERAL.document())[:-1], cut=True),
        *(_frame(attack) for attack in bodies),
    ]


def _frame(attack: Attack) -> Attack:
    return replace(attack, data=lambda: raw(attack.data()), cut=True)
