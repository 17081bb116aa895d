"""The journal: whole lines stay, torn lines are set aside, a full disk loses nothing."""

from __future__ import annotations

import errno
import json
import os
import resource
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from wirelab.errors import RunDirectoryError, StorageError
from wirelab.records.line import CELL, to_line
from wirelab.records.load import LoadRecord
from wirelab.records.trial import Point, Trial
from wirelab.run import journal
from wirelab.run.journal import Journal
from wirelab.stack.reference import Stack


def _trial(number: int, reason: str = "") -> Trial:
    axes = Stack.parse("rest@rust").axes
    point = Point("rest@rust", axes, "Hello", 14, LoadRecord(kind="closed", users=1))
    return Trial(f"t{number}", point, 1, number, "failed", reason)


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "trials.jsonl"


def test_appended_trials_are_read_back(path: Path) -> None:
    book = Journal(path)
    for number in range(3):
        book.append(_trial(number))
    assert journal.read(path).trials == tuple(_trial(number) for number in range(3))
    assert Journal(path).trials == book.trials


@pytest.mark.parametrize("cut", [1, 7, 60])
def test_a_torn_last_line_is_set_aside_and_the_others_stay(path: Path, cut: int) -> None:
    book = Journal(path)
    for number in range(3):
        book.append(_trial(number))
    content = path.read_bytes()
    path.write_bytes(content[:-cut])
    torn = content[:-cut].rpartition(b"\n")[2]
    again = Journal(path)
    assert again.torn
    assert again.trials == [_trial(0), _trial(1)]
    assert path.with_name("trials.jsonl.torn").read_bytes() == torn + b"\n"
    again.append(_trial(2))
    assert path.read_bytes() == content


def test_zeros_that_a_crashed_file_system_left_count_as_torn(path: Path) -> None:
    Journal(path).append(_trial(0))
    with path.open("ab") as file:
        file.write(b"\0" * 300 + b"\n")
    assert Journal(path).trials == [_trial(0)]


def test_damage_elsewhere_is_refused_and_nothing_is_changed(path: Path) -> None:
    Journal(path).append(_trial(0))
    content = b'{"id": "x"}\n' + path.read_bytes()
    path.write_bytes(content)
    with pytest.raises(RunDirectoryError, match=r"trials\.jsonl:1"):
        Journal(path)
    assert path.read_bytes() == content


@pytest.mark.parametrize(
    "damage",
    [
        {"id": {}},
        {"repeat": "1"},
        {"order": None},
        {"status": "unknown"},
        {"started": []},
        {"seconds": "long"},
        {"checks": {}},
        {"checks": [{"name": 1, "outcome": "ok", "reason": ""}]},
        {"checks": [{"name": "load", "outcome": [], "reason": ""}]},
    ],
    ids=str,
)
def test_a_value_of_another_type_is_damage(path: Path, damage: dict[str, object]) -> None:
    line = to_line([_trial(0)])
    (cell,) = line["cells"]
    for name, value in damage.items():
        (cell if name in CELL else line)[name] = value
    path.write_text(json.dumps(line) + "\n")
    with pytest.raises(RunDirectoryError, match=r"trials\.jsonl:1 .* unexpected keys or types"):
        journal.read(path)


@contextmanager
def small_files(bytes_max: int) -> Iterator[None]:
    """Not a fixture: between tests pytest writes too, into files that may be longer."""
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (bytes_max, hard))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))


def test_without_room_the_journal_stays_as_it_was(path: Path) -> None:
    book = Journal(path)
    book.append(_trial(0))
    before = path.read_bytes()
    with (
        small_files(4096),
        pytest.raises(StorageError, match="finished trials are kept") as caught,
    ):
        book.append(_trial(1, "x" * 4096))
    assert os.strerror(errno.EFBIG) in str(caught.value)
    assert path.read_bytes() == before
    assert Journal(path).trials == [_trial(0)]
