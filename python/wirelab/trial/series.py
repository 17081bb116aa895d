"""Time series of a trial: the service's runtime metrics and call rates.

A trial stores them in ``series.parquet``: one row per value, with the columns ``time_s``, ``name``
and ``value``. ``time_s`` is in seconds since the window opened, so warm-up has negative times and
the repeats of a cell are aligned. The names are those of :data:`NAMES`.
"""

from __future__ import annotations

import io
from collections.abc import Mapping, Sequence
from itertools import pairwise
from math import isfinite
from pathlib import Path

from wirelab.documents.event import Progress, TimePoint
from wirelab.format.untrusted import TooLarge, read_bounded
from wirelab.process import runtime_metrics
from wirelab.process.metrics import Metrics, Sample, growth

NAME = "series.parquet"
RATES = ("rate_per_s", "errors_per_s")
"""Calls that ended, and calls that failed, per second, between two progress lines of the
caller."""
RESPONSE = ("response_p50_seconds", "response_p99_seconds")
"""Response time percentiles of the probe, at the middle of each part of the window with enough
calls (:class:`wirelab.documents.event.TimePoint`)."""
NAMES = (*runtime_metrics.NAMES, *RATES, *RESPONSE)
ZERO = b"wirelab.time_zero"
"""Key of the file's metadata: ``window``, or ``first sample`` if no window opened."""
BYTES_MAX = 64_000_000
ROWS_MAX = 2_000_000
"""Maximum number of values: 60 names every 100 ms for an hour."""
COLUMNS_MAX = 16
_STEP_S_MIN = 0.02
"""Minimum time between two progress lines for a rate, seconds."""

Points = list[tuple[float, float]]
"""Seconds since the window opened, and the value."""


class UnreadableSeries(ValueError):
    """The file does not contain the series of a trial."""


class Series:
    """Collects samples during a trial; times are nanoseconds of CLOCK_MONOTONIC."""

    def __init__(self) -> None:
        self._samples: dict[str, list[Sample]] = {}
        self._progress: tuple[Progress, int] | None = None
        self._start_ns: int | None = None

    def add(self, at_ns: int, values: Metrics) -> None:
        """Adds values of one moment, by name."""
        for name, value in values.items():
            self._samples.setdefault(name, []).append(Sample(at_ns, value))

    def progress(self, at_ns: int, progress: Progress) -> None:
        """Adds a progress line of the caller. A third-party tool counts no calls until it ends."""
        if progress.phase == "measure" and self._start_ns is None:
            self._start_ns = at_ns - round(progress.elapsed_s * 1e9)
        calls, errors, elapsed_s = progress.calls, progress.errors, progress.elapsed_s
        if self._progress is not None and self._progress[0].phase == progress.phase:
            before = self._progress[0]
            calls, errors = calls - before.calls, errors - before.errors
            elapsed_s -= before.elapsed_s
        if elapsed_s < _STEP_S_MIN:
            return
        self._progress = progress, at_ns
        if progress.calls:
            self.add(at_ns, {"rate_per_s": calls / elapsed_s, "errors_per_s": errors / elapsed_s})

    def response(self, over_time: Mapping[str, Sequence[TimePoint]]) -> None:
        """Adds percentiles of the probe's response time over the window, which has opened."""
        start_ns = self._start_ns or 0
        for name in RESPONSE:
            for point in over_time.get(name.split("_")[1], ()):
                middle_s = point.start_s + point.duration_s / 2
                self.add(start_ns + round(middle_s * 1e9), {name: point.ns / 1e9})

    def open_window(self, start_ns: int) -> None:
        """Records that the window began at ``start_ns`` of the caller's clock."""
        self._start_ns = start_ns

    def summary(self, start_ns: int, end_ns: int) -> dict[str, dict[str, float]]:
        """By name ``mean`` (over time) and ``max`` within the window; for a counter ``growth``.
        Names without a sample in the window are left out."""
        shown: dict[str, dict[str, float]] = {}
        for name, samples in self._samples.items():
            if name in runtime_metrics.COUNTERS:
                grown = growth(samples, start_ns, end_ns)
                if grown is not None:
                    shown[name] = {"growth": grown}
            elif inside := _select_inside(samples, start_ns, end_ns):
                highest = max(sample.value for sample in inside)
                shown[name] = {"mean": _mean(inside), "max": highest}
        return shown

    def write(self, path: Path) -> None:
        """Writes the Parquet file. Raises :class:`OSError`."""
        import pyarrow as pa
        from pyarrow import parquet

        moments = [sample.at_ns for samples in self._samples.values() for sample in samples]
        zero_ns = min(moments, default=0) if self._start_ns is None else self._start_ns
        names = [name for name, samples in self._samples.items() for _ in samples]
        values = [sample.value for samples in self._samples.values() for sample in samples]
        table = pa.table(
            {
                "time_s": pa.array([(at_ns - zero_ns) / 1e9 for at_ns in moments], pa.float64()),
                "name": pa.array(names, pa.string()),
                "value": pa.array(values, pa.float64()),
            }
        ).replace_schema_metadata({ZERO: b"first sample" if self._start_ns is None else b"window"})
        # Written to memory first, so that a full disk is a file system error and not one of Arrow.
        whole = io.BytesIO()
        parquet.write_table(table, whole)
        path.write_bytes(whole.getvalue())


