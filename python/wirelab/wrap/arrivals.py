"""Classifies the load in the packets: closed, constant, Poisson or bursts.

A closed load sends a request after a reply, so most of its users have a request in flight most of
the time, and gaps follow latencies. An open load follows a clock: the coefficient of variation of
its gaps distinguishes a constant rate (0) from a Poisson process (1) and from bursts (more).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from wirelab.documents.dissection import Concurrency, Gaps, Load
from wirelab.loadtools.tool_report import ToolOptions

REQUESTS_MIN = 20
"""Minimum number of requests for a classification."""
FULL = 0.5
"""Ratio of mean to maximum concurrency from which users count as busy."""
COUPLED = 0.2
"""Correlation of latency and gap from which a client may be waiting for replies."""
COUPLED_SURELY = 0.6
CONSTANT_MAX = 0.3
POISSON = (0.8, 1.3)

Name = Literal["closed", "constant", "poisson", "bursts", "untold"]


@dataclass(frozen=True)
class Kind:
    """The kind of load, and the evidence for it."""

    name: Name
    reason: str


def kind(load: Load, options: ToolOptions | None) -> Kind:
    """``load`` is that of a dissection. The options are accepted if the packets do not contradict
    them."""
    concurrency, gaps = load.concurrency, load.gap_us
    if load.requests < REQUESTS_MIN or concurrency is None or gaps is None:
        return Kind("untold", f"fewer than {REQUESTS_MIN} requests")
    coupling = load.coupling.correlation if load.coupling else None
    seen = _by_packets(concurrency, gaps, coupling)
    users = options.users if options and options.rate is None else None
    if seen.name != "closed" and users is not None and concurrency.max <= users:
        return Kind(
            "closed",
            f"by its options; at most {concurrency.max} in flight, "
            f"and gaps vary by {gaps.variation:.2f} of their mean",
        )
    return seen


def _by_packets(concurrency: Concurrency, apart: Gaps, coupling: float | None) -> Kind:
    variation = apart.variation
    full = concurrency.mean / concurrency.max
    follows = "" if coupling is None else f", gaps follow latencies by {coupling:.2f}"
    gaps = f"gaps vary by {variation:.2f} of their mean"
    waits = coupling is None or coupling >= COUPLED
    if (full >= FULL and waits) or (coupling or 0.0) >= COUPLED_SURELY:
        return Kind(
            "closed",
            f"{concurrency.mean:.1f} in flight on average, {concurrency.max} at most" + follows,
        )
    if variation <= CONSTANT_MAX:
        return Kind("constant", gaps + follows)
    if POISSON[0] <= variation <= POISSON[1]:
        return Kind("poisson", f"{gaps}, like those of independent calls{follows}")
    if variation > POISSON[1]:
        return Kind("bursts", gaps + follows)
    return Kind("untold", gaps + follows)
