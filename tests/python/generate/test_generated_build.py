"""Builds of generated services: once, whole or not at all, with the compiler's message."""

from __future__ import annotations

import os
import threading
from pathlib import Path

import pytest

from tests.python.generated_services import load_vectors
from wirelab import installation
from wirelab.errors import BuildError
from wirelab.generate.build import DONE, TOOLCHAINS, Toolchain, build_service
from wirelab.generate.project import Project
from wirelab.process.build_progress import OnBuild, ignore
from wirelab.process.interruption import Interruption

CONTRACT = load_vectors("note").contract
TINY = "set -e; echo compiling tiny >&2; echo x >>../builds; cp source program"
HELD = f"cat ../gate; {TINY}"
"""Builds once the gate, a FIFO, is opened."""


@pytest.fixture(autouse=True)
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A cache of the test's own, and a toolchain that is everywhere."""
    monkeypatch.setattr(installation, "cache", lambda: tmp_path)
    monkeypatch.setitem(TOOLCHAINS, "tiny", Toolchain(("echo", "tiny 1"), "install tiny"))
    return tmp_path / "generated"


def write(folder: Path, source: str = "echo 1", command: str = TINY) -> Project:
    """A project that is built by a copy."""
    (folder / "source").write_text(source, encoding="utf-8")
    start = (str(folder.resolve() / "program"),)
    return Project("tiny", folder, ("sh", "-c", command), start, 1.0, {})


class Gate:
    """Lets a held build go on when a line that begins with some text was reported."""

    def __init__(self, cache: Path, awaited: str) -> None:
        cache.mkdir(parents=True)
        self.lines: list[str] = []
        self._fifo = cache / "gate"
        self._awaited = awaited
        os.mkfifo(self._fifo)

    def observe(self, line: str) -> None:
        """Takes a line."""
        is_first = not any(one.startswith(self._awaited) for one in self.lines)
        self.lines.append(line)
        if is_first and line.startswith(self._awaited):
            self._fifo.write_bytes(b"")


def build(source: str = "echo 1", command: str = TINY, observe: OnBuild = ignore) -> Project:
    """Builds it."""
    return build_service(
        "tiny",
        CONTRACT,
        lambda folder: write(folder, source, command),
        Interruption(),
        observe,
    )


def count_builds(cache: Path) -> int:
    """How often the command ran."""
    return len((cache / "builds").read_text(encoding="ascii").splitlines())


def test_the_same_sources_are_built_once(cache: Path) -> None:
    gate = Gate(cache, "building the service in tiny for Call of")
    first = build(command=HELD, observe=gate.observe)
    assert Path(first.start[0]).read_text(encoding="utf-8") == "echo 1"
    assert build(command=HELD) == first
    assert count_builds(cache) == 1
    assert [path for path in cache.iterdir() if path.name.endswith(".sources")] == []


def test_other_sources_commands_and_toolchains_are_built_again(
    cache: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folders = {build().folder, build("echo 2").folder, build(command=f"{TINY} && true").folder}
    monkeypatch.setitem(TOOLCHAINS, "tiny", Toolchain(("echo", "tiny 2"), "install tiny"))
    folders.add(build().folder)
    assert len(folders) == count_builds(cache) == 4


def test_two_at_once_build_once(cache: Path) -> None:
    gate = Gate(cache, "waiting for another process")
    held = {"command": HELD, "observe": gate.observe}
    threads = [threading.Thread(target=build, kwargs=held) for _ in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert count_builds(cache) == 1


def test_a_failure_names_the_compilers_message_and_leaves_no_result(cache: Path) -> None:
    with pytest.raises(BuildError, match=r"main\.go:7:2: undefined: x") as caught:
        build(command="echo half >program; echo 'main.go:7:2: undefined: x' >&2; exit 1")
    assert "exit code 1" in str(caught.value)
    assert not list(cache.rglob(DONE))


@pytest.mark.parametrize(
    "first",
    [
        "error[E0277]: the trait bound is not satisfied",
        "./model.go:7:2: undefined: x",
        "Model.java:7: error: cannot find symbol",
    ],
)
def test_the_first_error_is_named_though_many_lines_follow(first: str) -> None:
    lines = ["Compiling x v1.0.0", first, *["  |"] * 9, "error: could not compile `x`"]
    with pytest.raises(BuildError) as caught:
        build(command="".join(f"echo '{line}' >&2; " for line in lines) + "exit 1")
    assert caught.value.message.endswith(f"; the first error: {first}")


def test_a_folder_that_an_ended_process_left_is_built_again(cache: Path) -> None:
    built = build().folder
    (built / DONE).unlink()
    (built / "program").write_text("half", encoding="utf-8")
    assert Path(build().start[0]).read_text(encoding="utf-8") == "echo 1"
    assert count_builds(cache) == 2


def test_a_missing_toolchain_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(TOOLCHAINS, "tiny", Toolchain(("no-such-compiler",), "install tiny"))
    with pytest.raises(BuildError, match="needs no-such-compiler, which is not in PATH") as caught:
        build()
    assert caught.value.remedy == "install tiny"
