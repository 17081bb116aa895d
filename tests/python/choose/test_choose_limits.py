"""Limits of an objective next to an answer, in worlds of known truth and live."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest

from tests.python.choose.test_choose_live import ORDER, QUESTION, needs_go, run
from wirelab.choose.candidates import Candidate
from wirelab.choose.limits import Limits, StackLimit, order_by_limit
from wirelab.comparisons.limit import LimitAnswer, Objective
from wirelab.comparisons.steady_limit import Windows, find_limit

OBJECTIVE = Objective.parse("p99<50ms")
WINDOWS = Windows(2.0, 2.0)
JSON = Candidate("rest", "json", "go", "http/1.1")
XML = Candidate("rest", "xml", "go", "http/1.1")
GRPC = Candidate("grpc", "protobuf", "go", "http/2")


def search_world(candidate: Candidate, true_limit: float) -> StackLimit:
    """The search in a world where the objective holds up to that rate; a closed load makes 1,000
    calls per second."""
    found = find_limit(lambda rate, _: rate < true_limit, 1_000.0, WINDOWS, 20)
    answer = LimitAnswer(found, 1_000.0, engine_bound=False, curve=(), folder=Path())
    return StackLimit(candidate, answer)


def test_the_highest_limit_is_named_first() -> None:
    every = [
        search_world(one, rate) for one, rate in {XML: 400.0, JSON: 700.0, GRPC: 550.0}.items()
    ]
    found = Limits(OBJECTIVE, order_by_limit(every))
    assert [one.candidate for one in found.stacks] == [JSON, GRPC, XML]
    named = found.sentence.removeprefix("Calls per second up to which p99<50ms holds: ")
    assert [part.split()[0] for part in named.split("; ")] == [
        one.reference for one in (JSON, GRPC, XML)
    ]
    stacks = found.to_json()["stacks"]
    assert isinstance(stacks, dict)
    for reference, true_limit in {"rest@go": 700.0, "rest@go?codec=xml": 400.0}.items():
        low, high = stacks[reference]["low_per_s"], stacks[reference]["high_per_s"]
        assert low <= true_limit <= high
        assert high / low < 1.2


@pytest.mark.parametrize(("true_limit", "sign"), [(1.0, "<"), (1e6, ">")])
def test_a_limit_outside_of_the_tested_rates_is_a_bound(true_limit: float, sign: str) -> None:
    found = search_world(JSON, true_limit)
    assert found.words.startswith(sign)
    assert found.to_json()["limit_per_s"] is None


def test_a_limit_of_the_engine_is_a_lower_bound() -> None:
    found = search_world(JSON, 700.0)
    assert found.found is not None
    bound = StackLimit(JSON, replace(found.found, engine_bound=True))
    assert bound.words.startswith("≥ ")
    assert not found.words.startswith("≥")


def test_a_stack_without_a_result_has_its_reason_and_comes_last() -> None:
    failed = StackLimit(JSON, None, "a trial failed: the service ended")
    found = Limits(OBJECTIVE, order_by_limit([failed, search_world(XML, 400.0)]))
    assert [one.candidate for one in found.stacks] == [XML, JSON]
    assert found.sentence.endswith("rest@go a trial failed: the service ended.")


def test_a_bad_objective_is_refused_before_anything_is_built(tmp_path: Path) -> None:
    for text in ("p99>50ms", "speed<1", ""):
        done = run(str(ORDER), "--limit", text, "--out", str(tmp_path / "out"))
        assert done.returncode == 2
        assert "--limit" in done.stderr
        assert not (tmp_path / "out").exists()


@needs_go
@pytest.mark.timeout(1000)
def test_limits_are_searched_after_the_answer(tmp_path: Path) -> None:
    """XML takes several times the CPU of JSON, so a queue builds up at a lower rate. A limit is
    below the rate of a closed load, which is the most that the service does."""
    folder = tmp_path / "out"
    options = ("--budget", "10s", "--json", "--out", str(folder))
    done = run(str(ORDER), *QUESTION, *options, "--limit", "p50<20ms", within_s=900.0)
    assert done.returncode in (0, 5), done.stderr
    found = json.loads(done.stdout)
    limits = found["limits"]["stacks"]
    assert set(limits) == {"rest@go", "rest@go?codec=xml"}
    for reference, one in limits.items():
        closed = found["stacks"][reference]["closed_rate_per_s"]["estimate"]
        assert 0.1 * closed < one["limit_per_s"] < 1.5 * closed, one
    assert limits["rest@go"]["limit_per_s"] > limits["rest@go?codec=xml"]["limit_per_s"]
    assert json.loads((folder / "choice.json").read_text())["limits"] == found["limits"]
    assert "Highest rate at which p50&lt;20ms holds" in (folder / "report.html").read_text()
    assert (folder / "limit.rest-xml.go.yaml").is_file()
