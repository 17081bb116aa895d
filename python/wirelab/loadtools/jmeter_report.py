"""JMeter, wrapped: its summary, and the files that its command line names.

The summary (``Summariser.format`` in its source, the same since 2.13) has mean and maximum. With
``-e -o FOLDER`` JMeter writes ``FOLDER/statistics.json``, whose percentiles are of commons-math
(``EstimationType.LEGACY``, the rank p (n + 1)) and of the last 20,000 samples. With ``-l FILE`` it
writes the time of each sample (https://jmeter.apache.org/usermanual/listeners.html#csvlogformat);
its percentiles are those of the nearest rank. A file counts only if it has as many samples as the
summary: JMeter appends to one that is there.
"""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

from wirelab.format.untrusted import parse_json, read_bounded
from wirelab.loadtools.parsing import Options
from wirelab.loadtools.tool_report import SHARES, ToolOptions, ToolReport, nearest_rank

SHORT = "hvp:q:t:i:l:j:nsH:P:N:u:a:J:G:D:S:L:drR:egf:o:XA"
FILE_BYTES_MAX = 256 * 1024 * 1024
"""Of a file of samples; one takes some 150 B."""
STATISTICS_BYTES_MAX = 16 * 1024 * 1024
STATISTIC_WINDOW = 20_000
"""Samples of percentiles in statistics.json (``jmeter.reportgenerator.statistic_window``)."""
TOTAL = "Total"
"""All samples in statistics.json."""
_SUMMARY = re.compile(
    r"^summary =\s+(\d+) in\s+\S+ =\s+(?:([\d.,]+)|\*+)/s Avg:\s+(\d+) Min:\s+\d+ Max:\s+(\d+) "
    r"Err:\s+(\d+)",
    re.M,
)
"""Without a rate (``******``) if the samples took less than a millisecond."""
_KEYS = {
    "mean": "meanResTime",
    "p50": "medianResTime",
    "p90": "pct1ResTime",
    "p95": "pct2ResTime",
    "p99": "pct3ResTime",
    "max": "maxResTime",
}
"""Of statistics.json, by the default of its percentiles."""


class JMeter:
    """jmeter, wrapped: the load is defined in its test plan, which is not read."""

    name = "jmeter"

    def read_options(self, words: list[str], output: str) -> ToolOptions:
        """Contains only the names of the files."""
        options = Options.posix(words, SHORT)
        return ToolOptions(options=options.format_options("-n", "-t", "-l", "-J"))

    def read_report(self, output: str) -> ToolReport | None:
        """Parses the last of its summaries, which covers the whole run."""
        every = _SUMMARY.findall(output)
        if not every:
            return None
        requests, printed, mean_ms, max_ms, failed = every[-1]
        # A rate is written as the language of the system has it.
        rate = float(printed.replace(",", ".")) if printed else None
        return ToolReport(
            requests=int(requests),
            failed=int(failed),
            rate_per_s=rate,
            seconds=int(requests) / rate if rate else None,
            latency_s={"mean": int(mean_ms) / 1e3, "max": int(max_ms) / 1e3},
            resolution_s=1e-3,
            has_connect=True,
            figure="elapsed time in its summary",
        )

    def read_files(self, words: list[str], report: ToolReport) -> ToolReport:
        """The report with the percentiles of a file that the command line names. A file that
        cannot be read, or has other samples, adds nothing."""
        options = Options.posix(words, SHORT)
        folder, samples = options.text("-o"), options.text("-l")
        found = _read_statistics(Path(folder), report) if folder and options.has("-e") else None
        if found is None and samples:
            found = _read_samples(Path(samples), report)
        return found or report


def _read_statistics(folder: Path, report: ToolReport) -> ToolReport | None:
    try:
        content = parse_json(read_bounded(folder / "statistics.json", STATISTICS_BYTES_MAX))
    except (OSError, ValueError, RecursionError):
        return None
    total = content.get(TOTAL) if isinstance(content, dict) else None
    if not isinstance(total, Mapping) or total.get("sampleCount") != report.requests:
        return None
    is_whole = (report.requests or 0) <= STATISTIC_WINDOW
    names = _KEYS if is_whole else {"mean": _KEYS["mean"], "max": _KEYS["max"]}
    known = {name: total.get(key) for name, key in names.items()}
    latency_s = {
        name: float(ms) / 1e3 for name, ms in known.items() if isinstance(ms, (int, float))
    }
    return replace(
        report,
        latency_s={**report.latency_s, **latency_s},
        percentile="weibull",
        figure="elapsed time in its statistics.json",
    )


def _read_samples(file: Path, report: ToolReport) -> ToolReport | None:
    try:
        text = read_bounded(file, FILE_BYTES_MAX).decode()
        rows = csv.DictReader(io.StringIO(text, newline=""))
        # A row that was not written whole has no success.
        took_ms = sorted(int(row["elapsed"]) for row in rows if row["success"])
    except (OSError, ValueError, KeyError, TypeError, csv.Error):
        return None  # also of a file in XML
    count = len(took_ms)
    if count != report.requests or not count:
        return None
    latency_s = {
        name: took_ms[nearest_rank(share, count) - 1] / 1e3 for name, share in SHARES.items()
    }
    return replace(
        report,
        latency_s={
            "mean": sum(took_ms) / count / 1e3,
            **latency_s,
            "max": took_ms[-1] / 1e3,
        },
        percentile="nearest",
        figure=f"elapsed time in {file.name}",
    )
