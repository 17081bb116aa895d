"""Known answer: delays that the service really gave must be found again.

A closed load of one user has no queue, so response time = baseline + delay. The
median is compared with the median of the delays that the service itself measured
(``wirelab_delay_seconds``), above the median of the same service without delay,
within max(1 %, 20 us). The undelayed service is measured before and after, and the
mean of the two is the baseline, so that a slow drift cancels.
"""

from __future__ import annotations

from wirelab import metrics
from wirelab.selftest.bed import Bed, Json, Truth

DELAYS_US = (100, 1_000, 10_000)
TOLERANCE_SHARE = 0.01
TOLERANCE_NS = 20_000.0
WINDOW = {"duration_s": 1.0}
ONE_USER = {"kind": "closed", "users": 1, "think_s": 0.0}


def known_answer(bed: Bed, reference: str) -> Truth:
    """For one stack, all delays."""
    before = _median_ns(bed, reference, {})[0]
    delayed = {us: _median_ns(bed, reference, {"delay_us": us}) for us in DELAYS_US}
    after = _median_ns(bed, reference, {})[0]
    baseline = (before + after) / 2
    found = {us: _found(*medians, baseline) for us, medians in delayed.items()}
    off = [us for us, figures in found.items() if not figures["within"]]
    reason = ", ".join(
        f"{us} us: {figures['recovered_us']:.1f} for {figures['given_us']:.1f}"
        for us, figures in found.items()
    )
    return Truth(
        f"known answer, {reference}",
        not off,
        f"{reason} (within max(1 %, 20 us) above a baseline of {baseline / 1e3:.1f} us)",
        {"baseline_us": [before / 1e3, after / 1e3], "delays": found},
    )


def _median_ns(bed: Bed, reference: str, faults: Json) -> tuple[float, float]:
    """Median response time, and median of the delays as the service gave them."""
    observed = bed.observe(reference, ONE_USER, WINDOW, faults=faults, warmup_s=0.3)
    given_s = metrics.total(
        {
            name: value
            for name, value in observed.service["metrics"].items()
            if 'quantile="0.5"' in name
        },
        "wirelab_delay_seconds",
    )
    return float(observed.percentile_ns("response", "p50")), given_s * 1e9


def _found(median_ns: float, given_ns: float, baseline_ns: float) -> Json:
    recovered = median_ns - baseline_ns
    allowed = max(TOLERANCE_NS, TOLERANCE_SHARE * given_ns)
    return {
        "given_us": given_ns / 1e3,
        "recovered_us": recovered / 1e3,
        "within": given_ns > 0 and abs(recovered - given_ns) <= allowed,
    }
