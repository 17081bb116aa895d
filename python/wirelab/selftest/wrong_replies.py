"""A service that answers every 1,000th call wrongly is found out to the call."""

from __future__ import annotations

from wirelab.selftest.bed import Bed, Truth

EVERY = 1000
CALLS = 10_000
KINDS = {
    "rest@rust": ("content", "length", "status"),
    "rest@rust?codec=text": ("content", "length", "status"),
    "grpc@rust": ("content", "length", "status", "trailers"),
}
"""What can be wrong with a reply of each stack."""


def wrong_replies(bed: Bed, reference: str, what: str) -> Truth:
    """One kind of wrong reply; the calls are counted without a warm-up, so that the N-th
    call of the service is the N-th of the window."""
    observed = bed.observe(
        reference,
        {"kind": "closed", "users": 8, "think_s": 0.0},
        {"calls": {"calls": CALLS, "max_s": 60.0}},
        faults={"wrong": {"every": EVERY, "what": what}},
    )
    group = observed.group
    seen = observed.service["calls_seen"]
    given = seen // EVERY
    passed = group["errors"] == given > 0 and group["ok"] == group["calls"] - given
    return Truth(
        f"wrong {what}, {reference}",
        passed and group["calls"] == CALLS,
        f"{group['errors']} of {group['calls']:,} calls counted as failed "
        f"({_kinds(group['errors_by_kind'])}), {given} were wrong",
        {"errors_by_kind": group["errors_by_kind"], "wrong": given, "calls_seen": seen},
    )


def _kinds(by_kind: dict[str, int]) -> str:
    return ", ".join(f"{kind} {count}" for kind, count in by_kind.items() if count) or "none"
