"""k6 (0.x and 1.x, HTTP): each virtual user keeps its own connections unless ``noConnectionReuse``
is set. ``http_req_duration`` is the time for sending, waiting and receiving; it excludes
connecting."""

from __future__ import annotations

import re
from pathlib import Path

from wirelab.loadtools.parsing import Options, number, seconds, times, whole
from wirelab.loadtools.tool_report import OPTION_CHECKS, ToolOptions, ToolReport, Unread

FLAGS = (
    *("--no-connection-reuse", "--no-vu-connection-reuse", "--discard-response-bodies", "-q"),
    *("--quiet", "-v", "--verbose", "--no-color", "--no-summary", "--no-thresholds", "-w"),
    *(
        "--no-setup",
        "--no-teardown",
        "--insecure-skip-tls-verify",
        "-p",
        "--paused",
        "--http-debug",
    ),
)
SCRIPT_BYTES_MAX = 1_000_000


class K6:
    """k6."""

    name = "k6"

    def read_options(self, words: list[str], output: str) -> ToolOptions:
        """From its options, its script (literal values only) and the scenario that it
        prints."""
        options = Options.loose(words, FLAGS)
        script = _script(words)
        users = (
            whole(r"scenarios?, (\d+) max VUs", output)
            or options.count("-u", "--vus")
            or _only(r"\bvus\s*:\s*(\d+)", script)
        )
        written = options.format_options("-u", "--vus", "-i", "--iterations", "-d", "--duration")
        is_closing = False
        for flag, key in (
            ("--no-connection-reuse", "noConnectionReuse"),
            ("--no-vu-connection-reuse", "noVUConnectionReuse"),
        ):
            if options.text(flag) in ("", "true") or _literal(key, script) == "true":
                written = (*written, key)
                is_closing = is_closing or key == "noConnectionReuse"
        unread = _unread(options, output)
        is_rate_known = not any("arrivals" in part.checks for part in unread)
        rate = number(r"([\d.]+) iterations/s for ", output)
        return ToolOptions(
            connections=users,
            users=users,
            in_flight=1,
            reuse=not is_closing,
            rate=rate if is_rate_known else None,
            requests=whole(r": (\d+) iterations shared among", output) or _each(output),
            options=written,
            unread=unread,
        )

    def read_report(self, output: str) -> ToolReport | None:
        """Parses its summary at the end."""
        row = re.search(r"http_req_duration[.\s]*: (.+)$", output, re.M)
        requests = whole(r"http_reqs[.\s]*: (\d+)", output)
        if row is None or requests is None:
            return None
        at = {name: re.search(rf"{mark}=([\d.]+\S+)", row[1]) for name, mark in _MARKS.items()}
        return ToolReport(
            requests=requests,
            failed=_count_failed(output, requests),
            rate_per_s=number(r"http_reqs[.\s]*: \d+\s+([\d.]+)/s", output),
            latency_s=times({name: seconds(m[1]) if m else None for name, m in at.items()}),
            percentile="interpolated",  # `TrendSink.P` in metrics/sink.go
            figure="http_req_duration",
        )


def _unread(options: Options, output: str) -> tuple[Unread, ...]:
    """What neither its options nor the scenario that it prints determine."""
    found = list(options.unread({}))
    several = whole(r"(\d+) scenarios?, \d+ max VUs", output)
    if several is not None and several > 1:
        found.append(Unread(f"{several} scenarios", OPTION_CHECKS))
    if re.search(r"Up to [\d.]+ (iterations/s|looping VUs) for ", output):
        found.append(Unread("stages", ("concurrency", "arrivals", "connections")))
    calls = whole(r"^\s*http_reqs[.\s]*: (\d+)", output)
    iterations = whole(r"^\s*iterations[.\s]*: (\d+)", output)
    if calls and iterations and calls != iterations:
        found.append(Unread("a script with several requests per iteration", ("arrivals",)))
    return tuple(found)


_MARKS = {"mean": "avg", "p50": "med", "max": "max"} | {
    f"p{percent}": rf"p\({percent}\)" for percent in (90, 95, 99)
}


def _each(output: str) -> int | None:
    """``* default: 500 iterations for each of 10 VUs``."""
    match = re.search(r": (\d+) iterations for each of (\d+) VUs", output)
    return int(match[1]) * int(match[2]) if match else None


def _count_failed(output: str, requests: int) -> int | None:
    """``http_req_failed: 0.00% ✓ 0 ✗ 20``, where a tick marks failed requests, and since 1.0
    ``0.00% 0 out of 20``."""
    share = re.search(r"http_req_failed[.\s]*: ([\d.]+)%\s+(?:✓ )?(\d+)", output)
    return int(share[2]) if share else None


def _script(words: list[str]) -> str:
    """Text of the script; empty if it is not a readable file."""
    for word in words:
        if word.endswith((".js", ".ts", ".mjs")):
            try:
                return Path(word).read_bytes()[:SCRIPT_BYTES_MAX].decode("utf-8", "replace")
            except OSError:
                return ""
    return ""


def _only(pattern: str, script: str) -> int | None:
    """The number, if the script has exactly one."""
    numbers = re.findall(pattern, script)
    return int(numbers[0]) if len(numbers) == 1 else None


def _literal(key: str, script: str) -> str | None:
    match = re.search(rf"\b{key}\s*:\s*(true|false)\b", script)
    return match[1] if match else None
