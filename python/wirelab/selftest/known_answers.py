"""Known answer: delays that the service adds must be measured correctly.

A closed load of one user has no queue, so response time = baseline + delay. The median is compared
with the median of the delays that the service itself measured (``wirelab_delay_seconds``), above
the median of the same service without delay, within max(1 %, 20 µs).

Baseline and delayed calls must differ only in the delay. However, a call after a pause is slower
for other reasons, and the baseline has no pauses. First, a sleeping core wakes up slowly: therefore
the engine spins while it waits, and the service while it delays. Second, other processes evict the
caches of a spinning core, which adds up to 300 µs to a call after 10 ms on a shared machine.
Therefore undelayed calls of another operation run in parallel to both, on the same path, at a rate
that takes a tenth of the service's time. Everything is measured in several rounds, of which the
quietest counts: other load on the machine only adds time, often for as long as a few rounds.
"""

from __future__ import annotations

import random

from wirelab.format.numbers import percent
from wirelab.process import metrics
from wirelab.selftest.testbed import Json, SelfTestResult, Testbed
from wirelab.statistics.comparison import resample_aa

DELAYS_US = (100, 1_000, 10_000)
ROUNDS = 20
DELAY_TOLERANCE_SHARE = 0.01
DELAY_TOLERANCE_NS = 20_000.0
WINDOW = {"duration_s": 0.5}
BACKGROUND_PER_S = 4_000.0
ONE_USER = {"kind": "closed", "users": 1, "think_s": 0.0}

Medians = tuple[float, float]
"""Median response time, and median of the delays that the service measured, in ns."""


def check_known_answer(testbed: Testbed, reference: str) -> SelfTestResult:
    """Test of one stack, with all delays."""
    rounds = [_round(testbed, reference) for _ in range(ROUNDS)]
    quietest = {us: min(medians[us] for medians in rounds) for us in (0, *DELAYS_US)}
    baseline, _ = quietest[0]
    found = {us: _recover_delay(*quietest[us], baseline) for us in DELAYS_US}
    reason = ", ".join(
        f"{us} µs: measured {figures['recovered_us']:.1f}, added {figures['given_us']:.1f}"
        for us, figures in found.items()
    )
    return SelfTestResult(
        f"known answer, {reference}",
        all(figures["within"] for figures in found.values()),
        f"{reason} (within max(1 %, 20 µs) above a baseline of {baseline / 1e3:.1f} µs)",
        {"baseline_us": baseline / 1e3, "delays": found, "rounds_ns": rounds},
    )


def _round(testbed: Testbed, reference: str) -> dict[int, Medians]:
    faults: dict[int, Json] = {0: {}, **{us: _delay(us) for us in DELAYS_US}}
    return {us: _medians(testbed, reference, given) for us, given in faults.items()}


def _delay(us: int) -> Json:
    return {"delay_us": us, "delay_operation": "Hello"}


def _medians(testbed: Testbed, reference: str, faults: Json) -> Medians:
    observed = testbed.observe(
        reference,
        ONE_USER,
        WINDOW,
        faults=faults,
        warmup_s=0.2,
        spin=True,
        background_per_s=BACKGROUND_PER_S,
    )
    given_s = metrics.total(
        {
            name: value
            for name, value in observed.service.metrics.items()
            if 'quantile="0.5"' in name
        },
        "wirelab_delay_seconds",
    )
    return float(observed.percentile_ns("response", "p50")), given_s * 1e9


def _recover_delay(median_ns: float, given_ns: float, baseline_ns: float) -> Json:
    recovered = median_ns - baseline_ns
    allowed = max(DELAY_TOLERANCE_NS, DELAY_TOLERANCE_SHARE * given_ns)
    return {
        "given_us": given_ns / 1e3,
        "recovered_us": recovered / 1e3,
        "within": given_ns > 0 and abs(recovered - given_ns) <= allowed,
    }


FREEZE_RATE = 1000.0
FREEZE_IN_FLIGHT = 64
FREEZE_S = 1.0
DELAYED_S_MIN = 0.05
"""Threshold of a delayed call: far above everything except the freeze."""
FREEZE_WINDOW_S = 4.0
FREEZE_AT_CALL = 1000
FREEZE_TOLERANCE = 0.02


