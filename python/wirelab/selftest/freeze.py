"""Freeze: a service that stops for 1 s must show in response times, as the schedule says.

At R calls per second, evenly spaced, let the service freeze for F seconds, and let it
answer C calls per second when it has work. The call due at time u after the freeze
began is answered no earlier than the end of the freeze plus the time for the calls due
before it, so its response time is ``F - u + u R / C``. That is at least a limit L as
long as ``u <= (F - L) / (1 - R / C)``; the number of such calls is ``R`` times that.

Service time cannot show it: only calls already sent when the freeze began waited
inside, and they are at most ``in_flight_max``.
"""

from __future__ import annotations

from wirelab.selftest.bed import Bed, Truth

RATE = 1000.0
IN_FLIGHT = 64
FREEZE_S = 1.0
LIMIT_S = 0.05
"""A delayed call: far above anything but the freeze."""
WINDOW_S = 4.0
AT_CALL = 1000
TOLERANCE = 0.02


def freeze(bed: Bed, reference: str) -> Truth:
    """For one stack."""
    capacity = _capacity(bed, reference)
    predicted = RATE * (FREEZE_S - LIMIT_S) / (1.0 - RATE / capacity) / (RATE * WINDOW_S)
    observed = bed.observe(
        reference,
        {"kind": "constant", "rate": RATE, "in_flight_max": IN_FLIGHT},
        {"duration_s": WINDOW_S},
        faults={"freeze": {"at_call": AT_CALL, "ms": round(FREEZE_S * 1e3)}},
    )
    calls = observed.group["calls"]
    share = observed.count_above("response", LIMIT_S * 1e9) / calls
    inside = observed.count_above("service", LIMIT_S * 1e9)
    error = abs(share / predicted - 1.0)
    return Truth(
        f"freeze, {reference}",
        error <= TOLERANCE and inside <= IN_FLIGHT and observed.group["errors"] == 0,
        f"response time: {share:.2%} of calls delayed, {predicted:.2%} predicted (within 2 %); "
        f"service time: {inside} calls, at most {IN_FLIGHT} were inside",
        {
            "delayed_share": share,
            "predicted_share": predicted,
            "service_time_delayed": inside,
            "capacity_per_s": capacity,
            "calls": calls,
            "errors": observed.group["errors"],
        },
    )


def _capacity(bed: Bed, reference: str) -> float:
    """Calls per second when there is always work, as after the freeze."""
    load = {"kind": "closed", "users": IN_FLIGHT, "think_s": 0.0}
    observed = bed.observe(reference, load, {"duration_s": 0.5}, warmup_s=0.2)
    return float(observed.group["rate_per_s"])
