"""Standard output and standard error of the wrapped command: passed through as they arrive, and
kept. Where wirelab's own output is a terminal, the command gets a pseudo-terminal, so that it
prints as it does without wirelab: line by line, with colours and progress."""

from __future__ import annotations

import contextlib
import errno
import fcntl
import os
import selectors
import termios
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO

OUTPUT_BYTES_MAX = 64 * 1024 * 1024
"""Maximum amount of output to keep; more is passed through only."""
CHUNK = 1 << 16
_WINDOW = b"\0" * 8
"""Rows, columns, and their pixels (ioctl_tty(2))."""


@dataclass(frozen=True)
class _Output:
    """One of the two."""

    own: int
    """The end that is read."""
    of_command: int
    sink: BinaryIO
    kept: BinaryIO


class Outputs:
    """Both outputs. Use as a context manager; the command gets ``stdout`` and ``stderr``."""

    def __init__(self, folder: Path, out: BinaryIO, err: BinaryIO) -> None:
        self._selector = selectors.DefaultSelector()
        self._kept = 0
        self._has_ends = True
        self.cut = False
        """Whether more was printed than is kept."""
        self._outputs = [
            _open(sink, folder / f"tool-{name}.txt")
            for name, sink in (("stdout", out), ("stderr", err))
        ]
        self.stdout, self.stderr = (output.of_command for output in self._outputs)
        for output in self._outputs:
            self._selector.register(output.own, selectors.EVENT_READ, output)

    def __enter__(self) -> Outputs:
        return self

    def __exit__(self, *_: object) -> None:
        self.close_ends_of_command()
        self._selector.close()
        for output in self._outputs:
            os.close(output.own)
            output.kept.close()

    def close_ends_of_command(self) -> None:
        """The command has its own copies; an output ends when the last copy is closed."""
        if self._has_ends:
            self._has_ends = False
            os.close(self.stdout)
            os.close(self.stderr)

    def pump(self, seconds: float) -> bool:
        """Passes available output through. False once both outputs have ended."""
        if not self._selector.get_map():
            return False
        for key, _ in self._selector.select(seconds):
            chunk = _read(key.fd)
            if not chunk:
                self._selector.unregister(key.fd)
                continue
            key.data.sink.write(chunk)
            key.data.sink.flush()
            self._keep(key.data.kept, chunk)
        return True

    def _keep(self, kept: BinaryIO, chunk: bytes) -> None:
        room = OUTPUT_BYTES_MAX - self._kept
        self.cut = self.cut or len(chunk) > room
        self._kept += kept.write(chunk[: max(0, room)])

    def text(self) -> str:
        """Everything that was kept, standard output first."""
        parts = []
        for output in self._outputs:
            output.kept.seek(0)
            parts.append(output.kept.read().decode("utf-8", "replace"))
        return "\n".join(parts)


def _open(sink: BinaryIO, kept: Path) -> _Output:
    own, of_command = os.openpty() if sink.isatty() else os.pipe()
    if sink.isatty():
        _imitate(sink.fileno(), of_command)
    return _Output(own, of_command, sink, kept.open("w+b"))


def _imitate(terminal: int, pseudo: int) -> None:
    """The size of the terminal, and no change of what is printed: that is left to the terminal."""
    attributes = termios.tcgetattr(pseudo)
    attributes[1] &= ~termios.OPOST
    termios.tcsetattr(pseudo, termios.TCSANOW, attributes)
    with contextlib.suppress(OSError):  # a terminal without a size
        size = fcntl.ioctl(terminal, termios.TIOCGWINSZ, _WINDOW)
        fcntl.ioctl(pseudo, termios.TIOCSWINSZ, size)


def _read(end: int) -> bytes:
    try:
        return os.read(end, CHUNK)
    except OSError as error:
        # Linux reports the end of a pseudo-terminal so (pty(7)).
        if error.errno == errno.EIO:
            return b""
        raise
