"""What a farm of 1,000 hosts costs its front: docs/reference/machines.md.

``python -m tools.farm_simulation RUN [TRIALS]``: the front's own bookkeeping (plan of blocks,
journal, files, progress) with hosts that measure nothing: each returns the line and the files of
the first trial in RUN. Hosts are lost and come back, and some trials have no result. A journal
holds about 13,000 trials, so that the whole is several runs, each in a folder that is removed. The
CPU time of the simulated hosts is measured and left out.
"""

from __future__ import annotations

import contextlib
import heapq
import json
import random
import shutil
import sys
import tempfile
import time
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from wirelab.experiment import loading
from wirelab.experiment import matrix as planning
from wirelab.experiment.matrix import Schedule
from wirelab.farm.transport import Begun, Files, HostLine, HostLost
from wirelab.format.console import Console
from wirelab.process.interruption import Interruption
from wirelab.run import journal
from wirelab.run.directory import RunDirectory
from wirelab.run.farming import Front
from wirelab.run.progress import OnConsole
from wirelab.stack import manifests

HOSTS = 1_000
TRIALS = 100_000
CELLS = 50
REPEATS = 250
"""Of one run: 12,500 trials."""
LOST_SHARE = 0.01
"""Of the trials: their host is lost, and another measures them."""
FAILED_SHARE = 0.001
"""Of the trials: they have no result at all."""
TRIAL_S = 3.0
GONE_S = 20.0
"""For which a lost host is gone, simulated seconds."""


@dataclass
class Template:
    """A real trial."""

    line: dict[str, object]
    files: Files

    @classmethod
    def read(cls, run: Path) -> Template:
        """The first trial of a run directory."""
        with (run / journal.NAME).open(encoding="utf-8") as lines:
            line = json.loads(next(lines))
        folder = run / "trials" / line["id"]
        files = {path.name: path.read_bytes() for path in folder.iterdir() if path.is_file()}
        return cls(line, files)


@dataclass
class SimulatedFarm:
    """A :class:`wirelab.farm.transport.Transport` with a clock of its own."""

    planned: Schedule
    template: Template
    random: random.Random
    now_s: float = 0.0
    cpu_s: float = 0.0
    """Of the simulation itself."""
    lost: int = 0
    _under_way: list[tuple[float, int]] = field(default_factory=list)
    _begun: dict[int, tuple[str, int]] = field(default_factory=dict)
    _gone: dict[str, float] = field(default_factory=dict)
    _number: int = 0

    @contextlib.contextmanager
    def _count(self) -> Iterator[None]:
        began = time.process_time()
        yield
        self.cpu_s += time.process_time() - began

    def hosts(self) -> Sequence[str]:
        with self._count():
            self._gone = {h: until for h, until in self._gone.items() if until > self.now_s}
            names = (f"10.0.{n // 250}.{n % 250 + 1}" for n in range(HOSTS))
            return [name for name in names if name not in self._gone]

    def begin(self, host: str, order: int, earlier: str) -> Begun:
        with self._count():
            self._number += 1
            takes_s = TRIAL_S * self.random.uniform(0.9, 1.2)
            if self.random.random() < LOST_SHARE:
                self.lost += 1
                self._gone[host] = self.now_s + GONE_S
                takes_s += TRIAL_S
            heapq.heappush(self._under_way, (self.now_s + takes_s, self._number))
            self._begun[self._number] = (host, order)
            return self._number

    def wait(self, begun: Collection[Begun], seconds: float) -> Sequence[Begun]:
        with self._count():
            until = self.now_s + seconds
            over: list[Begun] = []
            while self._under_way and self._under_way[0][0] <= until:
                over.append(heapq.heappop(self._under_way)[1])
            self.now_s = until
            return over

    def result(self, begun: Begun) -> Sequence[HostLine]:
        with self._count():
            assert isinstance(begun, int)
            host, order = self._begun.pop(begun)
            if self.random.random() < FAILED_SHARE:
                raise HostLost(f"{host} was lost, and no other node took over")
            trial = self.planned.trials[order]
            changes = {"id": trial.id, "repeat": trial.repeat, "order": order, "node": host}
            line = json.dumps({**self.template.line, **changes}, separators=(",", ":"))
            return [HostLine(line.encode(), ((trial.id, self.template.files),))]

    def cancel(self, begun: Collection[Begun]) -> None:
        assert not begun


