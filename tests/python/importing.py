"""Runs ``wirelab import`` in a folder, for its tests."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
import yaml

from wirelab.cli import main
from wirelab.experiment import loading
from wirelab.experiment.model import Experiment

FILES = Path(__file__).parent / "imported"
CPU_S_MAX = 2.0
MEMORY_MIB_MAX = 200
"""Of a refusal."""


@dataclass(frozen=True)
class Done:
    """What a command did."""

    code: int
    out: str
    err: str
    folder: Path

    @property
    def files(self) -> list[str]:
        """Every file that is there."""
        return sorted(path.name for path in self.folder.iterdir())

    @property
    def content(self) -> dict[str, Any]:
        """The one experiment file, which must be valid."""
        (path,) = self.folder.glob("*.yaml")
        loading.load(path)
        content: dict[str, Any] = yaml.safe_load(path.read_text())
        return content

    @property
    def text(self) -> str:
        """The one experiment file."""
        (path,) = self.folder.glob("*.yaml")
        return path.read_text()

    @property
    def messages(self) -> dict[str, dict[str, Any]]:
        """The messages by their names."""
        return {one["name"]: one for one in self.content["messages"]}

    @property
    def experiment(self) -> Experiment:
        """As `wirelab run` reads it."""
        (path,) = self.folder.glob("*.yaml")
        return loading.load(path)

    def check_refusal(self, *parts: str) -> None:
        """It ended as wrong usage, with these parts in its message, and left nothing behind."""
        assert self.code == 2, self.err
        # Messages are folded to the width of a terminal.
        message = " ".join(self.err.split())
        for part in parts:
            assert part in message
        assert self.files == []


class Importer:
    """Runs the command in a folder of its own."""

    def __init__(self, folder: Path, capture: pytest.CaptureFixture[str]) -> None:
        self.folder = folder
        self._capture = capture

    def __call__(self, *words: object) -> Done:
        """Runs it."""
        self._capture.readouterr()
        code = main(["import", *map(str, words)])
        printed = self._capture.readouterr()
        return Done(code, printed.out, printed.err, self.folder)


@pytest.fixture
def importer(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> Importer:
    """The command, in an empty folder."""
    folder = tmp_path / "out"
    folder.mkdir()
    monkeypatch.chdir(folder)
    monkeypatch.setenv("COLUMNS", "200")
    return Importer(folder, capsys)


_MEASURED = """
import json, os, resource, sys
from wirelab.cli import main
from wirelab.process.metrics import rss_max_bytes
code = main(["import", *sys.argv[1:]])
used = resource.getrusage(resource.RUSAGE_SELF)
print(json.dumps([code, used.ru_utime + used.ru_stime, rss_max_bytes(os.getpid()) / 2**20]))
"""


def measure_cost(folder: Path, *words: object) -> tuple[int, float, float]:
    """Exit code, seconds of the processor and MiB at most, in a process of its own."""
    done = subprocess.run(
        [sys.executable, "-c", _MEASURED, *map(str, words)],
        capture_output=True,
        text=True,
        check=True,
        cwd=folder,
        env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)},
    )
    code, cpu_s, memory_mib = json.loads(done.stdout.splitlines()[-1])
    return code, cpu_s, memory_mib
