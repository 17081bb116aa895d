"""Names, patterns and ways between the stacks of `choose`."""

from __future__ import annotations

import pytest

from wirelab.choose import plan
from wirelab.choose.candidates import Candidate, candidates, find_candidate, path, select
from wirelab.errors import UsageError

SERVED: tuple[tuple[str, str], ...] = (
    ("rest", "json"),
    ("rest", "protobuf"),
    ("rest", "cbor"),
    ("rest", "xml"),
)
SERVED += (("soap", "soap-literal"), ("grpc", "protobuf"))
EVERY = tuple(candidates(["go", "java"], SERVED))


FIRST_THREE = ("grpc@go", "soap@java", "rest@go")


def find(reference: str) -> Candidate:
    return find_candidate(reference, EVERY)


def test_a_reference_names_only_what_is_unusual() -> None:
    assert [one.reference for one in EVERY[:6]] == [
        "rest@go",
        "rest@go?codec=protobuf",
        "rest@go?codec=cbor",
        "rest@go?codec=xml",
        "soap@go",
        "grpc@go",
    ]
    assert find("rest@go").compress_with("gzip").reference == "rest@go?compression=gzip"


def test_names_in_experiment_files_are_legal_and_different() -> None:
    every = [*EVERY, *(one.compress_with("gzip") for one in EVERY)]
    every += [*candidates(["go"], SERVED, http2=True)]
    names = {one.name for one in every}
    assert len(names) == len(set(every))
    assert "rest-json-h2.go" in names
    assert all("@" not in name and len(name) <= 64 for name in names)


@pytest.mark.parametrize(
    ("pattern", "count"),
    [
        ("rest*", 8),
        ("grpc", 2),
        ("*@go", 6),
        ("rest@go?codec=cbor", 1),
        ("rest@go", 1),
        ("rest@go?codec=*", 4),
    ],
)
def test_patterns_select(pattern: str, count: int) -> None:
    assert len(select(EVERY, [pattern])) == count


def test_a_pattern_without_a_stack_is_refused_with_those_that_exist() -> None:
    with pytest.raises(UsageError, match="thrift: no such stack"):
        select(EVERY, ["thrift"])


@pytest.mark.parametrize(
    ("start", "goal", "stops"),
    [
        (
            "rest@go",
            "grpc@java",
            ["rest@go", "rest@go?codec=protobuf", "grpc@go", "grpc@java"],
        ),
        ("soap@java", "rest@java", ["soap@java", "rest@java?codec=xml", "rest@java"]),
        ("grpc@go", "grpc@go", ["grpc@go"]),
    ],
)
def test_a_way_changes_one_thing_a_step(start: str, goal: str, stops: list[str]) -> None:
    assert [one.reference for one in path(find(start), find(goal))] == stops


def test_finalists_are_the_best_and_one_of_each_language() -> None:
    ranked = [find(name) for name in ("grpc@go", "rest@go", "soap@go", "soap@java", "rest@java")]
    assert plan.finalists(ranked, [], ["none"], 3) == tuple(map(find, FIRST_THREE))
    found = plan.finalists(ranked, [find("rest@go?codec=xml")], ["none", "gzip"], 2)
    assert [one.reference for one in found] == [
        "grpc@go",
        "grpc@go?compression=gzip",
        "soap@java",
        "soap@java?compression=gzip",
        "rest@go?codec=xml",
    ]


@pytest.mark.parametrize(("rate", "window_s"), [(20.0, 8.0), (200.0, 5.5), (5_000.0, 2.0)])
def test_the_window_at_a_rate_is_long_enough_for_a_p99(rate: float, window_s: float) -> None:
    assert plan.plan_at_rate(rate).window_s == window_s
