"""What `wirelab drive` shows: its progress, live, and its result for people, in 80 columns."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Any

from wirelab.checks.replies import UNCHECKED, differences
from wirelab.cli.error_handling import err, fold, out
from wirelab.cli.output.streams import show_streams
from wirelab.cli.output.thresholds import sentence
from wirelab.documents.event import Progress, SlowestCalls
from wirelab.drive.progress import Second, Seconds
from wirelab.errors import UsageError
from wirelab.format.console import Console, Line, StatusLine
from wirelab.format.counting import failure_text, format_count
from wirelab.format.numbers import digits
from wirelab.format.sanitize import sanitize
from wirelab.format.units import format_bytes, format_seconds
from wirelab.records.caller import FileTables
from wirelab.records.conversion import convert
from wirelab.records.group import RepliesResult
from wirelab.statistics.calls_needed import calls_needed, window_for

if TYPE_CHECKING:
    from rich.console import RenderableType
    from rich.live import Live

    from wirelab.drive.measurement import MeasuredDrive
    from wirelab.drive.session import OnProgress

Json = dict[str, Any]

WIDTH = 80
"""Maximum width, also on wider terminals."""
EXAMPLES_MAX = 3
"""Maximum number of example messages per kind of failure."""
COUNTS_APART = 0.01
"""Share by which calls and rate may differ without a note."""
SHORT_S = 0.05
"""Shortest elapsed time for which a rate is shown."""
KEPT = 50
"""Points of a live chart, one per second; they fit into 80 columns."""
BARS = " ▁▂▃▄▅▆▇█"
FAILED_TIMES = (
    "all calls: a failed call counts until its error was answered, its connection ended or its "
    "timeout expired"
)
NOTES = {
    "closed": "closed load: users wait for replies, so a slow server gets fewer calls. The times "
    "do not predict response times at a given rate (--rate).",
    "open": "open load: response time starts when a call was due and includes queueing; "
    "service time starts when it was sent. Schedule lag is the delay caused by the "
    "engine. Do not compare with a closed load.",
}


def show(target: str, result: Json) -> None:
    """Prints the result, with the hints at the end."""
    out.print(target, style="bold")
    _show_amount(result)
    _show_errors(result)
    if not result["ok"]:
        _say("  no call succeeded")
    _show_replies(result.get("replies"))
    if result["streams"]:
        show_streams(result["streams"], _say)
    _show_response_times("response time", result)
    _show_lacking(result)
    if result["ok"] and result["load"] == "open":
        good = ", good calls" if result["errors"] else ""
        _show_times(f"service time{good}", result["service_time_ms"])
        _show_times("schedule lag", _remove_key(result["schedule_lag_ms"], "mean"))
    if result["errors"]:
        _say(f"  {FAILED_TIMES}", "dim")
    if result["sequences"]:
        _show_sequences(result["sequences"])
    for operation in result["operations"]:
        _show_part(operation["operation"], [], operation)
    for number, stage in enumerate(result["stages"], 1):
        _show_stage(number, stage)
    if result["bursts"]:
        _show_bursts(result["bursts"])
    if result["slowest"] is not None:
        _show_slowest(convert(result["slowest"], SlowestCalls))
    _show_client(result)
    _say(f"  {NOTES[result['load']]}", "dim")
    for hint in (*result["hints"], *result["noise"]):
        _say(f"! {hint}", "yellow")


def _say(text: str, style: str = "") -> None:
    out.print(fold(text, min(out.width, WIDTH)), style)


def _show_amount(result: Json) -> None:
    planned = result["rate_planned_per_s"]
    planned_text = f" (planned: {planned:,.6g})" if planned else ""
    seconds = format_seconds(result["window_s"])
    if result["interrupted"]:
        _say(f"  interrupted after {seconds}; results until then:", "yellow")
    one = "stream" if result["streams"] else "call"
    calls = format_count(result["calls"], one)
    _say(f"  {calls} in {seconds}, {result['errors']:,} failed")
    _say(f"  {result['rate_per_s']:,.6g} good {one}s/s{planned_text}")
    ended, good = result["ended_in_window"], result["rate_per_s"] * result["window_s"]
    if abs(good - result["ok"]) > COUNTS_APART * max(result["ok"], 1):
        _say(
            f"  {ended:,} calls ended within the window, of which the rate counts the good ones; "
            f"{result['calls']:,} calls began in it"
        )


def _show_errors(result: Json) -> None:
    """Prints every kind of error with its count and examples."""
    for kind, count in result["errors_by_kind"].items():
        if not count:
            continue
        _say(f"    {kind}: {count:,} {failure_text(kind, result['timeout_s'])}", "red")
        words = [
            example.removeprefix(f"{kind}: ")
            for example in dict.fromkeys(result["error_examples"])
            if example.startswith(f"{kind}: ")
        ]
        for example in words[:EXAMPLES_MAX]:
            _say(f"      e.g. {sanitize(example)}", "red")
    if result["errors_by_kind"].get("timeout") and not result["ok"]:
        _say(f"    bytes received meanwhile: {format_bytes(result['bytes_received'])}", "red")


def _show_replies(replies: Json | None) -> None:
    """Prints how the replies differed, if nothing else is known about them."""
    if replies is not None:
        _say(f"  {UNCHECKED}: {differences([convert(replies, RepliesResult)])}")


def _show_response_times(title: str, result: Json) -> None:
    """Prints times of good calls and of all calls if any failed; otherwise once."""
    if not result["errors"]:
        _show_times(title, result["latency_ms"])
        return
    _show_times(f"{title}, good calls", result["latency_good_ms"])
    _show_times(f"{title}, all calls", result["latency_ms"])


def _show_times(title: str, times: Json) -> None:
    if times:
        parts = [
            f"{name} {format_seconds(ms / 1e3)}" for name, ms in times.items() if name != "min"
        ]
        _say(f"  {title}: {', '.join(parts)}")


def _show_lacking(result: Json) -> None:
    """Prints how many calls the p99 lacks, and what would have them."""
    calls = result["calls"]
    needed = calls_needed("p99") or 0
    if "p99" in result["latency_ms"] or not 0 < calls < needed or not result["ok"]:
        return
    if result["stages"] or result["bursts"]:
        # Their length is not that of --duration.
        _say(f"  p99: {calls:,} of {needed:,} calls")
        return
    seconds = window_for(calls, result["window_s"], needed)
    duration = format_seconds(seconds).replace(" ", "")
    _say(f"  p99: {calls:,} of {needed:,} calls; `--duration {duration}` or `--calls {needed}`")


def _remove_key(times: Json, name: str) -> Json:
    return {other: ms for other, ms in times.items() if other != name}


def _show_sequences(sequences: Json) -> None:
    count = format_count(sequences["count"], "sequence")
    _say(f"  {count}, {sequences['errors']:,} ended by a failed call")
    _show_response_times("response time of a sequence", sequences)


def _show_part(name: str, words: list[str], part: Json) -> None:
    """Prints an operation or a stage on one line."""
    times = (f"{p} {format_seconds(ms / 1e3)}" for p, ms in _of(part["latency_ms"]))
    counts = [format_count(part["calls"], "call"), f"{part['errors']:,} failed"]
    _say(f"  {name}: {', '.join((*words, *counts, *times))}")


def _of(times: Json) -> list[tuple[str, float]]:
    return [(name, times[name]) for name in ("p50", "p99") if name in times]


def _show_stage(number: int, stage: Json) -> None:
    end_s = stage["start_s"] + stage["duration_s"]
    of_users = stage["users_planned"] is not None
    names = ("users_planned", "users") if of_users else ("rate_planned_per_s", "rate_sent_per_s")
    planned, reached = (f"{stage[name]:,.4g}" for name in names)
    unit = "users" if of_users else "calls/s sent"
    _show_part(
        f"stage {number}, {format_seconds(stage['start_s'])} to {format_seconds(end_s)}",
        [f"{reached} of {planned} {unit}"],
        stage,
    )


def _show_bursts(bursts: list[Json]) -> None:
    from statistics import median  # a slow import that few results need

    sent = sum(burst["sent"] for burst in bursts)
    planned = sum(burst["calls_planned"] or 0.0 for burst in bursts)
    took = [burst["sent_after_s"] for burst in bursts if burst["sent_after_s"] is not None]
    words = f"{format_count(len(bursts), 'burst')}: {sent:,} of {planned:,.0f} calls sent"
    if took:
        within = f"{format_seconds(median(took))} (median), {format_seconds(max(took))} (longest)"
        words += f", each within {within}"
    failed = sum(burst["errors"] for burst in bursts)
    _say(f"  {words}, {failed:,} failed")


def _show_slowest(slowest: SlowestCalls) -> None:
    from wirelab.report.sections import slow_calls

    _say(f"  {slow_calls.title(slowest)}")
    for row in slow_calls.rows(slowest):
        _say(f"    {row}")
    for words in slow_calls.sentences(slowest):
        _say(f"  {words}")
    if slowest.list:
        _say(f"  {slow_calls.NO_PACKETS}", "dim")


def _show_client(result: Json) -> None:
    per_call = result["client_cpu_us_per_call"]
    resumed = result["connections_resumed"]
    handshakes = f", {resumed:,} of them by resuming a TLS session" if resumed else ""
    cpu = "" if per_call is None else f", {format_seconds(per_call / 1e6)} per call"
    _say(
        f"  client: {format_seconds(result['client_cpu_s'])} CPU{cpu}, "
        f"{format_bytes(result['client_rss_max_bytes'] // 100_000 * 100_000)} memory, "
        f"{format_count(result['connections_opened'], 'connection')} opened{handshakes}"
    )
    for extension, count in result["websocket_extensions"].items():
        if extension != "none":
            _say(f"  {format_count(count, 'connection')} with {sanitize(extension)}")
    if tables := result["client_file_tables"]:
        _say(f"  {FileTables(**tables)}")
    spin_s = result["client_spin_s"]
    # A share below 1 % is not worth a line.
    if spin_s > 0.01 * result["client_cpu_s"]:
        _say(f"  including {format_seconds(spin_s)} of busy-polling, not part of the CPU per call")
    for client in result["clients"]:
        _show_one_of_several(client)


def _show_one_of_several(client: Json) -> None:
    failed = f", {client['errors']:,} failed" if client["errors"] else ""
    times = [
        f"{name} {format_seconds(client[f'{name}_ms'] / 1e3)}"
        for name in ("p50", "p99")
        if client[f"{name}_ms"] is not None
    ]
    _say(
        f"  {client['client']} on {sanitize(client['node'])}: "
        f"{format_count(client['calls'], 'call')}"
        f"{failed}, {digits(client['rate_per_s'])} good/s{', ' if times else ''}{', '.join(times)}"
    )


def write_report(made: MeasuredDrive, file: Path) -> None:
    """Writes the HTML page. Raises :class:`UsageError`."""
    from wirelab.report.drive_page import drive_page
    from wirelab.run.directory import write_whole

    sentences = list(map(sentence, made.judged))
    page = drive_page(made.target, made.result, made.outcome.groups[0], sentences)
    try:
        write_whole(file, page)
    except OSError as error:
        raise UsageError(f"--report {file} cannot be written: {error.strerror}") from error


@contextmanager
def show_progress(*, tui: bool) -> Iterator[OnProgress]:
    """The live display; does nothing if standard error is not a terminal."""
    if not tui and not err.is_terminal:
        yield None
        return
    with LiveChart(err) if tui else LiveLine(err) as live:
        yield live.show


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
            self._live.update(self._draw(), refresh=True)

    def _draw(self) -> RenderableType:
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