def read(path: Path) -> dict[str, Points]:
    """The series in a trial's file by name, each in the order of time; empty if there is no file,
    as in older runs. Raises :class:`UnreadableSeries`."""
    import pyarrow as pa
    from pyarrow import parquet

    if not path.exists():
        return {}
    try:
        file = parquet.ParquetFile(io.BytesIO(read_bounded(path, BYTES_MAX)))
        if file.metadata.num_rows > ROWS_MAX or file.metadata.num_columns > COLUMNS_MAX:
            raise TooLarge(f"it has more than {ROWS_MAX:,} rows or {COLUMNS_MAX} columns")
        columns = file.read().to_pydict()
        rows = zip(columns["time_s"], columns["name"], columns["value"], strict=True)
        found: dict[str, Points] = {}
        for time_s, name, value in rows:
            if not (isfinite(time_s) and isfinite(value)):
                raise ValueError(f"{name} has the value {value} at {time_s} s")
            found.setdefault(str(name), []).append((float(time_s), float(value)))
    except (pa.ArrowException, OSError, KeyError, TypeError, ValueError) as error:
        raise UnreadableSeries(f"{path}: {error}") from error
    return {name: sorted(points) for name, points in found.items()}


def rate_per_second(points: Sequence[tuple[float, float]]) -> Points:
    """Increase of a counter per second, at the middle between two samples."""
    return [
        ((before[0] + after[0]) / 2, (after[1] - before[1]) / (after[0] - before[0]))
        for before, after in pairwise(points)
        if after[0] > before[0]
    ]


def call_mean(series: Mapping[str, Points]) -> Points:
    """Mean seconds per call in the service's own code, between two samples."""
    spent, calls = series.get("call_seconds_total", []), series.get("calls_total", [])
    return [
        ((before[0] + after[0]) / 2, (after[1] - before[1]) / (last[1] - first[1]))
        for (before, after), (first, last) in zip(pairwise(spent), pairwise(calls), strict=False)
        if last[1] > first[1]
    ]


def levels(points: Sequence[tuple[float, float]]) -> Points:
    """Start and end of the part of the window of each percentile, from its middle: the first part
    begins with the window, each other where the previous one ends."""
    found: Points = []
    start_s = 0.0
    for middle_s, value in points:
        end_s = 2 * middle_s - start_s
        found += [(start_s, value), (end_s, value)]
        start_s = end_s
    return found


def _select_inside(samples: Sequence[Sample], start_ns: int, end_ns: int) -> list[Sample]:
    return [sample for sample in samples if start_ns <= sample.at_ns <= end_ns]


def _mean(samples: Sequence[Sample]) -> float:
    """Mean over time, linear between samples, which are closer together where a window begins."""
    span_ns = samples[-1].at_ns - samples[0].at_ns
    if span_ns == 0:
        return samples[-1].value
    area = sum(
        (before.value + after.value) / 2 * (after.at_ns - before.at_ns)
        for before, after in pairwise(samples)
    )
    return area / span_ns
