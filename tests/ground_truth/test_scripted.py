"""Scripted conversations: every wait is found, nothing is counted twice, nothing unexplained."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from bench.ground_truth.captures.places import LOOPBACK, WLAN
from bench.ground_truth.scripted.play import Total, places_of, play_at_place, table
from bench.ground_truth.scripted.proxied import PROXY
from bench.ground_truth.scripted.relayed import RELAY
from bench.ground_truth.scripted.scenarios import BY_NAME, SCENARIOS
from wirelab.process import engine_binary
from wirelab.process.interruption import Interruption

PLAYED = {
    LOOPBACK: list(SCENARIOS),
    PROXY: [BY_NAME[name] for name in ("clean-calls", "stall-in-reply", "think-tls")],
    RELAY: list(SCENARIOS),
    WLAN: [BY_NAME["looked-up"]],
}
COUNT = 4
"""Connections of each scenario; ``python -m bench.ground_truth.scripted`` has 60."""
WRONG = 2
"""Of a cause: on a busy machine a side is late although nothing made it wait."""


def test_every_wait_is_found_and_all_time_is_accounted_for(tmp_path: Path) -> None:
    if os.geteuid() != 0:
        pytest.skip("captures need root")
    engine_binary.find()
    total = Total()
    with Interruption() as interruption:
        for place, scenarios in PLAYED.items():
            play_at_place(place, scenarios, COUNT, tmp_path, total, interruption)
    print(*table(total), sep="\n")
    played = sum(place in places_of(one) for place, own in PLAYED.items() for one in own)
    assert total.captures == played
    assert total.sums_off == 0
    assert total.unattributed_ms <= 0.02 * total.elapsed_ms
    for cause, tally in total.tallies.items():
        if cause in {"long-path", "server-think-time"}:
            continue
        assert tally.right > 0, cause
        assert max(tally.missed, tally.false) <= WRONG, (cause, tally)
    thought = total.tallies["server-think-time"]
    assert thought.missed <= WRONG
    assert thought.right >= 2 * COUNT - WRONG
