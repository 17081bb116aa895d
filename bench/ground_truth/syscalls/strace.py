"""What strace(1) wrote, as calls on sockets.

The log is that of ``strace -f -yy -T --absolute-timestamps=format:unix,precision:ns``:
thread, time of entry, call, result, duration. Times are nanoseconds of the Unix
epoch, as those of the packets are.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

TRACED = (
    "socket,connect,accept,accept4,setsockopt,shutdown,close,"
    "read,readv,recvfrom,recvmsg,write,writev,sendto,sendmsg,sendfile,"
    "epoll_wait,epoll_pwait,epoll_pwait2,poll,ppoll,select,pselect6"
)
PREFIX_BYTES = 256
"""How much of every buffer the log shows: enough for the heads of messages."""
SENDS = frozenset(("write", "writev", "sendto", "sendmsg", "sendfile"))
RECEIVES = frozenset(("read", "readv", "recvfrom", "recvmsg"))
WAITS = frozenset(
    ("epoll_wait", "epoll_pwait", "epoll_pwait2", "poll", "ppoll", "select", "pselect6")
)

WORDED = WAITS | {"connect", "setsockopt", "shutdown"}

_LINE = re.compile(r"(\d+) +(\d+)\.(\d{9}) (.*)")
_UNFINISHED = re.compile(r"(.*?) *<unfinished \.\.\.>$")
_RESUMED = re.compile(r"<\.\.\. (\w+) resumed>(.*)")
_CALL = re.compile(r"(\w+)\((.*)\) += (-?\d+|\?)(.*?)(?: <(\d+)\.(\d{6,9})>)?$")
_SOCKET = re.compile(r"(\d+)<TCP(?:v6)?:\[(.*?)\]>")
_DESCRIPTOR = re.compile(r"(\d+)<TCP")
_ERROR = re.compile(r" (E[A-Z0-9]+)\b")
_BUFFER = re.compile(r'"((?:[^"\\]|\\.)*)"(\.\.\.)?, (?:iov_len=)?(\d+)')
_PEER = re.compile(r"sin_port=htons\((\d+)\), sin_addr=inet_addr\(\"([\d.]+)\"\)")

Ends = tuple[str, str]
"""``address:port`` of the process's own end and of its peer's."""


@dataclass(frozen=True)
class Call:
    """One system call that has returned."""

    name: str
    at: int
    """When it was entered."""
    ended: int
    """When it returned."""
    result: int
    """-1 with an error."""
    error: str | None
    descriptor: int | None
    """The TCP socket that it was about."""
    ends: Ends | None
    """Of a connected socket."""
    given: tuple[int, ...] = ()
    """Lengths of the buffers, bytes."""
    prefix: bytes = b""
    """What the buffers began with, as far as the log shows it."""
    words: str = ""
    """The arguments, of calls without a buffer."""
    listener: int | None = None
    """Of accept(2): the socket that listens."""


@dataclass(frozen=True)
class Stop:
    """The process was stopped by a signal, or went on."""

    at: int
    stopped: bool


def read(path: Path) -> Iterator[Call | Stop]:
    """All events of a log, in the order in which they ended."""
    with path.open(encoding="ascii", errors="replace") as lines:
        yield from events(lines)


def events(lines: Iterable[str]) -> Iterator[Call | Stop]:
    """Calls and stops of the lines of a log; calls that never returned are left out."""
    open_calls: dict[str, tuple[int, str]] = {}
    for line in lines:
        found = _LINE.match(line.rstrip("\n"))
        if found is None:
            continue
        thread, seconds, nanoseconds, words = found.groups()
        at = int(seconds) * 1_000_000_000 + int(nanoseconds)
        if words.startswith("---"):
            if "stopped by SIGSTOP" in words:
                yield Stop(at, stopped=True)
            elif words.startswith("--- SIGCONT"):
                yield Stop(at, stopped=False)
            continue
        if unfinished := _UNFINISHED.match(words):
            open_calls[thread] = (at, unfinished[1])
            continue
        if resumed := _RESUMED.match(words):
            entered, head = open_calls.pop(thread, (at, ""))
            call = _call(head + resumed[2], entered, at)
        else:
            call = _call(words, at, at)
        if call is not None:
            yield call


def _call(words: str, at: int, seen: int) -> Call | None:
    """The call of one line; None if the line is not a call."""
    found = _CALL.match(words)
    if found is None or found[3] == "?":
        return None
    name, arguments, result, rest, seconds, fraction = found.groups()
    ended = seen
    if seconds is not None:
        ended = at + int(seconds) * 1_000_000_000 + int(fraction.ljust(9, "0"))
    error = _ERROR.match(rest)
    first = _DESCRIPTOR.match(arguments) if name.startswith("accept") else None
    socket = _SOCKET.match(result + rest if first else arguments)
    lengths, prefix = _buffers(arguments) if name in SENDS | RECEIVES else ((), b"")
    return Call(
        name,
        at,
        ended,
        int(result),
        error[1] if error else None,
        int(socket[1]) if socket else None,
        _ends(socket[2]) if socket else None,
        lengths,
        prefix,
        arguments if name in WORDED else "",
        int(first[1]) if first else None,
    )


def _ends(words: str) -> Ends | None:
    local, arrow, remote = words.partition("->")
    return (local, remote) if arrow else None


def _buffers(arguments: str) -> tuple[tuple[int, ...], bytes]:
    """Lengths, and the bytes up to the first that the log leaves out."""
    lengths: list[int] = []
    prefix = b""
    whole = True
    for text, cut, length in _BUFFER.findall(arguments):
        lengths.append(int(length))
        if whole:
            prefix += text.encode("ascii").decode("unicode_escape").encode("latin-1")
        whole = whole and not cut
    return tuple(lengths), prefix


def peer(connect: Call) -> str | None:
    """``address:port`` that a connect(2) was for, IPv4."""
    found = _PEER.search(connect.words)
    return f"{found[2]}:{found[1]}" if found else None
