"""Whether both services of a comparison spend most of a call in one and the same wait.

A wait that both have, such as a timer of TCP or the delay of a link, hides what differs: a service
that needs twice the CPU is then 1 % slower.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import exp, log
from statistics import fmean

from wirelab.explain.figures import require_figure
from wirelab.format.numbers import quantity
from wirelab.records.trial import Trial
from wirelab.statistics.figure import CLIENT_CPU, RESPONSE_P50, SERVICE_CPU

WAITING = 0.8
"""Share of the median response time that is not CPU time."""
APART = 0.1
"""Share by which two waits that are called the same may differ."""
IDLE = 0.5
"""Cores that caller and service keep busy at most: else calls wait for a core."""
DELAYED_ACK_NS = (39e6, 50e6)
"""Linux delays an acknowledgment by 40 ms at least (TCP_DELACK_MIN)."""


def sentence(pairs: Sequence[tuple[Trial, Trial]], names: tuple[str, str]) -> str:
    """Empty where both do not wait, or not alike."""
    found = [_wait_ns([pair[side] for pair in pairs]) for side in (0, 1)]
    if not pairs or found[0] is None or found[1] is None:
        return ""
    a, b = found[0], found[1]
    if max(a, b) > (1.0 + APART) * min(a, b):
        return ""
    first, second = (quantity(wait, "ns") for wait in (a, b))
    least, most = DELAYED_ACK_NS
    cause = ""
    if least <= min(a, b) and max(a, b) <= most:
        cause = (
            " 40 ms are the timer of a delayed acknowledgment, which Nagle's algorithm waits for; "
            "`capture: client` shows it."
        )
    return (
        f"Both spend most of a call in what looks like the same wait: {first} with {names[0]}, "
        f"{second} with {names[1]}; it hides what else differs.{cause}"
    )


def _wait_ns(trials: Sequence[Trial]) -> float | None:
    """The median response time without CPU time; None where most of it is CPU, where a core is
    busy, or where one of them is not known."""
    busy = [of(trial) for trial in trials for of in (_SERVICE_CORES, _CLIENT_CORES)]
    times = [RESPONSE_P50.of(trial) for trial in trials]
    costs = [(CLIENT_CPU.of(trial), SERVICE_CPU.of(trial)) for trial in trials]
    if not trials or any(one is None or one > IDLE for one in busy) or not all(times):
        return None
    whole = exp(fmean(log(one) for one in times if one))
    cpu = fmean(1e9 * ((client or 0.0) + (service or 0.0)) for client, service in costs)
    return whole - cpu if whole - cpu >= WAITING * whole else None


_SERVICE_CORES = require_figure("service_cores").of
_CLIENT_CORES = require_figure("client_cores").of
