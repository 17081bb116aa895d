"""The histograms of a result: in a file of their own, in the HdrHistogram log format."""

from __future__ import annotations

import copy
from collections.abc import Iterator
from typing import Any

Json = dict[str, Any]


def _histograms(group: Json) -> Iterator[tuple[str, Json]]:
    """All times of a group by name: ``response``; ``Reserve.response`` where it calls several
    operations; ``sequence.response`` where it calls sequences, and next to ``response``
    ``response_good`` and ``response_failed`` where calls failed."""
    yield from group["times"].items()
    for operation in group.get("operations") or ():
        for name, times in operation["times"].items():
            yield f"{operation['operation']}.{name}", times
    sequences = group.get("sequences") or {}
    for name in ("response", "response_good"):
        if sequences.get(name):
            yield f"sequence.{name}", sequences[name]


def left_out(group: Json) -> Json:
    """A copy of the group for the journal; the histograms are in a file of their own."""
    copied: Json = copy.deepcopy(group)
    for _, times in _histograms(copied):
        times.pop("hdr", None)
    return copied


def log(group: Json) -> str:
    """The group's histograms in the HdrHistogram log format, version 1.3, one tagged line
    each; the maximum is in milliseconds, as the format has it."""
    start_s = group["window_start_ns"] / 1e9
    lines = [
        "#[Histogram log format version 1.3]",
        f"#[StartTime: {start_s:.3f} (seconds of CLOCK_MONOTONIC)]",
        '"StartTimestamp","Interval_Length","Interval_Max","Interval_Compressed_Histogram"',
    ]
    for name, times in _histograms(group):
        if times.get("hdr"):
            extent = f"{start_s:.3f},{group['window_s']:.3f},{times['max_ns'] / 1e6:.3f}"
            lines.append(f"Tag={name},{extent},{times['hdr']}")
    return "\n".join(lines) + "\n"
