"""h2load (nghttp2): ``-c`` connections for the whole run, ``-m`` streams on each. A request's time
starts with its submission, so it excludes connecting."""

from __future__ import annotations

import re

from wirelab.loadtools.parsing import Options, number, product, seconds, times
from wirelab.loadtools.tool_report import REPORT_CHECKS, ToolOptions, ToolReport

SHORT = "n:c:t:i:m:w:W:H:p:d:r:T:N:B:D:f:vh"
LONG = (
    *("requests=", "clients=", "threads=", "input-file=", "max-concurrent-streams=", "header="),
    *("max-frame-size=", "window-bits=", "connection-window-bits=", "ciphers=", "tls13-ciphers="),
    *("no-tls-proto=", "data=", "rate=", "rate-period=", "duration=", "warm-up-time="),
    *("connection-active-timeout=", "connection-inactivity-timeout=", "timing-script-file="),
    *("base-uri=", "npn-list=", "alpn-list=", "h1", "header-table-size=", "log-file=", "rps="),
    *("encoder-header-table-size=", "qlog-file-base=", "groups=", "no-udp-gso", "connect-to="),
    *("max-udp-payload-size=", "ktls", "verbose", "version", "help"),
)

EFFECTS = {
    **dict.fromkeys(("-r", "--rate", "--rate-period"), ("connections", "concurrency")),
    # Its report leaves out the requests of the warm-up, which the packets contain.
    "--warm-up-time": REPORT_CHECKS,
    "--timing-script-file": ("concurrency", "arrivals"),
    "--connection-active-timeout": ("connections", "concurrency"),
}
"""Options that are not modelled, and the checks that depend on each."""


class H2load:
    """h2load."""

    name = "h2load"

    def read_options(self, words: list[str], output: str) -> ToolOptions:
        """``--rps`` is per client; ``-r`` is a rate of new connections and not of requests."""
        options = Options.posix(words, SHORT, LONG)
        clients = options.count("-c", "--clients", default=1)
        streams = options.count("-m", "--max-concurrent-streams", default=1)
        gradual = options.has("-r", "--rate")
        rate = options.number("--rps")
        names = ("-n", "--requests", "-c", "--clients", "-m", "--max-concurrent-streams")
        return ToolOptions(
            connections=None if gradual else clients,
            users=None if gradual else product(clients, streams),
            in_flight=streams,
            reuse=True,
            rate=rate * clients if rate and clients else None,
            requests=options.count("-n", "--requests"),
            options=options.format_options(*names, "-D", "--duration", "--rps", "-r", "--h1"),
            unread=options.unread(EFFECTS),
        )

    def read_report(self, output: str) -> ToolReport | None:
        """Parses its summary."""
        requests = re.search(
            r"^requests: \d+ total, \d+ started, (\d+) done, (\d+) succeeded, (\d+) failed, ",
            output,
            re.M,
        )
        if requests is None:
            return None
        done, good, failed = map(int, requests.groups())
        row = re.search(r"^time for request:\s+(\S+)\s+(\S+)\s+(\S+)", output, re.M)
        status = re.search(r"^status codes: \d+ 2xx, \d+ 3xx, (\d+) 4xx, (\d+) 5xx", output, re.M)
        refused = sum(map(int, status.groups())) if status else 0
        finished = re.search(r"^finished in ([\d.]+\w+)", output, re.M)
        return ToolReport(
            requests=done,
            # A stream that was reset counts as errored and done; calls of a broken connection only
            # as errored.
            unanswered=max(0, good + failed - done),
            failed=max(failed, refused),
            rate_per_s=number(r"^finished in \S+, ([\d.]+) req/s", output),
            seconds=seconds(finished[1]) if finished else None,
            latency_s=times(
                {
                    "mean": seconds(row[3]) if row else None,
                    "max": seconds(row[2]) if row else None,
                }
            ),
            figure="time for request",
        )
