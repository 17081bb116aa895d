"""ApacheBench (ab.c, 2.3): uses a connection per request unless ``-k`` is given. Its times start
with connecting, and its percentiles are whole milliseconds."""

from __future__ import annotations

from wirelab.loadtools.parsing import Options, closes, number, times, whole
from wirelab.loadtools.tool_report import ToolOptions, ToolReport

SHORT = "n:c:t:s:b:T:p:u:v:lrkVhwiIx:y:z:C:H:P:A:g:X:dSq2B:m:Z:f:e:E:"


class ApacheBench:
    """ab."""

    name = "ab"

    def read_options(self, words: list[str], output: str) -> ToolOptions:
        """``-c`` users, each on its own connection."""
        options = Options.posix(words, SHORT)
        users = options.count("-c", default=1)
        keeps = options.has("-k") and not closes(options.all("-H"))
        named = options.format_options("-n", "-c", "-t", "-k")
        return ToolOptions(
            connections=users,
            users=users,
            in_flight=1,
            reuse=keeps,
            requests=None if options.has("-t") else options.count("-n"),
            options=named if keeps else (*named, "no -k"),
            unread=options.unread({}),
        )

    def read_report(self, output: str) -> ToolReport | None:
        """Parses its summary."""
        requests = whole(r"^Complete requests:\s+(\d+)", output)
        if requests is None:
            return None
        failed = whole(r"^Failed requests:\s+(\d+)", output) or 0
        refused = whole(r"^Non-2xx responses:\s+(\d+)", output) or 0
        shares = {f"p{n}": _ms(rf"^\s+{n}%\s+(\d+)", output) for n in (50, 90, 99)}
        return ToolReport(
            requests=requests,
            # A reply whose length differs from the first also counts as failed.
            failed=max(failed, refused),
            rate_per_s=number(r"^Requests per second:\s+([\d.]+)", output),
            seconds=number(r"^Time taken for tests:\s+([\d.]+)", output),
            latency_s=times({**shares, "max": _ms(r"^\s+100%\s+(\d+)", output)}),
            # `stats[(int) (done * percs[i] / 100)]` in ab.c
            percentile="next",
            resolution_s=1e-3,
            has_connect=True,
            figure="percentage of the requests served within a time",
        )


def _ms(pattern: str, output: str) -> float | None:
    ms = number(pattern, output)
    return None if ms is None else ms / 1e3
