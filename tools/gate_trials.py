"""Real runs of `wirelab compare` with a known truth: `make gate-trials`.

Compares two servers of its own, which spin for a fixed CPU time per call: equal ones, and one that
does 6 % more. Both designs are measured in one run, trials and slices, quiet and next to two other
busy processes, in random order. Writes its part of docs/reference/compare.md.
"""

from __future__ import annotations

import random
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from itertools import product
from math import sqrt
from pathlib import Path
from typing import Any

import yaml

from tools.marked_part import replace_part
from wirelab.comparisons.pairs import Question, compare
from wirelab.process import machine
from wirelab.statistics.figure import RATE, RESPONSE_P50, Figure

PAGE = Path("docs/reference/compare.md")
SERVER = Path("tests/python/spun_server.py").resolve()
RUNS = 5
"""Comparisons of each kind; there are 16 kinds."""
WORK_MS, MORE = 2.0, 0.06
"""CPU time per call of A, and the share that the changed B does on top."""
THRESHOLD = 0.03
PAIRS_MAX = 40
FOUND_SHARE_MIN = 0.8
"""Of the differences, without other work on the machine."""
BUSY = 2
"""Other processes."""


@dataclass(frozen=True)
class Kind:
    """What is compared, and how."""

    busy: bool
    design: str
    figure: Figure
    changed: bool


@dataclass(frozen=True)
class Made:
    """One comparison."""

    kind: Kind
    outcome: str
    pairs: int
    seconds: float


def kinds() -> list[Kind]:
    """All combinations."""
    every = product((False, True), ("trials", "slices"), (RATE, RESPONSE_P50), (False, True))
    return [Kind(*one) for one in every]


def server(name: str, milliseconds: float, folder: Path) -> dict[str, Any]:
    """A service that spins; its own account of each call is in the folder."""
    command = [sys.executable, str(SERVER), "{port}", f"{milliseconds:g}", "work"]
    return {
        "name": name,
        "command": [*command, str(folder / f"{name}.log")],
        "http": {"path": "/"},
    }


def experiment(kind: Kind, folder: Path, seed: int) -> dict[str, Any]:
    """A and B, with the design of the kind."""
    changed = WORK_MS * (1.0 + MORE if kind.changed else 1.0)
    return {
        "name": "gate",
        "seed": seed,
        "design": kind.design,
        "services": [server("a", WORK_MS, folder), server("b", changed, folder)],
        "loads": [{"closed": {"users": 2}}],
        "window": {"duration": "1 s"},
        "warmup": {"min": "300 ms", "max": "500 ms"},
    }


@contextmanager
def other_work(number: int) -> Iterator[None]:
    """That many processes that are always busy."""
    loops = [subprocess.Popen([sys.executable, "-c", "while True: pass"]) for _ in range(number)]
    try:
        yield
    finally:
        for loop in loops:
            loop.kill()
            loop.wait()


def make_comparison(kind: Kind, folder: Path, seed: int, pairs_max: int = PAIRS_MAX) -> Made:
    """One comparison; its run is kept in ``folder``."""
    folder.mkdir(parents=True)
    values = experiment(kind, folder, seed)
    text = yaml.safe_dump(values, sort_keys=False)
    began = time.monotonic()
    with other_work(BUSY if kind.busy else 0):
        question = Question(text, values["name"], kind.figure, THRESHOLD, pairs_max, guards=())
        answer = compare(question, folder / "run")
    seconds = time.monotonic() - began
    return Made(kind, answer.gate.outcome, len(answer.gate.pairs.a), seconds)


def alarms_max(number: int) -> int:
    """False verdicts of N comparisons: 5 % and the binomial bound at the 0.1 % level."""
    return round(0.05 * number + 3.3 * sqrt(0.05 * 0.95 * number))


def main(folder: Path, runs: int = RUNS) -> int:
    """Makes the comparisons and the page's part."""
    order = kinds() * runs
    random.Random(5).shuffle(order)
    made = []
    for number, kind in enumerate(order, 1):
        one = make_comparison(kind, folder / f"run-{number:03}", number)
        made.append(one)
        print(f"{number} of {len(order)}: {_describe(kind)}: {one.outcome}", flush=True)
    replace_part(PAGE, "real runs", _table(made))
    equal = [one for one in made if not one.kind.changed]
    alarms = sum(one.outcome in ("worse", "better") for one in equal)
    quiet = [one for one in made if one.kind.changed and not one.kind.busy]
    found = sum(one.outcome == "worse" for one in quiet)
    most = alarms_max(len(equal))
    by_kind = Counter(one.kind for one in equal if one.outcome in ("worse", "better"))
    worst = max(by_kind.values(), default=0)
    print(f"{alarms} false verdicts (at most {most}), {found} of {len(quiet)} found")
    is_rare = alarms <= most and worst <= alarms_max(runs)
    right = is_rare and found >= FOUND_SHARE_MIN * len(quiet)
    return 0 if right else 1


def _describe(kind: Kind) -> str:
    b = f"{MORE:.0%} more work" if kind.changed else "the same"
    other = f"{BUSY} busy processes" if kind.busy else "none"
    return f"{other} | {kind.design} | {kind.figure.title} | {b}"


def _table(made: Sequence[Made]) -> list[str]:
    facts = machine.describe()
    lines = [
        (
            f"Measured {datetime.now(UTC):%Y-%m-%d} on {facts['cpu']}, {facts['cores']} cores: "
            f"{len(made)} comparisons, {WORK_MS:g} ms of CPU time per call of A."
        ),
        "",
        (
            "| other work | design | figure | B | worse | better | equivalent | undecided | failed "
            "| pairs, median | s, median |"
        ),
        "|---|---|---|---|---|---|---|---|---|---|---|",
    ]
    for kind in kinds():
        part = [one for one in made if one.kind == kind]
        outcomes = ("worse", "better", "equivalent", "undecided", "failed")
        counts = [str(sum(one.outcome == name for one in part)) for name in outcomes]
        pairs = sorted(one.pairs for one in part)[len(part) // 2]
        seconds = sorted(one.seconds for one in part)[len(part) // 2]
        lines.append(f"| {_describe(kind)} | {' | '.join(counts)} | {pairs} | {seconds:.0f} |")
    return lines


if __name__ == "__main__":
    sys.exit(main(Path(sys.argv[1])))
