"""What a record of the host costs a service: the same load with and without one, in turns."""

from __future__ import annotations

import json
import os
import tempfile
from dataclasses import dataclass, replace
from pathlib import Path
from statistics import median

from bench import engine
from bench.bounds import Ratio
from bench.process import BenchError, NotHere, Reading
from bench.races import CLIENT_CORE, SERVER_CORE, Contender, measure
from bench.rows.captures import STACKS, Stack
from bench.servers import Running, run_service
from wirelab.errors import LabError, TrialFailed
from wirelab.process.interruption import Interruption
from wirelab.process.managed import Refused
from wirelab.records.host import HostRecord
from wirelab.trial.stages.host import HostRecording

WITHOUT, WITH = "without", "with a record"
RATE_RPS = 20_000
"""Calls per second of the open load."""
OPEN, CLOSED = "open", "closed"
COST_MAX = 1.05
"""Most that the server may use for a call of the open load, over that without a record."""
KEPT_MIN = 0.95
"""Least rate of the closed load, over that without a record."""


@dataclass(frozen=True)
class HostAblation:
    """One stack under one load: every round without and with a record."""

    stack: str
    load: str
    rounds: list[dict[str, Reading]]
    recorded: list[HostRecord]

    @property
    def ratio(self) -> Ratio:
        """With a record over without, within each round."""
        where = f"{self.stack}, {self.load} load"
        if self.load == OPEN:
            cost = tuple(_server_us(rnd[WITH]) / _server_us(rnd[WITHOUT]) for rnd in self.rounds)
            return Ratio("server CPU per call", where, cost, at_most=COST_MAX, aim=True)
        kept = tuple(rnd[WITH].rate_per_s / rnd[WITHOUT].rate_per_s for rnd in self.rounds)
        return Ratio("requests/s", where, kept, at_least=KEPT_MIN, aim=True)

    @property
    def rate_rps(self) -> float:
        """Without a record; median."""
        return median(rnd[WITHOUT].rate_per_s for rnd in self.rounds)

    @property
    def drops(self) -> int:
        """Records that the kernel had no room for, of all rounds."""
        return sum(one.drops for one in self.recorded)

    @property
    def record_us(self) -> float:
        """CPU of the recording process per record, microseconds; median."""
        return median(one.cpu_s / max(one.records, 1) * 1e6 for one in self.recorded)

    @property
    def records_per_call(self) -> float:
        """Median."""
        pairs = zip(self.recorded, self.rounds, strict=True)
        return median(one.records / rnd[WITH].calls for one, rnd in pairs)

    @property
    def others_share(self) -> float:
        """Median share of the two cores that went to neither side."""
        return median(one.others_share for rnd in self.rounds for one in rnd.values())


def _server_us(reading: Reading) -> float:
    return reading.server_cpu_s / reading.calls * 1e6


def run(pairs: int, seconds: float) -> list[HostAblation]:
    """Every stack under both loads, `pairs` rounds each; every second round begins with the
    record.

    Raises:
        NotHere: no root.
        BenchError: a service or record could not be had, or a call failed.
    """
    if os.geteuid() != 0:
        raise NotHere("records of the host need root")
    try:
        return [
            _ablation(stack, load, pairs, seconds) for stack in STACKS for load in (CLOSED, OPEN)
        ]
    except Refused as refused:
        raise BenchError(f"{refused.message}; {refused.remedy}") from refused
    except (TrialFailed, LabError) as error:
        raise BenchError(str(error)) from error


def _ablation(stack: Stack, load: str, pairs: int, seconds: float) -> HostAblation:
    rounds: list[dict[str, Reading]] = []
    recorded: list[HostRecord] = []
    with run_service(stack.service, SERVER_CORE) as served:
        contender = _contender(stack, served, load, seconds)
        measure(contender, served)
        for number in range(pairs):
            rnd: dict[str, Reading] = {}
            for name in (WITHOUT, WITH) if number % 2 == 0 else (WITH, WITHOUT):
                if name == WITHOUT:
                    rnd[name] = measure(contender, served)
                else:
                    rnd[name], one = _record(contender, served)
                    recorded.append(one)
            rounds.append(rnd)
    return HostAblation(stack.name, load, rounds, recorded)


def _contender(stack: Stack, served: Running, load: str, seconds: float) -> Contender:
    window = {"duration_s": seconds}
    plan = engine.plan(stack.service, served.address, stack.load, "frame", window)
    if load == OPEN:
        in_flight = stack.load.connections * stack.load.in_flight
        arrivals = {"kind": "constant", "rate": float(RATE_RPS), "in_flight_max": in_flight}
        plan["groups"][0]["load"] = arrivals
    return Contender(stack.name, engine.COMMAND, json.dumps(plan) + "\n", engine.count)


def _record(contender: Contender, served: Running) -> tuple[Reading, HostRecord]:
    """On spare cores where there are any, as a trial has it."""
    spare = os.sched_getaffinity(0) - {SERVER_CORE, CLIENT_CORE}
    with tempfile.TemporaryDirectory() as folder:
        recording = HostRecording(
            (served.pid,),
            Path(folder) / "host.records",
            cores=tuple(sorted(spare)),
            log=Path(folder) / "host.log",
            interruption=Interruption(),
        )
        with recording:
            reading, recorded = measure(contender, served), recording.finish()
    others_s = reading.others_cpu_s - (0.0 if spare else recorded.cpu_s)
    return replace(reading, others_cpu_s=others_s), recorded
