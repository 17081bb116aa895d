"""Testbed of the self-tests: a real service with known faults, and a real plan."""

from __future__ import annotations

import csv
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import msgspec
import numpy as np
from hdrh.histogram import HdrHistogram
from numpy.typing import NDArray

from wirelab.documents.plan import Plan
from wirelab.experiment import placement
from wirelab.process.children import ProcessOptions
from wirelab.process.engine import Drive, RunObserver
from wirelab.process.interruption import Interruption
from wirelab.process.scratch import Scratch
from wirelab.process.services import Programs, Service, Settings
from wirelab.records.group import GroupResult
from wirelab.records.service import ServiceRecord
from wirelab.selftest import clock_resolution
from wirelab.stack import manifests
from wirelab.stack.reference import Stack
from wirelab.trial.observer import Observer, window_ns
from wirelab.trial.plans import PROGRESS_MS

Json = dict[str, Any]


@dataclass(frozen=True)
class SelfTestResult:
    """Result of one self-test."""

    name: str
    passed: bool
    reason: str
    figures: Json
    measurable: bool = True
    """False: other load on the machine makes the test undecided."""

    def to_json(self) -> Json:
        """Document for ``--json``."""
        return {
            "name": self.name,
            "passed": self.passed,
            "measurable": self.measurable,
            "reason": self.reason,
            "figures": self.figures,
        }


@dataclass(frozen=True)
class Observed:
    """Results of one drive."""

    group: GroupResult
    """Figures of the engine."""
    service: ServiceRecord
    """Result of :meth:`Observer.findings`."""
    intended_ns: NDArray[np.int64]
    sent_ns: NDArray[np.int64]
    """Planned time and sent time of each call, in order, including warm-up; empty without
    ``logged``."""

    def percentile_ns(self, which: str, percentile: str) -> int:
        """A percentile of ``response``, ``service`` or ``lag``."""
        return self.group.times[which].percentiles_ns[percentile]

    def histogram(self, which: str) -> HdrHistogram:
        """The complete distribution, ns."""
        return HdrHistogram.decode(self.group.times[which].hdr)

    def count_above(self, which: str, limit_ns: float) -> int:
        """Number of samples of at least ``limit_ns``, to the histogram's three digits."""
        return sum(
            int(bucket.count_added_in_this_iter_step)
            for bucket in self.histogram(which).get_recorded_iterator()
            if bucket.value_iterated_to >= limit_ns
        )


class Testbed:
    """Starts services and drives them, one at a time, like trials."""

    def __init__(self, folder: Path, interruption: Interruption) -> None:
        self._folder = folder
        self._interruption = interruption
        self._programs = Programs(manifests.load())
        self._table = placement.choose("pinned")

    def sleep_jitter_us(self, rate: float, seconds: float) -> float:
        """Jitter of a plain sleep on the engine's cores, see
        :func:`clock_resolution.sleep_jitter_us`."""
        return clock_resolution.sleep_jitter_us(self._table.engine, rate, seconds)

    def observe(
        self,
        reference: str,
        load: Json,
        window: Json,
        *,
        faults: Json | None = None,
        warmup_s: float = 0.0,
        size: int = 14,
        spin: bool = False,
        background_per_s: float = 0.0,
        logged: bool = False,
    ) -> Observed:
        """One fresh service under one load of Hello. With ``spin`` the engine's threads never
        sleep, so that waking a core takes no time. With ``background_per_s`` that number of calls
        of HelloBytes per second is made too, and not reported. With ``logged`` the engine logs
        every call. Raises like a trial."""
        stack = Stack.parse(reference)
        program = self._programs.program(stack, self._interruption)
        settings = Settings(
            hello_bytes=size,
            processors=self._table.processors(),
            collector=program.manifest.collector,
            faults=faults or {},
        )
        group = {
            "name": "truth",
            "stack": stack.engine_stack(),
            "workload": {
                "kind": "contract",
                "contract": "transfer",
                "operation": "Hello",
                "bytes": size,
            },
            "load": load,
            "window": window,
            "warmup": {"min_s": warmup_s, "max_s": warmup_s},
        }
        with Service(
            program,
            settings.configuration(stack),
            ProcessOptions(log=self._folder / "service.log", cores=self._table.service),
            interruption=self._interruption,
        ) as service:
            groups = [{**group, "target": service.ready.address}]
            if background_per_s:
                groups.append(_background(groups[0], background_per_s))
            return self._drive(service, groups, spin, logged)

    def _drive(self, service: Service, groups: list[Json], spin: bool, logged: bool) -> Observed:
        observer = Observer(service)
        log = self._folder / "calls.csv"
        log.unlink(missing_ok=True)
        plan = {
            "call_log": str(log) if logged else None,
            "threads": self._table.threads(),
            "cores": list(self._table.engine),
            "progress_ms": PROGRESS_MS,
            "wait": "spin" if spin else self._table.wait(),
            "groups": groups,
        }
        drive = Drive(
            msgspec.convert(plan, Plan),
            ProcessOptions(log=self._folder / "engine.log", cores=self._table.engine),
            interruption=self._interruption,
            observer=RunObserver(on_progress=observer.progress, on_tick=observer.tick),
        )
        outcome = drive.outcome()
        self._interruption.check()
        observer.finish()
        found = GroupResult.of(outcome.groups[0])
        return Observed(found, observer.findings(*window_ns(found)), *_stamps(log))


def _stamps(log: Path) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    if not log.exists():
        none = np.array([], dtype=np.int64)
        return none, none
    with log.open(encoding="utf-8", newline="") as file:
        calls = list(csv.DictReader(file))
    intended, sent = (
        np.sort([int(call[of]) for call in calls]) for of in ("intended_ns", "sent_ns")
    )
    return intended, sent


def _background(group: Json, rate: float) -> Json:
    return {
        **group,
        "name": "background",
        "workload": {**group["workload"], "operation": "HelloBytes"},
        "load": {"kind": "constant", "rate": rate, "in_flight_max": 64},
    }


@contextmanager
def open_testbed(interruption: Interruption) -> Iterator[Testbed]:
    """A testbed with a temporary folder for logs."""
    with Scratch() as scratch:
        yield Testbed(scratch.folder, interruption)
