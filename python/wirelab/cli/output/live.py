"""``wirelab dissect --live``: the account of time, refreshed while packets pass."""

from __future__ import annotations

import signal
import sys
import time
from collections.abc import Iterator

import msgspec

from wirelab.cli.error_handling import err, fold, out
from wirelab.cli.options.dissect import LiveOptions, ViewOptions
from wirelab.documents.dissection import Dissection, Waits
from wirelab.drive.load_values import positive
from wirelab.errors import EXIT_OK, LabError, UsageError
from wirelab.format.counting import format_count
from wirelab.format.numbers import quantity
from wirelab.process import engine_binary
from wirelab.process.children import POLL_S, Child, ProcessOptions
from wirelab.process.interruption import Interruption
from wirelab.process.scratch import Scratch
from wirelab.report.sections import packet_waits

END_S_MAX = 30.0
"""What the last line may take: a large account is written out."""
CLEAR = "\x1b[H\x1b[J"
REFUSED = 2


class Ready(msgspec.Struct, frozen=True):
    """From now on no packet is missed."""

    interfaces: tuple[str, ...]


class Progress(msgspec.Struct, frozen=True):
    """The account so far."""

    seconds: float
    packets: int
    bytes: int
    drops: int
    exchanges: int
    waits: Waits


class Line(msgspec.Struct, frozen=True):
    """One line of the engine: one of these."""

    ready: Ready | None = None
    live: Progress | None = None
    dissection: Dissection | None = None


def watch(live: LiveOptions, view: ViewOptions) -> Dissection:
    """Shows the account until it ends, and returns the whole dissection. Raises
    :class:`UsageError` where it cannot begin, and :class:`LabError` where it fails."""
    with Interruption() as interruption, Scratch() as scratch:
        log = scratch.folder / "live.log"
        command = [str(engine_binary.find()), "live", *_options(live, view)]
        child = Child(command, ProcessOptions(log=log))
        try:
            return _follow(child, interruption, is_json=view.as_json)
        finally:
            child.kill()


def _options(live: LiveOptions, view: ViewOptions) -> Iterator[str]:
    for name in live.interfaces or ("any",):
        yield from ("--interface", name)
    for option, value in (
        ("--port", view.port),
        ("--pid", live.pid),
        ("--for", None if live.duration is None else positive("--for", live.duration)),
        ("--write", live.write),
    ):
        if value is not None:
            yield from (option, str(value))
    if live.host:
        if live.pid is None:
            raise UsageError("--host needs a process", "name it by --pid")
        yield "--host"


def _follow(child: Child, interruption: Interruption, *, is_json: bool) -> Dissection:
    end: float | None = None
    while True:
        if interruption.requested and end is None:
            child.signal(signal.SIGINT)
            end = time.monotonic() + END_S_MAX
        if end is not None and time.monotonic() > end:
            raise LabError(
                f"the account was not written within {END_S_MAX:.0f} s of the end",
                "try again, with --port or --pid for fewer packets",
            )
        text = child.line(POLL_S)
        if text is None:
            continue
        if not text:
            _raise_failure(child)
        line = msgspec.json.decode(text, type=Line)
        if line.dissection is not None:
            return line.dissection
        if line.ready is not None:
            names = ", ".join(line.ready.interfaces)
            watching = f"watching {names}; Ctrl-C ends it and prints the account"
            err.print(fold(watching, err.width))
        elif line.live is not None and not is_json:
            _show(line.live)


def _raise_failure(child: Child) -> None:
    code = child.wait(END_S_MAX)
    words = child.log_tail().removeprefix("wirelab-engine: ")
    if code == REFUSED:
        message, _, remedy = words.partition("; ")
        raise UsageError(message, remedy)
    raise LabError(f"the live capture ended: {words}")


def _show(live: Progress) -> None:
    if not sys.stdout.isatty():
        out.print(_summary(live))
        return
    sys.stdout.write(CLEAR)
    for row in screen(live):
        out.print(row)


def screen(live: Progress) -> Iterator[str]:
    """What a terminal shows."""
    yield _summary(live)
    yield ""
    yield from packet_waits.account(live.waits)


def _summary(live: Progress) -> str:
    words = (
        f"{quantity(live.seconds, 's')}: {format_count(live.packets, 'packet')}, "
        f"{format_count(live.waits.connections.count, 'connection')}, "
        f"{format_count(live.exchanges, 'exchange')}"
    )
    return f"{words}, {live.drops:,} dropped" if live.drops else words


def run(live: LiveOptions, view: ViewOptions) -> int:
    """Returns the exit code."""
    from wirelab.report import dissection_page, dissection_text
    from wirelab.trial import dissected

    document = watch(live, view)
    if view.report is not None:
        dissection_page.write(document, view.report)
    if view.as_json:
        print(dissected.text(document))
    else:
        if sys.stdout.isatty():
            sys.stdout.write(CLEAR)
        for row in dissection_text.lines(document):
            out.print(row)
    return EXIT_OK