def _experiment(number: int) -> str:
    sizes = ", ".join(f"{{operation: Hello, bytes: {14 + at} B}}" for at in range(CELLS // 2))
    return (
        f"name: simulated\nseed: {number}\nservices: [rest@rust, grpc@rust]\n"
        f"messages: [{sizes}]\nloads: [closed: {{users: 2}}]\nwindow: {{duration: 1 s}}\n"
        f"design: trials\nrepeats: {REPEATS}\n"
    )


def _read_memory() -> int:
    """Resident bytes of this process."""
    pages = Path("/proc/self/statm").read_text(encoding="ascii").split()[1]
    return int(pages) * 4096


@dataclass
class Cost:
    """Of all runs."""

    trials: int = 0
    cpu_s: float = 0.0
    disk_bytes: int = 0
    lost: int = 0
    failed: int = 0
    memory: list[int] = field(default_factory=list)
    """At the end of each tenth of a run, in bytes."""


class Watched(OnConsole):
    """The progress of a run, which also looks at the memory."""

    def __init__(self, console: Console, cost: Cost, every: int) -> None:
        super().__init__(console)
        self._cost, self._every, self._ended = cost, every, 0

    def end_trial(self, trial: object) -> None:
        super().end_trial(trial)  # type: ignore[arg-type]  # a Trial
        self._ended += 1
        if self._ended % self._every == 0:
            self._cost.memory.append(_read_memory())


def _simulate(template: Template, number: int, cost: Cost) -> None:
    text = _experiment(number)
    experiment = loading.parse(text)
    planned = planning.schedule(experiment, manifests.load())
    farm = SimulatedFarm(planned, template, random.Random(number))
    where = Path(tempfile.mkdtemp(prefix="farm-simulation-"))
    try:
        with RunDirectory(where / "run", experiment, text) as directory:
            progress = Watched(Console(), cost, len(planned.trials) // 10)
            front = Front(
                experiment,
                planned,
                directory,
                farm,
                progress,
                Interruption(),
                clock=lambda: farm.now_s,
            )
            before = time.process_time()
            with (
                Path("/dev/null").open("w", encoding="utf-8") as nowhere,
                contextlib.redirect_stdout(nowhere),
            ):
                todo = front.begin(HOSTS, retry_failed=False, repeat=True)
                front.measure_all(todo, where)
            cost.cpu_s += time.process_time() - before - farm.cpu_s
        lines = (where / "run" / journal.NAME).read_bytes().splitlines()
        assert len(lines) == len(planned.trials), "a trial is missing"
        cost.trials += len(lines)
        cost.lost += farm.lost
        cost.failed += sum(b'"status":"failed"' in line for line in lines)
        every = (path.stat().st_blocks for path in (where / "run").rglob("*"))
        cost.disk_bytes += 512 * sum(every)
    finally:
        shutil.rmtree(where)


def main() -> int:
    run, *number = sys.argv[1:]
    template, cost = Template.read(Path(run)), Cost()
    runs = -(-(int(number[0]) if number else TRIALS) // (CELLS * REPEATS))
    for one in range(runs):
        _simulate(template, one + 1, cost)
        low, high = min(cost.memory) / 1e6, max(cost.memory) / 1e6
        print(
            f"{cost.trials:,} trials on {HOSTS:,} hosts in {one + 1} runs: "
            f"{1e3 * cost.cpu_s / cost.trials:.2f} ms of CPU per trial, memory {low:.0f} to "
            f"{high:.0f} MB, disk {cost.disk_bytes / 1e9:.2f} GB; {cost.lost:,} trials met a host "
            f"that was lost, {cost.failed:,} failed",
            flush=True,
        )
    return 0


if __name__ == "__main__":
    sys.exit(main())
