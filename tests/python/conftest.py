"""Fixtures: the real engine where it is built, the scripted one, and a census of processes."""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import psutil
import pytest

from wirelab.errors import EngineMissing
from wirelab.process import engine_binary

STAND_IN = Path(__file__).parent / "stand_in_engine.py"


@pytest.fixture(scope="session")
def real_engine() -> Path:
    """The engine that was built; without it the test is skipped with the reason."""
    try:
        return engine_binary.find()
    except EngineMissing as error:
        pytest.skip(str(error))


@pytest.fixture
def stand_in(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[..., None]:
    """Puts the scripted engine and service in place; call it with the words for what goes wrong."""
    for name, verb in (("wirelab-rust-service", "service"), ("stand-in-engine", "")):
        script = tmp_path / name
        script.write_text(f'#!/bin/sh\nexec {sys.executable} -S -E {STAND_IN} {verb} "$@"\n')
        script.chmod(0o755)
    monkeypatch.setenv("WIRELAB_ENGINE", str(script))

    def misbehave(*words: str, seconds: float = 0.1) -> None:
        monkeypatch.setenv("WIRELAB_STAND_IN", ",".join(words))
        monkeypatch.setenv("WIRELAB_STAND_IN_SECONDS", str(seconds))

    misbehave()
    return misbehave


@pytest.fixture
def no_orphans() -> Iterator[None]:
    """Fails the test when a process that it started is still there at its end. Processes
    of other tests or users do not count: an environment variable distinguishes them."""
    mark = f"{os.getpid()}-{time.monotonic_ns()}"
    os.environ["WIRELAB_TEST_MARK"] = mark
    yield
    del os.environ["WIRELAB_TEST_MARK"]
    deadline = time.monotonic() + 5.0
    while (left := _list_marked(mark)) and time.monotonic() < deadline:
        time.sleep(0.05)
    assert not left, f"left behind: {left}"


def _list_marked(mark: str) -> list[str]:
    found = []
    for process in psutil.process_iter():
        try:
            if process.pid != os.getpid() and process.environ().get("WIRELAB_TEST_MARK") == mark:
                found.append(f"{process.pid} {' '.join(process.cmdline())} ({process.status()})")
        except psutil.Error:
            continue
    return found
