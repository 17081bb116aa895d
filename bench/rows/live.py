"""What dissecting live costs: the packets that pass under it, over those under a capture alone."""

from __future__ import annotations

import os
import signal
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from statistics import median

import msgspec

from bench import engine
from bench.bounds import Ratio
from bench.engine import Load
from bench.process import BenchError, NotHere, Reading
from bench.races import CLIENT_CORE, SERVER_CORE, Contender, measure
from bench.servers import ENGINE, REST_SMALL, Running, run_service
from wirelab.errors import LabError, TrialFailed
from wirelab.process.children import POLL_S, Child, ProcessOptions
from wirelab.process.interruption import Interruption
from wirelab.process.managed import Refused
from wirelab.trial.stages.capture import Capture, CaptureSpec
from wirelab.trial.stages.link import End

CAPTURED, LIVE = "captured", "dissected live"
RATE_MIN = 0.9
"""Least share of the packets of a capture alone."""
READY_S_MAX, END_S_MAX = 10.0, 30.0
LOAD = Load(50)


@dataclass(frozen=True)
class Watched:
    """One load under one of both."""

    reading: Reading
    packets: int
    drops: int

    @property
    def packets_per_s(self) -> float:
        """That were taken from the kernel."""
        return self.packets / self.reading.wall_s


@dataclass(frozen=True)
class Followed:
    """Every round of the row."""

    rounds: list[dict[str, Watched]]

    @property
    def figures(self) -> list[Ratio]:
        """Live over captured, within each round."""
        values = tuple(rnd[LIVE].packets_per_s / rnd[CAPTURED].packets_per_s for rnd in self.rounds)
        return [Ratio("packets/s, live", CAPTURED, values, at_least=RATE_MIN)]

    def median_per_s(self, name: str) -> float:
        """Packets that were taken in a second."""
        return median(rnd[name].packets_per_s for rnd in self.rounds)

    def drops(self, name: str) -> int:
        """Packets that the kernel had no room for, of all rounds."""
        return sum(rnd[name].drops for rnd in self.rounds)

    @property
    def others_share(self) -> float:
        """Median share of the two cores that went to neither side of the load."""
        return median(one.reading.others_share for rnd in self.rounds for one in rnd.values())


class _Capture(msgspec.Struct):
    packets: int
    drops: int | None = None


class _Dissection(msgspec.Struct):
    capture: _Capture


class _Line(msgspec.Struct):
    """A line of ``wirelab-engine live``, as far as it is needed."""

    ready: dict[str, object] | None = None
    dissection: _Dissection | None = None


def run(pairs: int, seconds: float) -> Followed:
    """`pairs` rounds of both over loopback; every second one begins with the live dissection.

    Raises:
        NotHere: no root.
        BenchError: a service or a capture could not be had, or a call failed.
    """
    if os.geteuid() != 0:
        raise NotHere("captures need root")
    with run_service(REST_SMALL, SERVER_CORE) as served:
        given = engine.write_plan(
            REST_SMALL, served.address, LOAD, "frame", {"duration_s": seconds}
        )
        contender = Contender(CAPTURED, engine.COMMAND, given, engine.count)
        measure(contender, served)
        try:
            return Followed([_round(contender, served, number) for number in range(pairs)])
        except Refused as refused:
            raise BenchError(f"{refused.message}; {refused.remedy}") from refused
        except (TrialFailed, LabError) as error:
            raise BenchError(str(error)) from error


def _round(contender: Contender, served: Running, number: int) -> dict[str, Watched]:
    port = int(served.address.rpartition(":")[2])
    order = [(CAPTURED, _capture), (LIVE, _live)]
    rnd = {
        name: watch(contender, served, port)
        for name, watch in (order if number % 2 == 0 else order[::-1])
    }
    return {name: rnd[name] for name in (CAPTURED, LIVE)}


def _capture(contender: Contender, served: Running, port: int) -> Watched:
    with tempfile.TemporaryDirectory() as folder:
        spec = CaptureSpec("client", End(), Path(folder) / "capture.pcapng", port)
        log = Path(folder) / "capture.log"
        with Capture(spec, cores=_spare(), log=log, interruption=Interruption()) as capture:
            reading = measure(contender, served)
            captured = capture.finish()
    return Watched(reading, captured.packets, captured.drops)


def _live(contender: Contender, served: Running, port: int) -> Watched:
    with tempfile.TemporaryDirectory() as folder, _watch(port, Path(folder)) as child:
        reading = measure(contender, served)
        child.signal(signal.SIGINT)
        dissection = _read_line(child, END_S_MAX).dissection
    if dissection is None:
        raise BenchError("live: no dissection at the end")
    seen = dissection.capture
    return Watched(reading, seen.packets, seen.drops or 0)


def _spare() -> tuple[int, ...]:
    """Cores that neither side of the load uses, as a trial has it."""
    return tuple(sorted(os.sched_getaffinity(0) - {SERVER_CORE, CLIENT_CORE}))


@contextmanager
def _watch(port: int, folder: Path) -> Iterator[Child]:
    command = [str(ENGINE), "live", "--interface", "lo", "--port", str(port)]
    child = Child(command, ProcessOptions(log=folder / "live.log", cores=_spare()))
    try:
        if _read_line(child, READY_S_MAX).ready is None:
            raise BenchError(f"live: not ready: {child.log_tail()}")
        yield child
    finally:
        child.kill()


def _read_line(child: Child, seconds: float) -> _Line:
    """The next line that is not the account of a second."""
    deadline = time.monotonic() + seconds
    while time.monotonic() < deadline:
        text = child.line(POLL_S)
        if text == b"":
            raise BenchError(f"live ended: {child.log_tail()}")
        line = msgspec.json.decode(text, type=_Line) if text else _Line()
        if line.ready is not None or line.dissection is not None:
            return line
    raise BenchError(f"live printed nothing in {seconds:.0f} s")
