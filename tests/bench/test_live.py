"""A live dissection is compared with a capture of the same load."""

from __future__ import annotations

import os

import pytest

from bench.bounds import Ratio
from bench.process import NotHere
from bench.rows import live
from bench.servers import ENGINE


@pytest.mark.skipif(os.geteuid() != 0, reason="captures need root")
@pytest.mark.skipif(not ENGINE.exists(), reason="make setup builds the engine")
def test_both_see_the_packets_of_the_load() -> None:
    followed = live.run(1, 0.2)
    (rnd,) = followed.rounds
    assert list(rnd) == [live.CAPTURED, live.LIVE]
    assert all(one.packets + one.drops > 2 * live.LOAD.connections for one in rnd.values())
    (figure,) = followed.figures
    assert isinstance(figure, Ratio)
    assert figure.at_least == live.RATE_MIN
    assert figure.median > 0


def test_without_root_the_row_is_left_out(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "geteuid", lambda: 1000)
    with pytest.raises(NotHere, match="root"):
        live.run(1, 0.2)
