"""Whether `make test` finds seeded mistakes: ``python -m tools.mutants [AREA…]``.

Each mistake of ``tools/mutants.yaml`` is made in a worktree of its own, and the tests run until one
fails: first the nearest ones, then all others of `make test`. Prints one line for each, and exits
with 1 if one is not found. An hour for all on two cores.
"""

from __future__ import annotations

import os
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import yaml

ROOT = Path(__file__).resolve().parents[1]
LIST = Path(__file__).with_suffix(".yaml")
TREE = ROOT / ".cache/mutants"
TARGET = ROOT / ".cache/mutants-target"
CRATES = {"load": "wirelab-load", "trace": "wirelab-trace", "services": "wirelab-services"}
LIMIT_S = 1800

Mutant = dict[str, str]


def load() -> dict[str, list[Mutant]]:
    """The mistakes by area."""
    found: dict[str, list[Mutant]] = yaml.safe_load(LIST.read_text(encoding="utf-8"))
    return found


def main(areas: Sequence[str]) -> int:
    """Runs the tests against every mistake of the areas, or of all."""
    _run("git", "worktree", "add", "--force", "--detach", str(TREE), "HEAD", cwd=ROOT)
    missed = 0
    try:
        for area, mutants in load().items():
            for mutant in mutants if not areas or area in areas else ():
                missed += not _is_found(area, mutant)
    finally:
        _run("git", "worktree", "remove", "--force", str(TREE), cwd=ROOT)
    return int(missed > 0)


def mutated(text: str, mutant: Mutant) -> str:
    """The text with the mistake. Raises :class:`ValueError` unless it contains the place once."""
    if text.count(mutant["from"]) != 1:
        raise ValueError(f"{mutant['file']} contains {mutant['from']!r} not once")
    return text.replace(mutant["from"], mutant["to"])


def _is_found(area: str, mutant: Mutant) -> bool:
    file = TREE / mutant["file"]
    before, began = file.read_text(encoding="utf-8"), time.monotonic()
    file.write_text(mutated(before, mutant), encoding="utf-8")
    try:
        finder = next((name for name, done in _tests(area, mutant) if done != 0), None)
    finally:
        file.write_text(before, encoding="utf-8")
    found = f"found by {finder}" if finder else "NOT FOUND"
    print(f"{area}: {mutant['file']}: {mutant['to']}: {found}, {time.monotonic() - began:.0f} s")
    sys.stdout.flush()
    return finder is not None


def _tests(area: str, mutant: Mutant) -> Iterator[tuple[str, int]]:
    """Name and exit code of each part of `make test`, the nearest first."""
    cargo = ("cargo", "test", "--locked", "--tests", "--quiet")
    python = (sys.executable, "-m", "pytest", "-q", "-x", "-m", "not long and not alone")
    if area in CRATES:
        yield f"cargo test -p {CRATES[area]}", _run(*cargo, "--package", CRATES[area])
        yield "cargo test --workspace", _run(*cargo, "--workspace")
        return
    if "first" in mutant:
        yield mutant["first"], _run(*python, mutant["first"])
    yield "pytest", _run(*python, "-n", "2", "--dist", "loadgroup")


def _run(*command: str, cwd: Path = TREE) -> int:
    environment: dict[str, Any] = {
        **os.environ,
        "PYTHONPATH": str(TREE / "python"),
        "WIRELAB_ROOT": str(TREE),
        "WIRELAB_ENGINE": str(ROOT / ".venv/bin/wirelab-engine"),
        "CARGO_TARGET_DIR": str(TARGET),
    }
    done = subprocess.run(
        command, cwd=cwd, env=environment, capture_output=True, timeout=LIMIT_S, check=False
    )
    return done.returncode


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
