"""What the patterns of a load cost the engine, in instructions per call.

``python -m bench.instructions`` runs the engine under callgrind, without and with each pattern,
and prints instructions per call and their ratio to the plain closed load. Two counts of calls
per run: the slope between them leaves start and end of the process out. Instructions differ far
less from run to run than time does, so a cost of 1 % shows on a busy machine, too; what they do
not show is caches and the kernel's own work.

Needs valgrind, and an engine with line numbers, as `cargo build --release -p wirelab-engine`
makes it.
"""

from __future__ import annotations

import argparse
import json
import re
import shutil
import sys
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import median
from typing import Any

from bench import engine
from bench.process import BenchError, run_on_core
from bench.races import CLIENT_CORE, SERVER_CORE
from bench.servers import ENGINE, Running, run_service
from wirelab.process.services import Settings
from wirelab.stack.reference import Stack

USERS = 32
CALLS = (20_000, 60_000)
"""Calls of the two runs whose difference is taken."""
WINDOW_S_MAX = 300.0
AT_MOST = 1.03
"""Of the plain load's instructions per call."""
AT_MOST_WITH_PAUSES = 1.1
"""A pause is a timer and one more look at the connection after it, some 400 instructions. Next to
the kernel's part of a call, which is not counted here, that is about 1 % of the CPU of a call."""
STACK = Stack.parse("rest@rust")
PLAIN = "plain closed load"

Json = dict[str, Any]

CALL: Json = {"kind": "contract", "contract": "charging", "operation": "CreditControl"}
CLOSED: Json = {"kind": "closed", "users": USERS}
ROWS: Json = {
    "kind": "random",
    "count": 1000,
    "fields": {"id": {"kind": "integer", "min": 1, "max": 1000}},
}
LEVEL = [{"to": USERS, "duration_s": 0.0}, {"to": USERS, "duration_s": WINDOW_S_MAX}]


@dataclass(frozen=True)
class Pattern:
    """Groups that make the same call, one with a pattern."""

    name: str
    workload: Json
    load: Json
    background_users: int = 0
    """Of a second group, which are taken from the first."""
    at_most: float = AT_MOST

    def plan(self, target: str, calls: int) -> Json:
        """The engine's plan that makes `calls` calls at `target`."""
        stack = {**STACK.engine_stack(), "connection": "keep"}
        window = {"calls": {"calls": calls, "max_s": WINDOW_S_MAX}}
        plan = engine.one_group(
            {"target": target}, stack, self.workload, engine.Load(USERS), window
        )
        [probe] = plan["groups"]
        probe["load"] = {**self.load, "users": USERS - self.background_users}
        if self.background_users:
            load = {**CLOSED, "users": self.background_users}
            plan["groups"].append({**probe, "name": "background", "load": load})
        return {**plan, "wait": "sleep"}


PATTERNS = (
    Pattern(PLAIN, CALL, CLOSED),
    Pattern(
        "mix of one operation", {"kind": "mix", "parts": [{"weight": 1, "workload": CALL}]}, CLOSED
    ),
    Pattern("a row of data per call", {**CALL, "data": {"rows": ROWS}}, CLOSED),
    *(
        Pattern(
            f"{think} think time of 1 ms",
            CALL,
            {**CLOSED, "think_s": 0.001, "think": think},
            at_most=AT_MOST_WITH_PAUSES,
        )
        for think in ("constant", "exponential")
    ),
    Pattern("stages", CALL, {**CLOSED, "stages": LEVEL}),
    Pattern("half of the users in a background group", CALL, CLOSED, USERS // 2),
)


class _Service:
    """What answers, outside of callgrind."""

    @staticmethod
    def configuration() -> Json:
        return Settings().configuration(STACK, "charging")


def instructions(program: Path, pattern: Pattern, target: str, calls: int) -> tuple[int, int]:
    """Calls that ended in the whole run, of all groups, and instructions of the whole process.

    Raises:
        BenchError: a call failed, or callgrind gave no count.
    """
    with tempfile.TemporaryDirectory() as scratch:
        out = Path(scratch) / "callgrind.out"
        command = ["valgrind", "--tool=callgrind", f"--callgrind-out-file={out}"]
        given = json.dumps(pattern.plan(target, calls)) + "\n"
        finished = run_on_core(CLIENT_CORE, [*command, str(program), "drive"], given)
        groups = engine.result(finished)["groups"]
        if any(group["errors"] for group in groups):
            raise BenchError(f"{pattern.name}: {[group['error_examples'] for group in groups]}")
        found = re.search(r"^(?:summary|totals): (\d+)", out.read_text(), re.MULTILINE)
    if found is None:
        raise BenchError(f"{pattern.name}: callgrind counted nothing: {finished.errors}")
    return sum(group["calls_whole_run"] for group in groups), int(found[1])


def count_per_call(program: Path, pattern: Pattern, target: str, calls: Sequence[int]) -> float:
    """Instructions of one call more. Raises :class:`BenchError` as :func:`instructions` does."""
    (few, least), (many, most) = (instructions(program, pattern, target, count) for count in calls)
    return (most - least) / (many - few)


def main() -> int:
    """0 when no pattern costs more than is promised, 1 when one does, 2 without valgrind."""
    parser = argparse.ArgumentParser(prog="python -m bench.instructions", description=__doc__)
    parser.add_argument("--engine", type=Path, default=ENGINE, help="default: %(default)s")
    parser.add_argument("--rounds", type=int, default=3, help="the median of these counts")
    options = parser.parse_args()
    if shutil.which("valgrind") is None:
        print("bench: valgrind is not there: apt-get install valgrind", file=sys.stderr)
        return 2
    with run_service(_Service(), SERVER_CORE) as service:
        found = {one.name: _median(options, one, service) for one in PATTERNS}
    ratios = {one.name: found[one.name] / found[PLAIN] for one in PATTERNS}
    for one in PATTERNS:
        name = one.name
        print(f"{name:42} {found[name]:9,.0f} {ratios[name]:7.3f}  at most {one.at_most:g}")
    exceeded = [one.name for one in PATTERNS if ratios[one.name] > one.at_most]
    print(f"above the bound: {', '.join(exceeded) or 'none'}")
    return int(bool(exceeded))


def _median(options: argparse.Namespace, pattern: Pattern, service: Running) -> float:
    return median(
        count_per_call(options.engine, pattern, service.address, CALLS)
        for _ in range(options.rounds)
    )


if __name__ == "__main__":
    sys.exit(main())
