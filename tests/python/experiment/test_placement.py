"""Which process on which cores."""

from __future__ import annotations

import os

import pytest

from wirelab.errors import UsageError
from wirelab.experiment import placement
from wirelab.experiment.model import Placement


@pytest.mark.parametrize(
    ("cores", "service", "engine", "front"),
    [((0,), (), (), ()), ((0, 1), (0,), (1,), ()), ((2, 3, 5, 7), (2,), (3,), (5, 7))],
)
def test_pinned_keeps_service_and_engine_apart(
    cores: tuple[int, ...],
    service: tuple[int, ...],
    engine: tuple[int, ...],
    front: tuple[int, ...],
) -> None:
    table = placement.choose("pinned", cores)
    assert (table.service, table.engine, table.front) == (service, engine, front)


def test_emulator_and_capture_are_on_spare_cores_which_are_recorded() -> None:
    spare = placement.choose("pinned", (0, 1, 2, 3))
    assert (spare.emulator, spare.capture) == ((2,), (3,))
    assert placement.choose("pinned", (0, 1, 2)).capture == (2,)
    none_spare = placement.choose("pinned", (0, 1))
    assert none_spare.to_json(emulator=True)["emulator"] == "unpinned"
    assert not {"emulator", "capture"} & set(none_spare.to_json())
    named = Placement(service=(0,), engine=(1,), emulator=(1,), capture=(0,))
    table = placement.choose(named, (0, 1)).to_json(emulator=True, capture=True)
    assert (table["emulator"], table["capture"]) == ([1], [0])
    assert placement.name(named) == "service 0, engine 1, emulator 1, capture 0"
    with pytest.raises(UsageError, match="core 5"):
        placement.choose(Placement(emulator=(5,)), (0, 1))


def test_unpinned_gives_the_service_as_many_processors_as_there_are() -> None:
    table = placement.choose("unpinned", (0, 1, 2))
    assert table.processors() == 3
    assert table.to_json()["service"] == "unpinned"


def test_cores_that_do_not_exist_are_refused() -> None:
    with pytest.raises(UsageError, match="core 9"):
        placement.choose(Placement(service=(9,)), (0, 1))


def test_the_front_returns_to_its_cores() -> None:
    before = os.sched_getaffinity(0)
    table = placement.Table("cores", (), (), (min(before),), tuple(sorted(before)))
    with placement.front_on(table):
        assert os.sched_getaffinity(0) == {min(before)}
    assert os.sched_getaffinity(0) == before


@pytest.mark.parametrize(
    ("table", "rationed", "wait"),
    [
        (placement.choose("pinned", (0, 1)), False, "adaptive"),
        (placement.choose("pinned", (0, 1)), True, "sleep"),
        (placement.choose("pinned", (0,)), False, "sleep"),
        (placement.choose("unpinned", (0, 1)), False, "sleep"),
        (placement.choose(Placement(service=(0, 1), engine=(1,)), (0, 1)), False, "sleep"),
        (placement.choose(Placement(service=(0,)), (0, 1)), False, "sleep"),
        (
            placement.choose(Placement(service=(0,), engine=(1,), capture=(1,)), (0, 1)),
            False,
            "sleep",
        ),
    ],
)
def test_the_engine_spins_only_on_cores_of_its_own(
    table: placement.Table, rationed: bool, wait: str
) -> None:
    """Elsewhere that time would be its service's."""
    assert table.wait(rationed=rationed) == wait
    assert table.thread_options(rationed=rationed)["wait"] == wait
