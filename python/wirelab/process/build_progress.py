"""What a build is doing and how long it may still take, from the log of its build tool."""

from __future__ import annotations

import re
import time
from collections.abc import Callable
from pathlib import Path

from wirelab.format.console import WIDTH, shorten
from wirelab.format.counting import format_count
from wirelab.format.sanitize import sanitize

OnBuild = Callable[[str], None]
"""Receives a line about a build that is running, several times per second, and an empty line at
its end."""
REPORT_S = 0.5
"""Seconds between two of these lines."""

GO_DOWNLOAD = re.compile(r"go: downloading (\S+) \S+")
GO_PACKAGE = re.compile(r"[\w.~-]+(?:/[\w.~-]+)*")
"""A line of ``go build -v``: the import path of a package."""
CARGO_CRATE = re.compile(r"Compiling (\S+) v\S+.*")
MAVEN_MODULE = re.compile(r"\[INFO\] Building .* \[(\d+)/(\d+)\]")
MAVEN_GOAL = re.compile(r"\[INFO\] --- \S+:(\S+) .*@ \S+ ---")
STYLE = re.compile(r"\x1b\[[\d;]*m")
"""A style of ECMA-48, which Maven prints even into a file."""
MAVEN_DOWNLOAD = re.compile(r"Download(?:ing|ed) from \S+: \S*/(\S+)")


def ignore(text: str) -> None:
    """Reports nothing."""
    del text


class BuildReport:
    """The line about one build. Its time begins with the object."""

    def __init__(
        self,
        title: str,
        log: Path,
        usual_s: float | None,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        """``title`` names the program. ``usual_s`` is the time that its build usually takes, in
        seconds, if it is known. ``clock`` returns seconds."""
        self._title = title
        self._log = log
        self._usual_s = usual_s
        self._clock = clock
        self._began = clock()
        self._steps = _Steps()
        self._offset = 0
        self._rest = b""

    @property
    def seconds(self) -> float:
        """Seconds since the beginning."""
        return self._clock() - self._began

    def line(self) -> str:
        """``building the service in go: 34 s, 36 s left; 212 packages, now net/http``, in less than
        80 columns."""
        self._read()
        start = f"building {self._title}: {self.seconds:.0f} s{self._estimate_time_left()}"
        step = self._steps.text(WIDTH - 1 - len(start) - 2)
        return f"{start}; {step}" if step else start

    def _estimate_time_left(self) -> str:
        if self._usual_s is None:
            return ""
        left = self._usual_s - self.seconds
        if left < 0.0:
            return f", usually {self._usual_s:.0f} s"
        return f", {max(1.0, left):.0f} s left"

    def _read(self) -> None:
        """Takes the lines that the log has got."""
        try:
            with self._log.open("rb") as log:
                log.seek(self._offset)
                text = log.read()
        except OSError:
            return
        self._offset += len(text)
        *lines, self._rest = (self._rest + text).split(b"\n")
        for line in lines:
            self._steps.take(STYLE.sub("", line.decode("utf-8", "replace")).strip())


class _Steps:
    """The step that a build tool's lines describe: of cargo, of Go, of Maven, or the last line of
    another tool."""

    def __init__(self) -> None:
        self._packages = 0
        self._module = ""
        self._step = ""

    def text(self, width: int) -> str:
        """``212 packages, now net/http`` or ``module 3 of 25, compile``; a name is shortened to
        fit into ``width`` columns."""
        done = (
            f"{format_count(self._packages, 'package')}, now " if self._packages else self._module
        )
        return f"{done}{_end(sanitize(self._step), width - len(done))}".removesuffix(", ")

    def take(self, line: str) -> None:
        """Considers one line of the log."""
        if not line:
            return
        if found := GO_DOWNLOAD.match(line) or MAVEN_DOWNLOAD.match(line):
            self._step = f"downloading {found[1]}"
        elif found := CARGO_CRATE.fullmatch(line):
            self._packages += 1
            self._step = found[1]
        elif found := MAVEN_MODULE.match(line):
            self._module = f"module {found[1]} of {found[2]}, "
        elif found := MAVEN_GOAL.match(line):
            self._step = found[1]
        elif GO_PACKAGE.fullmatch(line):
            self._packages += 1
            self._step = line
        elif not line.startswith("[INFO]"):
            self._step = line


def _end(name: str, width: int) -> str:
    """A path with as many of its last parts as fit, because the first parts of many packages are
    the same."""
    shown = name
    while len(shown) > width and "/" in name:
        name = name.partition("/")[2]
        shown = f"…/{name}"
    return shorten(shown, width)


def usual_seconds(record: Path, stated: float | None) -> float | None:
    """Seconds of the last successful build, which ``record`` has; otherwise the stated ones."""
    try:
        return float(record.read_text(encoding="ascii"))
    except (OSError, ValueError):
        return stated
