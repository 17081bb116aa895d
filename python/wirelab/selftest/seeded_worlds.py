"""Seeded worlds: the same code must name different causes where different things are the cause."""

from __future__ import annotations

from wirelab.process.scratch import Scratch
from wirelab.selftest import worlds
from wirelab.selftest.bed import Bed, Truth


def seeded_worlds(_: Bed) -> Truth:
    """Three worlds (:mod:`wirelab.selftest.worlds`), each a run of its own."""
    with Scratch() as scratch:
        concluded = worlds.run(scratch.folder)
    return Truth(
        "seeded worlds",
        all(one.right for one in concluded),
        "; ".join(one.reason for one in concluded),
        {one.world.name: one.explanation.to_json() for one in concluded},
    )
