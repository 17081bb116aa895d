"""What a capture costs those who are captured: the same load with and without one, in turns."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from statistics import median
from typing import Any

from bench import engine
from bench.bounds import Ratio
from bench.engine import Load
from bench.process import BenchError, NotHere, Reading
from bench.races import CLIENT_CORE, SERVER_CORE, Contender, measure
from bench.servers import GRPC_SMALL, REST_SMALL, Running, Service, run_service
from wirelab.documents.link import Measure
from wirelab.errors import LabError, TrialFailed
from wirelab.process.interruption import Interruption
from wirelab.process.managed import Refused
from wirelab.records.link import CaptureRecord
from wirelab.trial.stages.capture import Capture, CaptureSpec
from wirelab.trial.stages.link import AnyLink, Link, LinkSpec, Loopback

WITHOUT, WITH = "without", "with a capture"
LINKS = ("loopback", "lan")
FIGURES: dict[str, Callable[[Reading], float]] = {
    "requests/s": lambda reading: reading.rate_per_s,
    "p50": lambda reading: reading.p50_us or 0.0,
    "client CPU per call": lambda reading: reading.subtract_spinning().client_us_per_call,
}
"""Of which the ratio is taken. No reading is without p50: the engine says it."""

Json = dict[str, Any]


@dataclass(frozen=True)
class Stack:
    """What is called, and how much at a time."""

    name: str
    service: Service
    load: Load


STACKS = (
    Stack("rest@rust", REST_SMALL, Load(50)),
    Stack("grpc@rust", GRPC_SMALL, Load(10, 10)),
)


@dataclass(frozen=True)
class Ablation:
    """One stack over one link: every round without and with a capture."""

    stack: str
    link: str
    rounds: list[dict[str, Reading]]
    captured: list[CaptureRecord]

    @property
    def ratios(self) -> list[Ratio]:
        """With a capture over without, within each round."""
        where = f"{self.stack} over {self.link}"
        return [
            Ratio(name, where, tuple(of(rnd[WITH]) / of(rnd[WITHOUT]) for rnd in self.rounds))
            for name, of in FIGURES.items()
        ]

    @property
    def drops(self) -> int:
        """Packets that were not captured, of all rounds."""
        return sum(one.drops for one in self.captured)

    @property
    def capture_us(self) -> float:
        """CPU of the capture's process per packet, microseconds; median."""
        return median((one.cpu_s or 0.0) / max(one.packets, 1) * 1e6 for one in self.captured)

    @property
    def packets_per_s(self) -> float:
        """Captured in each second of the load; median."""
        pairs = zip(self.captured, self.rounds, strict=True)
        return median(one.packets / rnd[WITH].wall_s for one, rnd in pairs)

    @property
    def others_share(self) -> float:
        """Median share of the two cores that went to neither side, nor to the capture."""
        return median(one.others_share for rnd in self.rounds for one in rnd.values())


def run(pairs: int, seconds: float) -> list[Ablation]:
    """Every stack over every link, `pairs` rounds each; every second round begins with the
    capture.

    Raises:
        NotHere: no root.
        BenchError: a service, link or capture could not be had, or a call failed.
    """
    if os.geteuid() != 0:
        raise NotHere("captures and links need root")
    try:
        return [_ablation(stack, name, pairs, seconds) for name in LINKS for stack in STACKS]
    except Refused as refused:
        raise BenchError(f"{refused.message}; {refused.remedy}") from refused
    except (TrialFailed, LabError) as error:
        raise BenchError(str(error)) from error


def _ablation(stack: Stack, name: str, pairs: int, seconds: float) -> Ablation:
    rounds: list[dict[str, Reading]] = []
    captured: list[CaptureRecord] = []
    with _link(name) as link:
        service = replace(stack.service, address=link.server.address)
        with run_service(service, SERVER_CORE, link.server.namespace) as served:
            contender = _contender(stack, served, {"duration_s": seconds})
            measure(contender, served, link.client.namespace)
            for number in range(pairs):
                rnd, one = _round(contender, served, link, number)
                rounds.append(rnd)
                captured.append(one)
    return Ablation(stack.name, name, rounds, captured)


@contextmanager
def _link(name: str) -> Iterator[AnyLink]:
    """That link, in namespaces of its own unless it is loopback."""
    with ExitStack() as opened:
        if name == LINKS[0]:
            yield opened.enter_context(Loopback())
            return
        folder = Path(opened.enter_context(tempfile.TemporaryDirectory()))
        link = Link(
            LinkSpec(name, measure=Measure(pings=10)),
            cores=(),
            log=folder / "link.log",
            interruption=Interruption(),
        )
        yield opened.enter_context(link)


def _contender(stack: Stack, served: Running, window: Json) -> Contender:
    given = engine.write_plan(stack.service, served.address, stack.load, "frame", window)
    return Contender(stack.name, engine.COMMAND, given, engine.count)


def _round(
    contender: Contender, served: Running, link: AnyLink, number: int
) -> tuple[dict[str, Reading], CaptureRecord]:
    """Both, and what the capture said."""
    rnd: dict[str, Reading] = {}
    captured = CaptureRecord()
    for name in (WITHOUT, WITH) if number % 2 == 0 else (WITH, WITHOUT):
        if name == WITHOUT:
            rnd[name] = measure(contender, served, link.client.namespace)
        else:
            rnd[name], captured = _measure_under_capture(contender, served, link)
    return {name: rnd[name] for name in (WITHOUT, WITH)}, captured


def _measure_under_capture(
    contender: Contender, served: Running, link: AnyLink
) -> tuple[Reading, CaptureRecord]:
    """At the client's end, on spare cores where there are any, as a trial has it."""
    with tempfile.TemporaryDirectory() as folder:
        spare = os.sched_getaffinity(0) - {SERVER_CORE, CLIENT_CORE}
        capture = Capture(
            CaptureSpec(
                "client",
                link.client,
                Path(folder) / "capture.pcapng",
                port=int(served.address.rpartition(":")[2]),
            ),
            cores=tuple(sorted(spare)),
            log=Path(folder) / "capture.log",
            interruption=Interruption(),
        )
        with capture:
            reading = measure(contender, served, link.client.namespace)
            captured = capture.finish()
    others_s = reading.others_cpu_s - (0.0 if spare else (captured.cpu_s or 0.0))
    return replace(reading, others_cpu_s=others_s), captured
