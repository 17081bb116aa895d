"""ghz (0.1x): ``--connections`` HTTP/2 connections for the whole run, shared by ``-c`` workers;
a latency is the client library's, from the begin of a call to its end (see
:mod:`wirelab.loadtools.ghz`)."""

from __future__ import annotations

import re

from wirelab.wrap.tool_report import ToolOptions, ToolReport
from wirelab.wrap.tools.words import Options, number, seconds, times, whole

FLAGS = (
    *("--insecure", "--skipTLS", "--async", "--count-errors", "--enable-compression", "-e"),
    *("--disable-template-functions", "--disable-template-data", "--skipFirst", "-v", "-h"),
)


class Ghz:
    """ghz."""

    name = "ghz"

    def asked(self, words: list[str], output: str) -> ToolOptions:
        """Its defaults: 200 calls by 50 workers over one connection."""
        options = Options.loose(words, FLAGS)
        users = options.count("-c", "--concurrency") or 50
        connections = options.count("--connections") or 1
        rate = options.number("-r", "--rps")
        names = ("-c", "--concurrency", "--connections", "-n", "--total", "-z", "--duration")
        timed = options.given("-z", "--duration")
        calls = options.count("-n", "--total") or 200
        is_async = options.given("--async")
        return ToolOptions(
            connections=connections,
            users=None if is_async else users,
            in_flight=None if is_async else -(-users // connections),
            reuse=True,
            rate=rate or None,
            requests=None if timed else calls,
            options=options.written(*names, "-r", "--rps", "--async"),
        )

    def told(self, output: str) -> ToolReport | None:
        """Its summary, or its CSV of calls."""
        requests = whole(r"^\s+Count:\s+(\d+)", output)
        if requests is None:
            return _calls(output)
        good = whole(r"^\s+\[OK\]\s+(\d+) responses", output) or 0
        shares = {f"p{n}": _time(rf"^\s+{n} % in (.+)$", output) for n in (50, 90, 99)}
        return ToolReport(
            requests=requests,
            failed=requests - good,
            rate_per_s=number(r"^\s+Requests/sec:\s+([\d.]+)", output),
            seconds=_time(r"^\s+Total:\s+(.+)$", output),
            latency_s=times(
                {
                    "mean": _time(r"^\s+Average:\s+(.+)$", output),
                    **shares,
                    "max": _time(r"^\s+Slowest:\s+(.+)$", output),
                }
            ),
            figure="latency",
        )


def _calls(output: str) -> ToolReport | None:
    """``-O csv``: a line per call, with its milliseconds, its error and its status."""
    if not re.search(r"^duration \(ms\),status,error$", output, re.M):
        return None
    rows = re.findall(r"^([\d.]+),([^,\n]*),", output, re.M)
    took = sorted(float(ms) / 1e3 for ms, _ in rows)
    if not took:
        return None
    at = {f"p{n}": took[min(len(took) - 1, len(took) * n // 100)] for n in (50, 90, 99)}
    return ToolReport(
        requests=len(took),
        failed=sum(status != "OK" for _, status in rows),
        latency_s={"mean": sum(took) / len(took), **at, "max": took[-1]},
        figure="duration in its CSV",
    )


def _time(pattern: str, output: str) -> float | None:
    match = re.search(pattern, output, re.M)
    return seconds(match[1]) if match else None
