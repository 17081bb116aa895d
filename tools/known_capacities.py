"""`wirelab limit` on queues of known limit: `make known-capacities`, at most 20 minutes.

Writes its part of docs/reference/compare.md. Two workers that each take a fixed time per call
without using a processor (M/D/2), whose limit theory gives; and one worker that spins for a fixed
or an exponential time (M/D/1, M/M/1), whose limit follows from the times in its own log.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

import numpy as np
import yaml

from tools.marked_part import replace_part
from tools.queueing import rate_at, rate_of_log
from wirelab.comparisons.limit import LimitQuestion, Objective, limit
from wirelab.process import machine
from wirelab.run.progress import Silent

PAGE = Path("docs/reference/compare.md")
SERVERS = Path("tests/python").resolve()
WITHIN = 0.03
SHARE = 0.9
WINDOW, WINDOW_MAX_S = "2 s", 8.0
PROBES_MAX = 30


@dataclass(frozen=True)
class Queue:
    """A service and what it can do."""

    name: str
    command: tuple[str, ...]
    response_s: float
    """Of the objective."""
    truth: Callable[[], float]
    """The rate up to which the objective holds, after the search."""


def queues(folder: Path) -> tuple[Queue, ...]:
    """All of them; logs are written to the folder."""
    python = sys.executable
    asleep = (python, str(SERVERS / "queue_server.py"), "{port}", "2", "10")
    return (
        Queue("M/D/2, 10 ms", asleep, 0.06, lambda: rate_at(SHARE, 0.06, 2, 0.01)),
        *(
            Queue(
                f"{name}, 1.5 ms, spinning",
                (python, str(SERVERS / "spun_server.py"), "{port}", "1.5", kind, str(log)),
                0.012,
                lambda log=log: rate_of_log(SHARE, 0.012, np.fromfile(log)),  # type: ignore[misc]
            )
            for name, kind in (("M/D/1", "fixed"), ("M/M/1", "exponential"))
            for log in (folder / f"{kind}.log",)
        ),
    )


def search_queue(queue: Queue, folder: Path) -> tuple[str, bool]:
    """A row of the table, and whether the limit was found."""
    values = {
        "name": "queue",
        "services": [{"name": "queue", "command": list(queue.command), "http": {"path": "/"}}],
        "loads": [{"closed": {"users": 1}}],
        "window": {"duration": WINDOW},
    }
    objective = Objective.parse(f"p{100 * SHARE:.0f}<{1e3 * queue.response_s:.0f}ms")
    question = LimitQuestion(
        yaml.safe_dump(values), "queue", objective, PROBES_MAX, WINDOW_MAX_S, curve=False
    )
    answer = limit(question, folder, Silent())
    truth, found = queue.truth(), answer.limit
    low, high = found.bounds or (0.0, 0.0)
    off = found.estimate / truth - 1.0
    state = "" if answer.found.is_measurable else ", not measurable"
    row = (
        f"| {queue.name} | {objective.text} | {truth:.1f} | {found.estimate:.1f} ({low:.1f} to "
        f"{high:.1f}){state} | {100 * off:+.1f} % | {answer.found.window_s:g} s | "
        f"{answer.found.trials} |"
    )
    return row, answer.found.is_measurable and abs(off) <= WITHIN


def main(folder: Path) -> int:
    """Searches each limit and writes the page's part."""
    folder.mkdir(parents=True, exist_ok=True)
    rows, is_right = [], True
    for number, queue in enumerate(queues(folder), 1):
        row, is_found = search_queue(queue, folder / f"queue-{number}")
        rows.append(row)
        is_right &= is_found
        print(row, flush=True)
    facts = machine.describe()
    head = (
        "| queue | objective | known limit, 1/s | found (95 %) | off | longest window | trials |",
        "|---|---|---|---|---|---|---|",
    )
    measured = f"Measured {datetime.now(UTC):%Y-%m-%d} on {facts['cpu']}, {facts['cores']} cores."
    replace_part(PAGE, "known capacities", [measured, "", *head, *rows])
    return 0 if is_right else 1


if __name__ == "__main__":
    sys.exit(main(Path(sys.argv[1])))
