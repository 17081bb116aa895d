"""``python -m tools.chaos MINUTES [SEED]``: rounds until the time is over, then
docs/reference/robustness.md. Exit code 1 if a round did not hold."""

from __future__ import annotations

import random
import shutil
import sys
import tempfile
import time
from collections import Counter
from datetime import UTC, datetime
from pathlib import Path

from tools.chaos import page, truth
from tools.chaos.scenarios import PLANNED, Round, Scenario, usable

SETTLE_S = 5.0
"""Time in which the processes of a killed lab end."""


def main(arguments: list[str]) -> int:
    """Prints each round as it ends."""
    minutes = float(arguments[0]) if arguments else 30.0
    seed = int(arguments[1]) if arguments[1:] else int(time.time())
    until = time.monotonic() + 60.0 * minutes
    scenarios, lacks = usable()
    tried: Counter[str] = Counter()
    held: Counter[str] = Counter()
    problems: list[str] = []
    chooser = random.Random(seed)
    order: list[str] = []
    while time.monotonic() < until:
        order = order or chooser.sample(list(scenarios), len(scenarios))
        name = order.pop()
        number = sum(tried.values()) + 1
        wrong = play(scenarios[name], f"{seed}-{number}")
        tried[name] += 1
        held[name] += not wrong
        problems += [f"round {number}, {name}: {one}" for one in wrong]
        print(f"{number}: {name}: {truth.tell(wrong)}", flush=True)
    result = page.Result(
        datetime.now(UTC).date().isoformat(), minutes, seed, dict(tried), dict(held), lacks
    )
    page.write(result, problems)
    return int(bool(problems))


def play(scenario: Scenario, mark: str) -> list[str]:
    """One round, and what did not hold in it."""
    before = truth.namespaces()
    folder = Path(tempfile.mkdtemp(prefix="chaos-"))
    now = Round(folder, random.Random(mark), mark)
    now.prepare()
    wrong = scenario(now)
    planned = PLANNED if now.must_end else None
    if (now.out / "manifest.json").exists():
        wrong += truth.wrong_run(now.out, now.notes, planned)
    else:
        wrong.append("there is no run")
    deadline = time.monotonic() + SETTLE_S
    while (left := truth.find_left_behind(mark)) and time.monotonic() < deadline:
        time.sleep(0.1)
    wrong += [f"still running: {one}" for one in left]
    wrong += [f"network namespace left: {one}" for one in sorted(truth.namespaces() - before)]
    if wrong:
        print(f"kept for inspection: {folder}", flush=True)
    else:
        shutil.rmtree(folder)
    return wrong


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
