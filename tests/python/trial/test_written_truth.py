"""Written captures of known truth, a few of each kind and cause; the bench has 150 of each."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import pytest

from bench.ground_truth.written import __main__ as written
from bench.ground_truth.written.conversation import Conversation
from bench.ground_truth.written.judge import judge
from bench.ground_truth.written.kinds import think
from bench.ground_truth.written.scenario import Scenario

CAPTURES = 2


@pytest.mark.parametrize("scenario", written.SCENARIOS, ids=lambda scenario: scenario.name)
def test_a_written_capture_is_read_right(scenario: Scenario, tmp_path: Path) -> None:
    total = written.Total()
    differences = written.examine(scenario, CAPTURES, tmp_path, total)
    assert total.captures == CAPTURES
    assert total.words == []
    assert differences == []


def test_every_kind_has_captures_and_counterparts() -> None:
    numbers = Counter((one.kind.split()[0], one.is_plain) for one in written.SCENARIOS if one.kind)
    expected = {(f"K{number}", plain): 1 for number in range(1, 25) for plain in (False, True)}
    assert numbers == expected


def test_captures_of_one_scenario_differ_and_repeat_by_their_seeds() -> None:
    def file(seed: str) -> bytes:
        capture = Conversation(seed)
        think(capture)
        return capture.file()

    assert file("one") == file("one")
    assert file("one") != file("two")


def _document(parts: dict[str, float], **findings: float) -> dict[str, object]:
    listed = [{"cause": cause.replace("_", "-"), "ms_total": ms} for cause, ms in findings.items()]
    waits = {"connections": {"parts_ms": parts}, "lookups_ms": 0.0}
    return {"waits": waits, "findings": listed}


def _judge_world(parts: dict[str, float], **findings: float) -> tuple[bool, tuple[str, ...]]:
    """A world in which the server has 80 of 100 ms."""
    truth = Conversation("a world")
    truth.parts.update({"server": 80_000, "path": 20_000})
    scenario = Scenario("a world", think, ("server-think-time",))
    verdict = judge(scenario, truth, _document(parts, **findings))
    return verdict.is_named, verdict.untrue


def test_the_judge_can_tell_right_from_wrong() -> None:
    parts = {"server": 78.0, "path": 22.0}
    assert _judge_world(parts, server_think_time=78.0) == (True, ())
    assert _judge_world(parts, server_think_time=78.0, tail_loss=4.0) == (True, ())
    assert _judge_world(parts, server_think_time=78.0, tail_loss=6.0) == (True, ("tail-loss",))
    assert _judge_world(parts) == (False, ())
    far_off = {"server": 74.0, "path": 26.0}
    assert _judge_world(far_off, server_think_time=74.0) == (False, ())
    assert _judge_world({"server": 20.0, "path": 80.0}, server_think_time=78.0) == (False, ())