def freeze(testbed: Testbed, reference: str) -> SelfTestResult:
    """Test of one stack."""
    capacity = _capacity(testbed, reference)
    predicted = (
        FREEZE_RATE
        * (FREEZE_S - DELAYED_S_MIN)
        / (1.0 - FREEZE_RATE / capacity)
        / (FREEZE_RATE * FREEZE_WINDOW_S)
    )
    observed = testbed.observe(
        reference,
        {"kind": "constant", "rate": FREEZE_RATE, "in_flight_max": FREEZE_IN_FLIGHT},
        {"duration_s": FREEZE_WINDOW_S},
        faults={"freeze": {"at_call": FREEZE_AT_CALL, "ms": round(FREEZE_S * 1e3)}},
    )
    calls = observed.group.calls
    share = observed.count_above("response", DELAYED_S_MIN * 1e9) / calls
    inside = observed.count_above("service", DELAYED_S_MIN * 1e9)
    error = abs(share / predicted - 1.0)
    return SelfTestResult(
        f"freeze, {reference}",
        error <= FREEZE_TOLERANCE and inside <= FREEZE_IN_FLIGHT and observed.group.errors == 0,
        f"response time: {percent(share, 2)} of calls delayed, {percent(predicted, 2)} predicted "
        "(within 2 %); "
        f"service time: {inside} calls delayed, at most {FREEZE_IN_FLIGHT} were inside the service",
        {
            "delayed_share": share,
            "predicted_share": predicted,
            "service_time_delayed": inside,
            "capacity_per_s": capacity,
            "calls": calls,
            "errors": observed.group.errors,
        },
    )


def _capacity(testbed: Testbed, reference: str) -> float:
    """Calls per second if there is always work, as after the freeze."""
    load = {"kind": "closed", "users": FREEZE_IN_FLIGHT, "think_s": 0.0}
    observed = testbed.observe(reference, load, {"duration_s": 0.5}, warmup_s=0.2)
    return float(observed.group.rate_per_s)


WRONG_EVERY = 1000
WRONG_REPLY_CALLS = 10_000
KINDS = {
    "rest@rust": ("content", "length", "status"),
    "rest@rust?codec=text": ("content", "length", "status"),
    "grpc@rust": ("content", "length", "status", "trailers"),
}
"""Possible errors in a reply of each stack."""


def wrong_replies(testbed: Testbed, reference: str, what: str) -> SelfTestResult:
    """One kind of wrong reply. There is no warm-up, so the N-th call of the service is the N-th
    of the window."""
    observed = testbed.observe(
        reference,
        {"kind": "closed", "users": 8, "think_s": 0.0},
        {"calls": {"calls": WRONG_REPLY_CALLS, "max_s": 60.0}},
        faults={"wrong": {"every": WRONG_EVERY, "what": what}},
    )
    group = observed.group
    seen = observed.service.calls_seen or 0
    given = seen // WRONG_EVERY
    passed = group.errors == given > 0 and group.ok == group.calls - given
    return SelfTestResult(
        f"wrong {what}, {reference}",
        passed and group.calls == WRONG_REPLY_CALLS,
        f"{group.errors} of {group.calls:,} calls counted as failed "
        f"({_kinds(group.errors_by_kind)}); {given} replies were wrong",
        {"errors_by_kind": group.errors_by_kind, "wrong": given, "calls_seen": seen},
    )


def _kinds(by_kind: dict[str, int]) -> str:
    return ", ".join(f"{kind} {count}" for kind, count in by_kind.items() if count) or "none"


AA_TRIALS_A_SIDE = 40
AA_SIZE = 4
AA_COMPARISONS = 400
AA_DIFFERENT_MAX = 35


def same_services(testbed: Testbed, reference: str, seed: int = 1) -> SelfTestResult:
    """Test of one stack; compares the rate."""
    sides = ["a", "b"] * AA_TRIALS_A_SIDE
    random.Random(seed).shuffle(sides)
    rates: dict[str, list[float]] = {"a": [], "b": []}
    for side in sides:
        observed = testbed.observe(
            reference,
            {"kind": "closed", "users": 8, "think_s": 0.0},
            {"duration_s": 0.2},
            warmup_s=0.1,
        )
        rates[side].append(float(observed.group.rate_per_s))
    if not all(rates["a"] + rates["b"]):
        stalled = "a trial had no successful call: the machine is too busy for this test"
        return SelfTestResult(f"A/A, {reference}", False, stalled, {"rates_per_s": rates})
    different = resample_aa(rates["a"], rates["b"], AA_COMPARISONS, AA_SIZE, seed)
    return SelfTestResult(
        f"A/A, {reference}",
        different <= AA_DIFFERENT_MAX,
        f"{different} of {AA_COMPARISONS} comparisons of equal services found a difference "
        f"(at most {AA_DIFFERENT_MAX})",
        {"different": different, "comparisons": AA_COMPARISONS, "rates_per_s": rates},
    )
