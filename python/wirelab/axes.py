"""The axis table: every factor by which two stacks can differ, as data.

A stack is one point in this table. Only axes and values that can be measured
today are in it; adding one means adding a row here, and honouring it in the
engine's plan or in a service's configuration.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType

from wirelab.errors import StackError, UnitError
from wirelab.spelling import did_you_mean
from wirelab.units import parse_bytes, parse_seconds

COUNT_MAX = 1_000_000
"""The largest N in ``pool=N``, ``pipeline=N`` and ``multiplex=N``."""
WINDOW_BYTES_MAX = 2**31 - 1
"""The largest window: RFC 9113 section 6.9.1, and ``int`` of setsockopt(2)."""
CPU_PERCENT_MIN = 10
"""The smallest share of a core: the kernel gives 1 ms of a period of 10 ms at least."""
SEGMENTS_MAX = 1000
"""The largest ``initial_window``, segments, as `wirelab-engine link` has it."""
KERNEL = "kernel"
"""The value of axes that leaves a choice to the kernel."""
DELAY_MS_MAX = 60_000
"""The longest ``close_delay``, milliseconds."""

ENGINE = "engine"
"""The value of the axis ``caller`` that is the lab's own; all others are foreign tools."""


@dataclass(frozen=True)
class Axis:
    """One factor."""

    name: str
    about: str
    default: str
    """The value when unnamed; of a binding's own axes, see :data:`BINDING_DEFAULTS`."""
    values: tuple[str, ...] = ()
    """Values that are words."""
    counted: tuple[str, ...] = ()
    """Words that take a number, as ``pool`` in ``pool=8``."""
    is_bytes: bool = False
    """True when a number of bytes is a value too."""
    is_ms: bool = False
    """True when the values are whole milliseconds."""
    is_percent: bool = False
    """True when a share in per cent is a value too."""
    is_segments: bool = False
    """True when a number of full segments is a value too."""

    def canonical(self, text: str) -> str:
        """The value as it is written in references. Raises :class:`StackError`."""
        if text in self.values:
            return text
        word, equals, number = text.partition("=")
        if equals and word in self.counted:
            return f"{word}={self._count(text, number)}"
        if self.is_bytes:
            return str(self._bytes(text))
        if self.is_ms:
            return str(self._ms(text))
        if self.is_segments and text.isdigit():
            return str(self._segments(text))
        if self.is_percent and text.endswith("%"):
            return self._percent(text)
        raise StackError(
            f"axis {self.name!r} has no value {text!r}",
            did_you_mean(text, self._choices()),
        )

    def _count(self, text: str, number: str) -> int:
        if not re.fullmatch(r"[0-9]{1,7}", number) or not 1 <= int(number) <= COUNT_MAX:
            raise StackError(
                f"axis {self.name!r}: {text!r} needs a whole number from 1 to {COUNT_MAX:,}",
                f"write for example {text.partition('=')[0]}=8",
            )
        return int(number)

    def _choices(self) -> tuple[str, ...]:
        counted = (f"{word}=N" for word in self.counted)
        examples = ("25%",) * self.is_percent + ("64",) * self.is_segments
        return (*self.values, *counted, *examples)

    def _percent(self, text: str) -> str:
        number = text.removesuffix("%")
        if not re.fullmatch(r"[0-9]{1,3}", number) or not CPU_PERCENT_MIN <= int(number) <= 100:
            raise StackError(
                f"axis {self.name!r}: {text!r} is not a share of a core that can be given",
                f"write {CPU_PERCENT_MIN}% to 100%, or {self.default!r}",
            )
        return f"{int(number)}%"

    def _segments(self, text: str) -> int:
        if not re.fullmatch(r"[0-9]{1,4}", text) or not 1 <= int(text) <= SEGMENTS_MAX:
            raise StackError(
                f"axis {self.name!r}: {text} segments are not a window that a link can give",
                f"write 1 to {SEGMENTS_MAX:,}, or {self.default!r}",
            )
        return int(text)

    def _bytes(self, text: str) -> int:
        try:
            size = int(text) if re.fullmatch(r"[0-9]{1,12}", text) else parse_bytes(text)
        except UnitError as error:
            raise StackError(
                f"axis {self.name!r}: {error.message}",
                f"write a number of bytes, or {self.default!r}",
            ) from None
        if not 1 <= size <= WINDOW_BYTES_MAX:
            raise StackError(
                f"axis {self.name!r}: {size} bytes is not a window",
                f"choose 1 to {WINDOW_BYTES_MAX:,} bytes",
            )
        return size

    def _ms(self, text: str) -> int:
        try:
            is_bare = re.fullmatch(r"[0-9]{1,6}", text)
            ms = float(text) if is_bare else parse_seconds(text) * 1e3
        except UnitError as error:
            raise StackError(
                f"axis {self.name!r}: {error.message}", "write a number of milliseconds, e.g. 40"
            ) from None
        if abs(ms - round(ms)) > 1e-6 or not 0 <= ms <= DELAY_MS_MAX:
            raise StackError(
                f"axis {self.name!r}: {text!r} is not a whole number of milliseconds in range",
                f"choose 0 to {DELAY_MS_MAX:,} ms",
            )
        return round(ms)


