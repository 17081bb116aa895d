"""Known answer: delays that the service really gave must be found again.

A closed load of one user has no queue, so response time = baseline + delay. The
median is compared with the median of the delays that the service itself measured
(``wirelab_delay_seconds``), above the median of the same service without delay,
within max(1 %, 20 µs).

Baseline and delayed calls must differ by the delay alone, but a call after a pause is
slower of itself, and the baseline has no pauses. A core that slept wakes up slowly: so
the engine spins while it waits, and the service while it delays. A core that spun finds
its caches taken by others, which adds up to 300 µs to a call after 10 ms on a shared
machine: so undelayed calls of another operation go on beside both, by the same path, at
a rate that takes a tenth of the service's time. Everything is measured in
several rounds, and of each the quietest one counts: whatever else runs on the machine
only ever adds time, often for as long as a few rounds take.
"""

from __future__ import annotations

from wirelab.process import metrics
from wirelab.selftest.bed import Bed, Json, Truth

DELAYS_US = (100, 1_000, 10_000)
ROUNDS = 20
TOLERANCE_SHARE = 0.01
TOLERANCE_NS = 20_000.0
WINDOW = {"duration_s": 0.5}
BESIDE_PER_S = 4_000.0
ONE_USER = {"kind": "closed", "users": 1, "think_s": 0.0}

Medians = tuple[float, float]
"""Median response time, and median of the delays as the service gave them, ns."""


def known_answer(bed: Bed, reference: str) -> Truth:
    """For one stack, all delays."""
    rounds = [_round(bed, reference) for _ in range(ROUNDS)]
    quietest = {us: min(medians[us] for medians in rounds) for us in (0, *DELAYS_US)}
    baseline, _ = quietest[0]
    found = {us: _found(*quietest[us], baseline) for us in DELAYS_US}
    reason = ", ".join(
        f"{us} µs: {figures['recovered_us']:.1f} for {figures['given_us']:.1f}"
        for us, figures in found.items()
    )
    return Truth(
        f"known answer, {reference}",
        all(figures["within"] for figures in found.values()),
        f"{reason} (within max(1 %, 20 µs) above a baseline of {baseline / 1e3:.1f} µs)",
        {"baseline_us": baseline / 1e3, "delays": found, "rounds_ns": rounds},
    )


def _round(bed: Bed, reference: str) -> dict[int, Medians]:
    faults: dict[int, Json] = {0: {}, **{us: _delay(us) for us in DELAYS_US}}
    return {us: _medians(bed, reference, given) for us, given in faults.items()}


def _delay(us: int) -> Json:
    return {"delay_us": us, "delay_operation": "Hello"}


def _medians(bed: Bed, reference: str, faults: Json) -> Medians:
    observed = bed.observe(
        reference,
        ONE_USER,
        WINDOW,
        faults=faults,
        warmup_s=0.2,
        spin=True,
        beside=BESIDE_PER_S,
    )
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
