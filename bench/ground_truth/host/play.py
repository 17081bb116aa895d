"""Calls a service that knows why it was late, and compares what a dissection with the record of
its host says.

``.venv/bin/python -m bench.ground_truth.host`` prints the table; ``--publish`` writes it into
docs/reference/host.md. As root, about two minutes.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import signal
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterable, Iterator
from contextlib import ExitStack
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from statistics import median
from typing import Any

from bench import machine
from bench.ground_truth.scoring import FLOWS_MAX, SECONDS_MAX
from bench.pages import marked_parts
from wirelab.errors import LabError, TrialFailed
from wirelab.format.counting import format_count
from wirelab.process import engine_binary
from wirelab.process.children import POLL_S, Child, ProcessOptions
from wirelab.process.interruption import Interruption
from wirelab.statistics.distributions import binomial_interval
from wirelab.trial.stages.capture import Capture, CaptureSpec
from wirelab.trial.stages.host import HostRecording
from wirelab.trial.stages.link import End

PAGE = Path(__file__).resolve().parents[3] / "docs/reference/host.md"
COUNT = 200
"""Calls of each kind."""
COUNT_MIN = 150
"""Calls of each part, of a score that can be published."""
LIMIT = 0.9
"""Least lower end of the intervals of precision and recall."""
SETTLE_S = 0.4
ROUND = 10
"""Calls of one kind in a row, on one connection."""
PARTS = ("running", "runnable", "timer", "lock", "network", "unread")
KINDS = ("burn", "sleep", "lock", "other", "behind", "unread")
MS = (6.0, 14.0)
"""What a call takes, drawn from these."""
HOGS = 3
"""Processes that compute on the service's core while it is to wait behind them."""
CLEAR = 1.5
"""A truth is clear if its longest part is this many times as long as its second."""
CLEAR_MS = 4.0
"""It takes this time at least: shorter times are not a finding (docs/reference/diagnosis.md)."""

Json = dict[str, Any]
Parts = dict[str, float]
Key = tuple[int, int]
"""The client's port, and the number of the exchange on that connection."""


@dataclass
class Tally:
    """Of one part."""

    right: int = 0
    missed: int = 0
    false: int = 0
    off_ms: list[float] = field(default_factory=list)
    """How far the recorded time is from the true one."""

    @property
    def occurrences(self) -> int:
        return self.right + self.missed


@dataclass
class Total:
    """Of all calls."""

    tallies: dict[str, Tally] = field(default_factory=lambda: {name: Tally() for name in PARTS})
    unclear: int = 0
    """Calls of which no single part is the cause."""
    drops: int = 0
    disagreements: list[str] = field(default_factory=list)


