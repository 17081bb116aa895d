"""Real runs of `wirelab compare` with a known truth: `make gate-trials`.

Twenty comparisons of a service with itself, and twenty with one that spends 10 % more CPU per
call, in random order. Writes its part of docs/reference/compare.md. The extra CPU is the fault
``text_check_ns_per_kb`` of the Rust service, set from its measured CPU per call.
"""

from __future__ import annotations

import random
import sys
import time
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import yaml

from tools.marked_part import replace_part
from wirelab.comparisons.pairs import Question, compare
from wirelab.process import machine
from wirelab.statistics.figure import SERVICE_CPU

PAGE = Path("docs/reference/compare.md")
RUNS = 20
MORE = 0.1
"""Share of CPU per call that the changed service spends on top: found only where the whole interval
lies beyond :data:`THRESHOLD`."""
ALARMS_MAX, FOUND_MIN = 3, 16
PAIRS_MAX = 60
THRESHOLD = 0.03
SIZE_KB = 100
FAULT = "text_check_ns_per_kb"
NEUTRAL = 1
"""Nanoseconds per kB of a fault that costs nothing: 0.1 µs a call."""


@dataclass(frozen=True)
class Made:
    """One comparison."""

    changed: bool
    outcome: str
    pairs: int
    seconds: float


def experiment(name: str, more_ns_per_kb: int, seed: int) -> dict[str, Any]:
    """A is as it is; B has the fault."""
    plain = {"stack": "rest@rust", "faults_off": [FAULT]}
    return {
        "name": name,
        "seed": seed,
        "services": ["rest@rust"],
        "messages": [{"operation": "Hello", "bytes": f"{SIZE_KB} kB"}],
        "loads": [{"closed": {"users": 4}}],
        "window": {"duration": "500 ms"},
        "warmup": {"min": "200 ms", "max": "400 ms"},
        "faults": {FAULT: more_ns_per_kb},
        "only": [plain, {"stack": "rest@rust"}],
    }


def run_comparison(values: dict[str, Any], folder: Path, pairs_max: int = PAIRS_MAX) -> Any:
    """One comparison; its run is kept in ``folder``."""
    text = yaml.safe_dump(values, sort_keys=False)
    question = Question(text, values["name"], SERVICE_CPU, THRESHOLD, pairs_max, guards=())
    return compare(question, folder)


def calibrate(folder: Path) -> tuple[int, float]:
    """The fault that adds :data:`MORE`, ns per kB, and the CPU per call without it, s."""
    answer = run_comparison(experiment("calibration", NEUTRAL, 1), folder / "calibration", 6)
    values = [*answer.gate.pairs.a, *answer.gate.pairs.b]
    cpu_s = sorted(values)[len(values) // 2]
    return max(2, round(MORE * cpu_s * 1e9 / SIZE_KB)), cpu_s


def main(folder: Path) -> int:
    """Makes the comparisons and the page's part."""
    more, cpu_s = calibrate(folder)
    order = [False, True] * RUNS
    random.Random(5).shuffle(order)
    made = []
    for number, changed in enumerate(order, 1):
        began = time.monotonic()
        name = f"run-{number:02}"
        values = experiment(name, more if changed else NEUTRAL, number)
        answer = run_comparison(values, folder / name)
        found = answer.gate.outcome
        pairs = len(answer.gate.pairs.a)
        made.append(Made(changed, found, pairs, time.monotonic() - began))
        print(f"{name}: {'+10 %' if changed else 'equal'}, {found} after {pairs} pairs", flush=True)
    alarms = sum(not one.changed and one.outcome in ("worse", "better") for one in made)
    found_ones = sum(one.changed and one.outcome == "worse" for one in made)
    replace_part(PAGE, "real runs", _table(made, more, cpu_s))
    print(f"{alarms} alarms (at most {ALARMS_MAX}), {found_ones} found (at least {FOUND_MIN})")
    return 0 if alarms <= ALARMS_MAX and found_ones >= FOUND_MIN else 1


def _table(made: Sequence[Made], more: int, cpu_s: float) -> list[str]:
    facts = machine.describe()
    lines = [
        (
            f"Measured {datetime.now(UTC):%Y-%m-%d} on {facts['cpu']}, {facts['cores']} cores. CPU "
            f"per call without the fault: {1e6 * cpu_s:.1f} µs; the fault adds {more} ns per kB."
        ),
        "",
        "| B | worse | better | equivalent | undecided | failed | pairs, median | s, median |",
        "|---|---|---|---|---|---|---|---|",
    ]
    for changed in (False, True):
        part = [one for one in made if one.changed is changed]
        outcomes = ("worse", "better", "equivalent", "undecided", "failed")
        counts = [str(sum(one.outcome == name for one in part)) for name in outcomes]
        pairs = sorted(one.pairs for one in part)[len(part) // 2]
        seconds = sorted(one.seconds for one in part)[len(part) // 2]
        name = "10 % more CPU per call" if changed else "the same"
        lines.append(f"| {name} | {' | '.join(counts)} | {pairs} | {seconds:.0f} |")
    return lines


if __name__ == "__main__":
    sys.exit(main(Path(sys.argv[1])))
