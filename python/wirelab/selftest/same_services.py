"""Resampled A/A: two identical services must not differ.

Real trials of one and the same service, on fresh processes, are dealt to two sides at
random; comparisons of resampled trials may find a difference by chance in 5 % of cases.
:func:`wirelab.statistics.resampled_aa` tells why 35 of 400 is the bound.
"""

from __future__ import annotations

import random

from wirelab.selftest.bed import Bed, Truth
from wirelab.statistics.comparison import resampled_aa

TRIALS_A_SIDE = 40
SIZE = 4
COMPARISONS = 400
DIFFERENT_MAX = 35


def same_services(bed: Bed, reference: str, seed: int = 1) -> Truth:
    """For one stack; the figure compared is the rate."""
    sides = ["a", "b"] * TRIALS_A_SIDE
    random.Random(seed).shuffle(sides)
    rates: dict[str, list[float]] = {"a": [], "b": []}
    for side in sides:
        observed = bed.observe(
            reference,
            {"kind": "closed", "users": 8, "think_s": 0.0},
            {"duration_s": 0.2},
            warmup_s=0.1,
        )
        rates[side].append(float(observed.group["rate_per_s"]))
    if not all(rates["a"] + rates["b"]):
        stalled = "a trial had no call that ended well: the machine is too busy for this test"
        return Truth(f"A/A, {reference}", False, stalled, {"rates_per_s": rates})
    different = resampled_aa(rates["a"], rates["b"], COMPARISONS, SIZE, seed)
    return Truth(
        f"A/A, {reference}",
        different <= DIFFERENT_MAX,
        f"{different} of {COMPARISONS} comparisons of equal services found a difference "
        f"(at most {DIFFERENT_MAX})",
        {"different": different, "comparisons": COMPARISONS, "rates_per_s": rates},
    )