def main() -> int:
    """1 where a limit is missed, 2 where it could not be measured."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--count", type=int, default=COUNT, help="calls of each kind")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--out", type=Path, help="folder for captures (default: a new one)")
    parser.add_argument("--publish", action="store_true", help="write the page's part again")
    options = parser.parse_args()
    if options.publish and options.count < COUNT_MIN:
        parser.error(f"--publish: at least {COUNT_MIN} calls of each kind are needed")
    out = options.out or Path(tempfile.mkdtemp(prefix="wirelab-host-"))
    try:
        with Interruption() as interruption:
            total = measure(options.count, options.seed, out, interruption)
    except LabError as error:
        print(error, file=sys.stderr)
        return 2
    print(*total.disagreements[:60], sep="\n")
    print(*table(total), sep="\n")
    missing = misses(total)
    print(*missing, sep="\n")
    if options.publish:
        lines = [_describe_machine(), "", *table(total)]
        PAGE.write_text(marked_parts.replace_part(PAGE.read_text(), "truth", lines))
    return 1 if missing else 0


def measure(count: int, seed: int, out: Path, interruption: Interruption) -> Total:
    """Makes the calls, records, dissects and compares. Raises :class:`LabError`."""
    out.mkdir(parents=True, exist_ok=True)
    total = Total()
    truth = _play_calls(count, seed, out, total, interruption)
    found = _read_findings(out)
    for key, (kind, parts) in truth.items():
        _compare(total, kind, parts, found.get(key), f"port {key[0]} exchange {key[1]}")
    return total


def _play_calls(
    count: int, seed: int, out: Path, total: Total, interruption: Interruption
) -> dict[Key, tuple[str, Parts]]:
    """What each call waited for, by the service's own clocks."""
    core = max(os.sched_getaffinity(0))
    (out / "capture.pcapng").unlink(missing_ok=True)
    (out / "host.records").unlink(missing_ok=True)
    with ExitStack() as held:
        command = [sys.executable, "-m", "bench.ground_truth.host.service"]
        service = Child(command, ProcessOptions(log=out / "service.log", cores=(core,)))
        held.callback(service.kill)
        port = _line(service, interruption)["port"]
        hogs = Hogs(core)
        held.callback(hogs.end)
        spec = CaptureSpec("server", End(), out / "capture.pcapng", port=port)
        capture = held.enter_context(
            Capture(spec, cores=(), log=out / "capture.log", interruption=interruption)
        )
        recording = held.enter_context(
            HostRecording(
                (service.pid,),
                out / "host.records",
                log=out / "host.log",
                interruption=interruption,
            )
        )
        lines: list[Json] = []
        rng = random.Random(seed)
        rounds = [kind for kind in KINDS for _ in range(-(-count // ROUND))]
        rng.shuffle(rounds)
        for kind in rounds:
            interruption.check()
            calls = _round(kind, port, rng, hogs, min(ROUND, count))
            # Read after each round: a full pipe would stop the service.
            lines += [_line(service, interruption) for _ in range(calls)]
        time.sleep(SETTLE_S)
        recorded, captured = recording.finish(), capture.finish()
        total.drops = recorded.drops
        if captured.drops:
            raise TrialFailed(f"{format_count(captured.drops, 'packet')} were not captured")
    return {(line["client"], line["exchange"]): (line["kind"], line["truth"]) for line in lines}


class Hogs:
    """Processes that compute on one core, when they are let."""

    def __init__(self, core: int) -> None:
        burn = f"import os\nos.sched_setaffinity(0, [{core}])\nwhile True: pass"
        self._all = [subprocess.Popen([sys.executable, "-c", burn]) for _ in range(HOGS)]
        self.pause()

    def pause(self) -> None:
        self._signal(signal.SIGSTOP)

    def go(self) -> None:
        self._signal(signal.SIGCONT)

    def end(self) -> None:
        self._signal(signal.SIGKILL)
        for one in self._all:
            one.wait()

    def _signal(self, number: signal.Signals) -> None:
        for one in self._all:
            one.send_signal(number)


def _round(kind: str, port: int, rng: random.Random, hogs: Hogs, calls: int) -> int:
    """Some calls of one kind, on connections of their own; how many answers came."""
    with _connect(port) as one, _connect(port) as other:
        for _ in range(calls):
            ms = rng.uniform(*MS)
            if kind == "behind":
                hogs.go()
                _send(one, "burn", ms / 2)
                _take(one)
                hogs.pause()
            elif kind == "unread":
                _send(other, "burn", ms)
                time.sleep(0.001)
                _send(one, "burn", 0.05)
                _take(other)
                _take(one)
            else:
                _send(one, kind, ms)
                _take(one)
            time.sleep(0.001)
    return 2 * calls if kind == "unread" else calls


def _connect(port: int) -> socket.socket:
    connection = socket.create_connection(("127.0.0.1", port), timeout=30.0)
    connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    return connection


def _send(connection: socket.socket, kind: str, ms: float) -> None:
    target = f"/{kind}/{ms:.3f}?sent={time.monotonic_ns()}"
    connection.sendall(f"GET {target} HTTP/1.1\r\nHost: service\r\n\r\n".encode())


def _take(connection: socket.socket) -> None:
    taken = b""
    while not taken.endswith(b"ok"):
        more = connection.recv(4_096)
        if not more:
            raise TrialFailed("the service closed a connection")
        taken += more


def _line(child: Child, interruption: Interruption) -> Json:
    deadline = time.monotonic() + SECONDS_MAX
    while time.monotonic() < deadline:
        interruption.check()
        line = child.line(POLL_S)
        if line == b"":
            break
        if line is not None:
            decoded: Json = json.loads(line)
            return decoded
    raise TrialFailed(f"the service printed nothing more ({child.log_tail()})")


def _read_findings(out: Path) -> dict[Key, Parts]:
    """The parts of every finding server-think-time."""
    command = [
        *(str(engine_binary.find()), "dissect", str(out / "capture.pcapng"), "--json"),
        *("--all-findings", "--flows", str(FLOWS_MAX), "--host", str(out / "host.records")),
    ]
    done = subprocess.run(command, capture_output=True, timeout=SECONDS_MAX, check=False)
    if done.returncode != 0:
        raise TrialFailed(f"dissect: {done.stderr.decode('utf-8', 'replace').strip()}")
    document = json.loads(done.stdout)
    ports = {
        flow["flow"]: int(flow["client"].rpartition(":")[2]) for flow in document["flows"]["list"]
    }
    return {
        (ports[one["flow"]], one["exchange"]): one["host_ms"]
        for finding in document["findings"]
        if finding["cause"] == "server-think-time"
        for one in finding["where"]
    }


def _compare(total: Total, kind: str, truth: Parts, found: Parts | None, where: str) -> None:
    longest, second = (*sorted(truth.values(), reverse=True), 0.0)[:2]
    if longest < CLEAR_MS or longest < CLEAR * second:
        total.unclear += 1
        return
    true = max(truth, key=truth.__getitem__)
    blamed = max(found, key=found.__getitem__) if found else "nothing"
    if found:
        total.tallies[true].off_ms.append(abs(found.get(true, 0.0) - truth[true]))
    if blamed == true:
        total.tallies[true].right += 1
        return
    total.tallies[true].missed += 1
    if blamed in total.tallies:
        total.tallies[blamed].false += 1
    total.disagreements.append(
        f"{where} ({kind}): {_format_parts(truth)}, recorded {_format_parts(found or {})}"
    )


def _format_parts(parts: Parts) -> str:
    return ", ".join(f"{part} {ms:.1f} ms" for part, ms in parts.items() if ms >= 0.05) or "nothing"


HEAD = ("part", "occurrences", "found", "false", "missed", "precision", "recall", "off by")


def table(total: Total) -> list[str]:
    """As Markdown, and what was left out."""
    rows = [HEAD, ("---",) * len(HEAD), *_rows(total)]
    lines = [f"| {' | '.join(row)} |" for row in rows]
    words = (
        f"{format_count(total.unclear, 'call')} with no clear cause were left out; the kernel "
        "dropped "
        f"{format_count(total.drops, 'record')}."
    )
    return [*lines, "", words]


def _rows(total: Total) -> Iterator[tuple[str, ...]]:
    for part, tally in total.tallies.items():
        off = f"{median(tally.off_ms):.2f} ms" if tally.off_ms else "–"
        yield (
            f"`{part}`",
            str(tally.occurrences),
            str(tally.right),
            str(tally.false),
            str(tally.missed),
            _share(tally.right, tally.right + tally.false),
            _share(tally.right, tally.occurrences),
            off,
        )


def _share(hits: int, n: int) -> str:
    if n == 0:
        return "–"
    share = binomial_interval(hits, n)
    return f"{share.estimate:.3f} [{share.low:.3f}, {share.high:.3f}]"


def misses(total: Total) -> list[str]:
    """The parts whose lower limits are too low, or of which there are too few calls."""
    return list(_misses(total.tallies.items()))


def _misses(tallies: Iterable[tuple[str, Tally]]) -> Iterator[str]:
    for part, tally in tallies:
        if tally.occurrences < COUNT_MIN:
            yield f"{part}: {tally.occurrences} occurrences, at least {COUNT_MIN} are needed"
            continue
        for name, n in (("precision", tally.right + tally.false), ("recall", tally.occurrences)):
            low = (binomial_interval(tally.right, n).low or 0.0) if n else 0.0
            if low < LIMIT:
                yield f"{part}: the lower limit of {name} is {low:.3f}, below {LIMIT}"


def _describe_machine() -> str:
    facts = machine.facts({})
    return (
        f"Taken on {datetime.now(UTC):%Y-%m-%d} at revision {facts['revision']}: "
        f"{facts['processor']}, {len(facts['cores'])} cores, Linux {facts['kernel']}."
    )


if __name__ == "__main__":
    sys.exit(main())
