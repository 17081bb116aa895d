"""Workflows under actionlint, which is built from the modules of tests/interop/go."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
PACKAGE = "github.com/rhysd/actionlint/cmd/actionlint"


def accepts(workflow: Path, checkout: Path) -> None:
    """Copies the workflow into a fresh repository in that folder; fails with what is wrong."""
    if shutil.which("go") is None:
        pytest.skip("no go in PATH: actionlint is a Go program")
    folder = checkout / ".github" / "workflows"
    folder.mkdir(parents=True)
    shutil.copy(workflow, folder)
    subprocess.run(["git", "init", "-q", checkout], check=True, timeout=30)
    built = checkout / "actionlint"
    go = ROOT / "tests" / "interop" / "go"
    subprocess.run(["go", "build", "-o", built, PACKAGE], cwd=go, check=True, timeout=300)
    done = subprocess.run(
        [built, folder / workflow.name],
        cwd=checkout,
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
