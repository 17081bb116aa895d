"""The seeded mistakes fit the sources: ten of each area, each in one place."""

from __future__ import annotations

import sys
import time

import psutil
import pytest

from tools import mutants

ALL = [(area, mutant) for area, found in mutants.load().items() for mutant in found]


def test_every_area_has_ten() -> None:
    counts = {area: len(found) for area, found in mutants.load().items()}
    assert counts == {"load": 10, "trace": 10, "front": 10, "services": 10}


@pytest.mark.parametrize(("area", "mutant"), ALL, ids=lambda one: str(one)[:60])
def test_a_mistake_has_one_place(area: str, mutant: mutants.Mutant) -> None:
    del area
    text = (mutants.ROOT / mutant["file"]).read_text(encoding="utf-8")
    assert mutants.mutate(text, mutant) != text


def test_a_place_that_is_gone_is_an_error() -> None:
    with pytest.raises(ValueError, match="not once"):
        mutants.mutate("b", {"file": "x.rs", "from": "a", "to": "c"})


def test_tests_that_never_end_are_ended_and_found(monkeypatch: pytest.MonkeyPatch) -> None:
    """With the processes that they have started."""
    monkeypatch.setattr(mutants, "LIMIT_S", 2)
    monkeypatch.setattr(mutants, "TREE", mutants.ROOT)
    child = "import time; time.sleep(60.25)"
    parent = f"import subprocess, sys; subprocess.run([sys.executable, '-c', '{child}'])"
    assert mutants._list_failures(sys.executable, "-c", parent) == [mutants.HANGS]
    end = time.monotonic() + 5
    while any(child in (one.info["cmdline"] or ()) for one in psutil.process_iter(["cmdline"])):
        assert time.monotonic() < end
        time.sleep(0.05)
