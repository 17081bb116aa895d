"""`wirelab limit` on queues whose limit theory gives: `make known-capacities`.

Writes its part of docs/reference/compare.md: K workers with a fixed service time, at which 90 %
of all calls are answered within 60 ms up to a rate that queueing theory knows.
"""

from __future__ import annotations

import sys
from datetime import UTC, datetime
from pathlib import Path

import yaml

from tools.marked_part import replace_part
from tools.queueing import rate_at
from wirelab.comparisons.limit import Acceptance, LimitQuestion, Objective, limit
from wirelab.process import machine
from wirelab.run.progress import Silent

PAGE = Path("docs/reference/compare.md")
SERVER = Path("tests/python/queue_server.py").resolve()
WITHIN = 0.03
RESPONSE_S, SHARE = 0.06, 0.9
QUEUES = ((1, 10), (2, 10), (4, 10))
"""Workers, and milliseconds of a call."""
PROBES_MAX = 60


def main(folder: Path) -> int:
    """Searches each limit and writes the page's part."""
    rows, is_right = [], True
    for workers, milliseconds in QUEUES:
        command = [sys.executable, str(SERVER), "{port}", str(workers), str(milliseconds)]
        values = {
            "name": "queue",
            "services": [{"name": "queue", "command": command, "http": {"path": "/"}}],
            "loads": [{"closed": {"users": 1}}],
            "window": {"duration": f"{max(5, 2_000 * milliseconds // (100 * workers))} s"},
        }
        question = LimitQuestion(
            yaml.safe_dump(values),
            "queue",
            Objective.parse(f"p{100 * SHARE:.0f}<{1e3 * RESPONSE_S:.0f}ms"),
            PROBES_MAX,
            curve=False,
            accept=Acceptance(),
        )
        name = f"queue-{workers}-{milliseconds}ms"
        answer = limit(question, folder / name, Silent())
        truth = rate_at(SHARE, RESPONSE_S, workers, milliseconds / 1e3)
        low, high = answer.limit.bounds or (0.0, 0.0)
        off = answer.limit.estimate / truth - 1.0
        is_right &= abs(off) <= WITHIN
        rows.append(
            f"| {workers} | {milliseconds} ms | {truth:.1f} | {answer.limit.estimate:.1f} "
            f"({low:.1f} to {high:.1f}) | {100 * off:+.1f} % | {len(answer.found.probes)} |"
        )
        print(rows[-1], flush=True)
    facts = machine.describe()
    replace_part(
        PAGE,
        "known capacities",
        [
            f"Measured {datetime.now(UTC):%Y-%m-%d} on {facts['cpu']}, {facts['cores']} cores.",
            "",
            "| workers | time of a call | limit by theory, 1/s | found (95 %) | off | trials |",
            "|---|---|---|---|---|---|",
            *rows,
        ],
    )
    return 0 if is_right else 1


if __name__ == "__main__":
    sys.exit(main(Path(sys.argv[1])))