TABLE: tuple[Axis, ...] = (
    Axis(
        "codec",
        "how messages become bytes",
        "json",
        (
            *("text", "json", "protobuf", "xml"),
            *("soap-literal", "soap-rpc", "soap-encoded"),
            *("cdr", "token-xml"),
        ),
    ),
    Axis("soap", "version of SOAP, with binding soap", "1.1", ("1.1", "1.2")),
    Axis("compression", "of message bodies", "none", ("none", "gzip", "zstd")),
    Axis(
        "transport",
        "what carries them; tcp: a stream of bytes without HTTP",
        "http/1.1",
        ("http/1.0", "http/1.1", "http/2", "tcp"),
    ),
    Axis(
        "socket",
        "what the transport runs on: TCP over loopback, or a Unix socket",
        "tcp",
        ("tcp", "unix"),
    ),
    Axis(
        "connection",
        "close: one per call; keep: one per user; pool=N: N for all users",
        "keep",
        ("close", "keep"),
        ("pool",),
    ),
    Axis(
        "in_flight",
        "calls under way per connection",
        "1",
        ("1",),
        ("pipeline", "multiplex"),
    ),
    Axis(
        "end_of_message",
        "how HTTP/1.x replies end; until-close: by the end of the connection",
        "content-length",
        ("content-length", "chunked", "until-close"),
    ),
    Axis(
        "close_delay",
        "milliseconds that the service waits before it closes a connection",
        "0",
        is_ms=True,
    ),
    Axis(
        "reply",
        "one-way: none; a call ends when the service reports that it has processed it",
        "two-way",
        ("two-way", "one-way"),
    ),
    Axis("client.writes", "header and body in one send, or two", "joined", ("joined", "split")),
    Axis("server.writes", "header and body in one send, or two", "joined", ("joined", "split")),
    Axis("client.nagle", "Nagle's algorithm (RFC 896)", "off", ("off", "on")),
    Axis("server.nagle", "Nagle's algorithm (RFC 896)", "off", ("off", "on")),
    Axis(
        "client.quickack",
        "TCP_QUICKACK set again after every receive",
        "kernel",
        ("kernel", "off", "on"),
    ),
    Axis("client.tcp_window", "SO_RCVBUF in bytes", "kernel", ("kernel",), is_bytes=True),
    Axis("server.tcp_window", "SO_RCVBUF in bytes", "kernel", ("kernel",), is_bytes=True),
    Axis(
        "client.h2_window",
        "HTTP/2 window offered for replies, bytes; engine: 2^30 - 1, never the limit",
        "engine",
        ("engine",),
        is_bytes=True,
    ),
    Axis(
        "server.h2_window",
        "HTTP/2 window offered for requests, bytes",
        "library",
        ("library",),
        is_bytes=True,
    ),
    Axis(
        "congestion",
        "TCP's congestion control at both ends of a link; loopback has the machine's",
        "cubic",
        ("cubic", "bbr", "reno"),
    ),
    Axis(
        "initial_window",
        "segments that a new connection may send at once, at both ends of a link",
        KERNEL,
        (KERNEL,),
        is_segments=True,
    ),
    Axis(
        "after_idle",
        "of a pause, at both ends of a link; restart: it shrinks TCP's congestion window",
        "restart",
        ("restart", "keep"),
    ),
    Axis(
        "security",
        "of the transport; mtls: the client shows a certificate too",
        "none",
        ("none", "tls", "mtls"),
    ),
    Axis(
        "token_source",
        "what the client encodes token-xml from: the message, or its XML text",
        "message",
        ("message", "text"),
    ),
    Axis(
        "token_cache",
        "what both ends of a token-xml connection keep; names: as the study of 2003 did",
        "names",
        ("names", "names+texts"),
    ),
    Axis("byte_order", "of the client's GIOP messages", "little", ("little", "big")),
    Axis(
        "work",
        "decode: every reply in full; frame: status, length and frame only",
        "decode",
        ("decode", "frame"),
    ),
    Axis(
        "start", "cold: measured from the first call of a fresh process", "warm", ("warm", "cold")
    ),
    Axis(
        "client.cpu",
        "share of one core that the caller gets, for slow devices; all: whatever is there",
        "all",
        ("all",),
        is_percent=True,
    ),
    Axis(
        "server.cpu",
        "share of one core that the service gets, for slow devices; all: whatever is there",
        "all",
        ("all",),
        is_percent=True,
    ),
    Axis(
        "caller",
        "who makes the calls; ghz: that load tool with its own client library, windows included",
        ENGINE,
        (ENGINE, "ghz"),
    ),
)
"""All axes but binding and language, in the order of references."""

BY_NAME: Mapping[str, Axis] = MappingProxyType({axis.name: axis for axis in TABLE})

BINDINGS = ("rest", "soap", "grpc", "iiop", "raw")
"""Values of the axis ``binding``."""

BINDING_DEFAULTS: Mapping[str, Mapping[str, str]] = MappingProxyType(
    {
        "rest": MappingProxyType({"codec": "json", "transport": "http/1.1"}),
        "soap": MappingProxyType({"codec": "soap-literal", "transport": "http/1.1"}),
        "grpc": MappingProxyType({"codec": "protobuf", "transport": "http/2"}),
        "iiop": MappingProxyType({"codec": "cdr", "transport": "tcp"}),
        "raw": MappingProxyType({"codec": "soap-literal", "transport": "tcp"}),
    }
)
"""Where a binding's default is not the axis's."""

MEANT = MappingProxyType(
    {
        "http": "transport",
        "pool": "connection",
        "writes": "client.writes",
        "unix": "socket",
        "tls": "security",
        "one-way": "reply",
    }
)
"""Words that people write for an axis and that spelling alone would not lead to."""


def default(binding: str, axis: str) -> str:
    """The value of an unnamed axis."""
    return BINDING_DEFAULTS[binding].get(axis, BY_NAME[axis].default)


def axis(name: str) -> Axis:
    """The axis of that name. Raises :class:`StackError` with a guess."""
    found = BY_NAME.get(name)
    if found is None:
        guess = MEANT.get(name)
        remedy = f"Did you mean {guess!r}?" if guess else did_you_mean(name, BY_NAME)
        raise StackError(f"there is no axis {name!r}", remedy)
    return found
