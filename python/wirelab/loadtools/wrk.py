"""wrk (4.x): keeps connections unless a header closes them. A latency starts with the writing of
the request, so it excludes connecting. A script may send several requests at a time, close
connections, and wait."""

from __future__ import annotations

import re

from wirelab.loadtools.parsing import Options, closes, find_first, number, seconds, times, whole
from wirelab.loadtools.tool_report import OPTION_CHECKS, ToolOptions, ToolReport

SHORT = "t:c:d:s:H:T:R:LUvh"
LONG = (
    *("threads=", "connections=", "duration=", "script=", "header=", "timeout=", "rate="),
    *("latency", "u_latency", "version", "help"),
)

CORRECTION = (
    "wrk corrects its latencies for coordinated omission: for each reply that took longer than "
    "the mean interval between requests of a connection, it adds the latencies that requests sent "
    "meanwhile would have had"
)
"""``stats_correct`` in its source; wrk2 measures from the time at which a request was due."""


class Wrk:
    """wrk, and wrk2, which supports a rate."""

    name = "wrk"

    def read_options(self, words: list[str], output: str) -> ToolOptions:
        """``-c`` connections, divided evenly among the threads."""
        options = Options.posix(words, SHORT, LONG)
        threads = options.count("-t", "--threads", default=2)
        connections = options.count("-c", "--connections", default=10)
        is_scripted = options.has("-s", "--script")
        kept = connections // threads * threads if connections and threads else None
        names = ("-t", "--threads", "-c", "--connections", "-d", "--duration", "-R", "--rate")
        return ToolOptions(
            connections=None if is_scripted else kept,
            users=None if is_scripted else kept,
            in_flight=None if is_scripted else 1,
            reuse=None if is_scripted else not closes(options.all("-H", "--header")),
            rate=options.number("-R", "--rate"),
            options=options.format_options(*names),
            unread=options.unread(dict.fromkeys(("-s", "--script"), OPTION_CHECKS)),
        )

    def read_report(self, output: str) -> ToolReport | None:
        """Parses its summary; percentiles with ``--latency``."""
        requests = whole(r"^\s*(\d+) requests in ", output)
        if requests is None:
            return None
        row = re.search(r"^\s+Latency\s+(\S+)\s+\S+\s+(\S+)", output, re.M)
        shares = {f"p{n}": _time(rf"^\s+{n}(?:\.0+)?%\s+(\S+)", output) for n in (50, 90, 99)}
        broken = re.search(
            r"Socket errors: connect (\d+), read (\d+), write (\d+), timeout (\d+)", output
        )
        connect, read, write, late = map(int, broken.groups()) if broken else (0, 0, 0, 0)
        unanswered = connect + read + write
        refused = whole(r"Non-2xx or 3xx responses:\s+(\d+)", output) or 0
        return ToolReport(
            requests=requests,
            unanswered=unanswered,
            # A reply after the timeout is included in the requests.
            failed=unanswered + late + refused,
            rate_per_s=number(r"^Requests/sec:\s+([\d.]+)", output),
            seconds=_time(r"requests in ([\d.]+\w+)", output),
            latency_s=times(
                {
                    "mean": seconds(row[1]) if row else None,
                    **shares,
                    "max": seconds(row[2]) if row else None,
                }
            ),
            percentile="next",  # `stats_percentile` in stats.c
            figure="latency",
            correction=CORRECTION,
        )


def _time(pattern: str, output: str) -> float | None:
    text = find_first(pattern, output)
    return None if text is None else seconds(text)
