"""Whether `make test` finds seeded mistakes: ``python -m tools.mutants [AREA…]``.

Each mistake of ``tools/mutants.yaml`` is made in a worktree of its own, and the tests run until one
fails: first the nearest ones, then all others of `make test`. Prints one line for each, and exits
with 1 if one is not found. An hour for all on two cores.
"""

from __future__ import annotations

import os
import re
import signal
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
FAILED = re.compile(
    r"^test (\S+) \.\.\. FAILED|^FAILED (\S+)|^(error)(?:\[E\d+\])?: could not", re.MULTILINE
)
"""How cargo's and pytest's output name a test that failed; ``error`` if nothing was compiled."""

HANGS = f"a test that never ends (after {LIMIT_S} s)"
"""In place of its name: `make test` is ended then, and fails."""

PYTEST = (sys.executable, "-m", "pytest", "-q", "-rf", "-m", "not long and not alone")

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


def mutate(text: str, mutant: Mutant) -> str:
    """The text with the mistake. Raises :class:`ValueError` unless it contains the place once."""
    if text.count(mutant["from"]) != 1:
        raise ValueError(f"{mutant['file']} contains {mutant['from']!r} not once")
    return text.replace(mutant["from"], mutant["to"])


def _is_found(area: str, mutant: Mutant) -> bool:
    file = TREE / mutant["file"]
    before, began = file.read_text(encoding="utf-8"), time.monotonic()
    failed: list[str] = []
    for command in _commands(area, mutant):
        file.write_text(mutate(before, mutant), encoding="utf-8")
        try:
            failed = _list_failures(*command)
        finally:
            file.write_text(before, encoding="utf-8")
        if failed and failed != [HANGS] and area not in CRATES:
            # Tests that fail without the mistake, too, find nothing.
            failing = _list_failures(*PYTEST, *failed)
            failed = [name for name in failed if name not in failing]
        if failed:
            break
    found = f"found by {failed[0]}" if failed else "NOT FOUND"
    more = f" and {len(failed) - 1} more" if len(failed) > 1 else ""
    seconds = time.monotonic() - began
    print(f"{area}: {mutant['file']}: {mutant['to']}: {found}{more}, {seconds:.0f} s")
    sys.stdout.flush()
    return bool(failed)


def _commands(area: str, mutant: Mutant) -> Iterator[Sequence[str]]:
    """The parts of `make test`, the nearest first."""
    cargo = ("cargo", "test", "--locked", "--no-fail-fast", "--tests")
    if area in CRATES:
        yield *cargo, "--package", CRATES[area]
        yield *cargo, "--workspace"
        return
    if "first" in mutant:
        yield *PYTEST, mutant["first"]
    yield *PYTEST, "-n", "2", "--dist", "loadgroup"


def _list_failures(*command: str) -> list[str]:
    """The tests that fail, or ``HANGS`` where they do not end. Raises :class:`RuntimeError` if none
    could be run."""
    try:
        done = _run(*command)
    except subprocess.TimeoutExpired:
        return [HANGS]
    if done.returncode == 0:
        return []
    names = [name for match in FAILED.findall(done.stdout + done.stderr) for name in match if name]
    if not names or "error" in names:
        raise RuntimeError(f"{' '.join(command)}:\n{(done.stdout + done.stderr)[-2000:]}")
    return names


def _run(*command: str, cwd: Path | None = None) -> subprocess.CompletedProcess[str]:
    environment: dict[str, Any] = {
        **os.environ,
        "PYTHONPATH": str(TREE / "python"),
        "WIRELAB_ROOT": str(TREE),
        "WIRELAB_ENGINE": str(ROOT / ".venv/bin/wirelab-engine"),
        "CARGO_TARGET_DIR": str(TARGET),
    }
    with subprocess.Popen(
        command,
        cwd=cwd or TREE,
        env=environment,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        encoding="utf-8",
        errors="replace",
        start_new_session=True,
    ) as process:
        try:
            written, reasons = process.communicate(timeout=LIMIT_S)
        except subprocess.TimeoutExpired:
            # The tests themselves, too, which would otherwise go on for ever.
            os.killpg(process.pid, signal.SIGKILL)
            raise
    return subprocess.CompletedProcess(command, process.returncode, written, reasons)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
