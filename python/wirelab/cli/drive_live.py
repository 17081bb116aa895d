"""Live display of `wirelab drive`: one line per second, or a chart of the last seconds."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from contextlib import AbstractContextManager
from dataclasses import dataclass
from types import TracebackType
from typing import TYPE_CHECKING

from wirelab.documents.event import Progress
from wirelab.errors import UsageError
from wirelab.format.console import Console, Line, StatusLine
from wirelab.format.units import format_seconds

if TYPE_CHECKING:
    from rich.console import RenderableType
    from rich.live import Live

SHORT_S = 0.05
"""Shortest elapsed time for which a rate is shown."""
KEPT = 50
"""Points of a chart, one per second; they fit into 80 columns."""
BARS = " ▁▂▃▄▅▆▇█"


@dataclass(frozen=True)
class Second:
    """Activity between two progress lines, about one second apart."""

    phase: str
    elapsed_s: float
    rate: float
    """Calls that ended per second."""
    errors: int
    """Number of these calls that failed."""
    in_flight: int
    p50_s: float | None
    """None if there were too few calls."""
    p99_s: float | None

    @property
    def text(self) -> str:
        """``measure 3 s: 12,345 calls/s, p50 180 µs, p99 1.2 ms, 0 failed, 16 in flight``."""
        times = (("p50", self.p50_s), ("p99", self.p99_s))
        return ", ".join(
            (
                f"{self.phase} {self.elapsed_s:.0f} s: {self.rate:,.0f} calls/s",
                *(f"{name} {format_seconds(time)}" for name, time in times if time is not None),
                f"{self.errors:,} failed",
                f"{self.in_flight:,} in flight",
            )
        )


class Seconds:
    """Computes seconds from progress lines, whose counts start with each phase."""

    def __init__(self) -> None:
        self._before: Progress | None = None

    def next(self, now: Progress) -> Second:
        """The activity since the previous progress line."""
        before = self._before
        if before and (before.phase != now.phase or before.elapsed_s >= now.elapsed_s):
            before = None
        self._before = now
        since_s = now.elapsed_s - (before.elapsed_s if before else 0.0)
        calls = now.calls - (before.calls if before else 0)
        return Second(
            phase=now.phase,
            elapsed_s=now.elapsed_s,
            rate=calls / since_s,
            errors=now.errors - (before.errors if before else 0),
            in_flight=now.in_flight,
            p50_s=None if now.p50_ns is None else now.p50_ns / 1e9,
            p99_s=None if now.p99_ns is None else now.p99_ns / 1e9,
        )


class LiveLine(AbstractContextManager["LiveLine"]):
    """One status line at the bottom of a terminal; prints nothing elsewhere."""

    def __init__(self, console: Console) -> None:
        self._line, self._seconds = StatusLine(console), Seconds()

    def __exit__(self, *error: object) -> None:
        self._line.__exit__(*error)

    def show(self, progress: Progress) -> None:
        """Replaces the line, except at the very start of a phase, when there is no rate yet."""
        if progress.elapsed_s > SHORT_S:
            self._line.show(Line(self._seconds.next(progress).text))


class LiveChart(AbstractContextManager["LiveChart"]):
    """Rate, response times, failures and calls in flight over the last seconds, on a terminal."""

    def __init__(self, console: Console) -> None:
        """Raises :class:`UsageError` if the console is not a terminal."""
        if not console.is_terminal:
            raise UsageError(
                "--tui needs a terminal", "leave it out if standard error is redirected"
            )
        self._seconds = Seconds()
        self._kept: deque[Second] = deque(maxlen=KEPT)
        self._live: Live | None = None

    def __enter__(self) -> LiveChart:
        from rich.console import Console as RichConsole
        from rich.live import Live

        self._live = Live(console=RichConsole(stderr=True), auto_refresh=False, transient=True)
        self._live.start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        if self._live is not None:
            self._live.stop()

    def show(self, progress: Progress) -> None:
        """Adds a point to every row."""
        if progress.elapsed_s <= SHORT_S:
            return
        self._kept.append(self._seconds.next(progress))
        if self._live is not None:
            self._live.update(self._drawn(), refresh=True)

    def _drawn(self) -> RenderableType:
        from rich.table import Table

        last = self._kept[-1]
        table = Table(title=f"{last.phase} {last.elapsed_s:.0f} s", box=None, title_justify="left")
        for column, justify in (("", "left"), ("now", "right"), (f"last {KEPT} s", "left")):
            table.add_column(column, justify=justify, no_wrap=True)  # type: ignore[arg-type]
        for name, value, shown in _ROWS:
            values = [value(second) for second in self._kept]
            now = values[-1]
            table.add_row(name, "" if now is None else shown(now), sparkline(values))
        return table


_ROWS: tuple[tuple[str, Callable[[Second], float | None], Callable[[float], str]], ...] = (
    ("calls/s", lambda second: second.rate, lambda value: f"{value:,.0f}"),
    ("p50", lambda second: second.p50_s, format_seconds),
    ("p99", lambda second: second.p99_s, format_seconds),
    ("failed", lambda second: second.errors, lambda value: f"{value:,.0f}"),
    ("in flight", lambda second: second.in_flight, lambda value: f"{value:,.0f}"),
)
"""Row name, value and text of the value."""


def sparkline(values: list[float | None]) -> str:
    """One bar per value, from 0 to the largest; a space for None."""
    largest = max((value for value in values if value is not None), default=0.0)
    if largest <= 0:
        return BARS[1] * len(values)
    levels = len(BARS) - 2
    return "".join(
        BARS[0] if value is None else BARS[1 + round(value / largest * levels)] for value in values
    )
