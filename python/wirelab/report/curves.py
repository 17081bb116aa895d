"""The percentiles of each trial's response times, from the histograms of the run."""

from __future__ import annotations

import base64
import zlib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from hdrh.histogram import HdrHistogram

from wirelab.format.untrusted import TooLarge, open_regular, read_bounded_lines
from wirelab.records.trial import Trial
from wirelab.stack.axes import ENGINE
from wirelab.statistics.sample import percentile_printable

PERCENTILES = (
    *(1.0, 5.0, 10.0, 20.0, 30.0, 40.0, 50.0, 60.0, 70.0, 80.0, 85.0, 90.0, 93.0, 95.0, 97.0),
    *(98.0, 99.0, 99.3, 99.5, 99.7, 99.8, 99.9, 99.95, 99.97, 99.99, 99.995, 99.999),
)

LINE_BYTES_MAX = 1_000_000
"""A histogram of three digits takes 40 kB."""
LOG_BYTES_MAX = 64_000_000
HISTOGRAM_BYTES_MAX = 16_000_000
"""Maximum size of a histogram after it is decompressed."""
_HEADER_BYTES = 8
"""Cookie and length of a compressed histogram."""

Curve = tuple[tuple[float, float], ...]
"""Pairs of percentile and time in nanoseconds."""


class UnreadableHistogram(ValueError):
    """A histogram log that cannot be read."""


def read_curve(log: Path, tag: str = "response") -> Curve | None:
    """The percentile curve of the first histogram tagged ``tag`` in an HdrHistogram log;
    None when the file or the tag is not there. Raises :class:`UnreadableHistogram`."""
    if not log.is_file():
        return None
    number = 0
    try:
        for number, line in log_lines(log):
            if line.startswith(f"Tag={tag},"):
                return decode_curve(line.rsplit(",", 1)[-1].strip(), f"{log}:{number}")
    except TooLarge as error:
        raise UnreadableHistogram(f"{log}:{number + 1}: {error}") from error
    return None


def log_lines(log: Path) -> Iterator[tuple[int, str]]:
    """The lines of a histogram log with their numbers from 1. Raises :class:`OSError`, and
    :class:`ValueError` for a pipe, or a line or a file beyond its limit. Bytes that are not UTF-8
    become U+FFFD."""
    left = LOG_BYTES_MAX
    with open_regular(log) as file:
        for number, line in enumerate(read_bounded_lines(file, LINE_BYTES_MAX), 1):
            left -= len(line)
            if left < 0:
                raise TooLarge(f"the file has more than {LOG_BYTES_MAX:,} bytes")
            yield number, line.decode(errors="replace").rstrip("\r\n")


def decode_curve(encoded: str, where: str) -> Curve:
    """The percentile curve of one histogram in its compressed form. Raises
    :class:`UnreadableHistogram`, which names ``where`` it is from."""
    try:
        _refuse_bomb(encoded)
        histogram = HdrHistogram.decode(encoded)
        count = int(histogram.get_total_count())
        shown = [p for p in PERCENTILES if percentile_printable(count, p)]
        values = _values(histogram, shown)
    except Exception as error:  # the decoder raises whatever the bytes provoke
        raise UnreadableHistogram(f"{where}: {error}") from error
    return tuple((p, value) for p, value in zip(shown, values, strict=True) if value > 0.0)


def _refuse_bomb(encoded: str) -> None:
    """Raises :class:`TooLarge` for a histogram that takes much more memory than its text."""
    compressed = base64.b64decode(encoded)[_HEADER_BYTES:]
    unpacked = zlib.decompressobj().decompress(compressed, HISTOGRAM_BYTES_MAX + 1)
    if len(unpacked) > HISTOGRAM_BYTES_MAX:
        raise TooLarge(f"a histogram has more than {HISTOGRAM_BYTES_MAX:,} bytes")


def _values(histogram: HdrHistogram, percentiles: Sequence[float]) -> list[float]:
    """As ``get_percentile_to_value_dict`` has them, which visits each of some thousand counts in
    Python."""
    counts = np.ctypeslib.as_array(histogram.counts)
    sums = np.cumsum(counts[: histogram.encoder.payload.counts_len])
    targets = [histogram.get_target_count_at_percentile(p) for p in percentiles]
    return [
        float(histogram.get_highest_equivalent_value(histogram.get_value_from_index(int(index))))
        for index in np.searchsorted(sums, targets)
    ]


@dataclass(frozen=True)
class TrialCurves:
    """Of a run, by the trials' ids."""

    found: Mapping[str, Curve]
    lost: Mapping[str, str]
    """What is not there or cannot be read."""

    @classmethod
    def read(cls, folder: Path, trials: Iterable[Trial]) -> TrialCurves:
        """Reads the histogram log of each trial in a run directory."""
        found: dict[str, Curve] = {}
        lost: dict[str, str] = {}
        for trial in trials:
            log = folder / "trials" / trial.id / "histograms.hlog"
            try:
                curve = read_curve(log)
            except UnreadableHistogram as error:
                lost[trial.id] = str(error)
                continue
            if curve:
                found[trial.id] = curve
            elif _has_times(trial):
                lost[trial.id] = f"{log}: no histogram of response times"
        return cls(found, lost)

    def of(self, trials: Iterable[Trial]) -> tuple[dict[str, Curve], list[str]]:
        """The curves of these trials, and what is lost of them."""
        ids = [trial.id for trial in trials]
        curves = {one: self.found[one] for one in ids if one in self.found}
        return curves, [self.lost[one] for one in ids if one in self.lost]


def _has_times(trial: Trial) -> bool:
    own = trial.point.axes.caller == ENGINE
    return own and bool(trial.time_ns("response", "mean"))
