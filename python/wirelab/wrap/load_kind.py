"""Decides the kind of load by packets (:mod:`wirelab.wrap.arrivals`) and options."""

from __future__ import annotations

from wirelab.documents.dissection import Load
from wirelab.loadtools.tool_report import ToolOptions
from wirelab.wrap.kind import Kind

REQUESTS_MIN = 20
"""Minimum number of requests for a classification."""


def find_kind(load: Load, options: ToolOptions | None) -> Kind:
    """``load`` is that of a dissection with a sample. The options are accepted if the packets do
    not contradict them."""
    concurrency = load.concurrency
    seen = _classify_by_packets(load)
    users = options.users if options and options.rate is None else None
    if seen.name == "closed" or users is None or concurrency is None:
        return seen
    if load.requests >= REQUESTS_MIN and concurrency.max <= users:
        return Kind(
            "closed", f"by its options; at most {concurrency.max} in flight, and {seen.reason}"
        )
    return seen


def _classify_by_packets(load: Load) -> Kind:
    if load.requests < REQUESTS_MIN:
        return Kind("undecided", f"fewer than {REQUESTS_MIN} requests")
    if load.sample is None:
        return Kind("undecided", "the times of its requests are not known")
    from wirelab.wrap import arrivals  # imports numpy, which a short command does not need

    return arrivals.classify_sample(load.sample)
