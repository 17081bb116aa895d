"""What a service uses of the processors while another one is called.

Samples of its CPU time do not lie at the edges of slices. A service that uses ``a`` CPU seconds per
second in its own slices and ``b`` in those of others uses ``a·own + b·other`` between two samples;
both are found by least squares.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

import numpy as np

from wirelab.process.metrics import Sample

Span = tuple[int, int]
"""Begin and end, nanoseconds of CLOCK_MONOTONIC."""


def estimate_idle_cpu(samples: Sequence[Sample], own: Sequence[Span], whole: Span) -> float | None:
    """CPU seconds per second within ``whole`` and outside of its ``own`` slices, at least 0; None
    if the samples do not distinguish them."""
    inside = [sample for sample in samples if whole[0] <= sample.at_ns <= whole[1]]
    rows, used = [], []
    for before, after in pairwise(inside):
        called_s = sum(_overlap_s(span, (before.at_ns, after.at_ns)) for span in own)
        rows.append((called_s, (after.at_ns - before.at_ns) / 1e9 - called_s))
        used.append(after.value - before.value)
    if len(rows) < 2:
        return None
    (_, idle), _, rank, _ = np.linalg.lstsq(np.array(rows), np.array(used), rcond=1e-6)
    return max(0.0, float(idle)) if rank == 2 else None


def _overlap_s(one: Span, other: Span) -> float:
    return max(0, min(one[1], other[1]) - max(one[0], other[0])) / 1e9
