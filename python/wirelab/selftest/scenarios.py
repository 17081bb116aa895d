"""Seeded scenarios: prove that an explanation follows from the measurements.

Three experiments on the gRPC service in Rust with a known truth: in one the client's HTTP/2 window
is exhausted, in one a check of the text is slow, in one nothing is wrong. The same ladder and the
same :func:`wirelab.explain.explanation.explain` must name the window, the check, and nothing.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import yaml

from wirelab.experiment import loading as experiment_file
from wirelab.explain.cell_selector import CellSelector
from wirelab.explain.explanation import Explanation, explain
from wirelab.explain.ladders import Ladder, Rung
from wirelab.process.interruption import Interruption
from wirelab.process.scratch import Scratch
from wirelab.run import runner as running
from wirelab.run.progress import Progress
from wirelab.run.runner import Run
from wirelab.selftest.testbed import SelfTestResult, Testbed

BYTES = 150_000
USERS = 1
"""One user, so that other calls do not fill the time in which a call waits."""
NARROW = 4_096
"""A window of 1/37 of the message: the service waits for the client 36 times per call."""
WIDE = 8_388_608
WIDER = 16_777_216
"""Both contain the whole message, so changing from one to the other has no effect."""
SLOW_CHECK_NS_PER_KB = 3_000
"""450 µs per call at 150 kB."""
THRESHOLD = 0.2
"""The seeded causes are worth a factor of two or more; effects of the machine are smaller."""
REPEATS = 4


@dataclass(frozen=True)
class Scenario:
    """One known truth."""

    name: str
    causes: tuple[str, ...]
    """Ids of the rungs that are causes here, by construction."""
    window: int
    """HTTP/2 window that the client offers at the start of the ladder, bytes."""
    check_ns_per_kb: int = 0
    """Time of the service's check of a text."""

    @property
    def start(self) -> CellSelector:
        """The ladder's start."""
        stack = f"grpc@rust?client.h2_window={self.window}"
        return CellSelector.of({"stack": stack, "bytes": BYTES, "users": USERS})

    @property
    def ladder(self) -> Ladder:
        """The same three rungs in every scenario; only the start differs."""
        start = self.start
        rungs = tuple(
            Rung(name, words, hypothesis, start, start.change(change))
            for name, words, hypothesis, change in RUNGS
        )
        return Ladder(
            self.name,
            "What makes this service slow?",
            start,
            None,
            None,
            rungs,
            threshold=THRESHOLD,
        )

    def source(self) -> str:
        """Text of the experiment file."""
        start = self.start
        stacks = [start.change(change).stack for *_, change in RUNGS if "operation" not in change]
        experiment = {
            "name": f"scenario-{self.name}",
            "seed": 7,
            "repeats": REPEATS,
            "services": [start.stack, *stacks],
            "messages": [
                {"operation": operation, "bytes": f"{BYTES} B"}
                for operation in ("Hello", "HelloBytes")
            ],
            "loads": [{"closed": {"users": USERS}}],
            "window": {"duration": "200 ms"},
            "warmup": {"min": "100 ms", "max": "200 ms"},
            "threshold": THRESHOLD,
        }
        if self.check_ns_per_kb:
            experiment["faults"] = {"text_check_ns_per_kb": self.check_ns_per_kb}
        return str(yaml.safe_dump(experiment, sort_keys=False))


RUNGS: tuple[tuple[str, str, str, dict[str, object]], ...] = (
    (
        "windows",
        "the client's HTTP/2 window",
        "The window is exhausted, and the service waits for the client to open it again.",
        {"client.h2_window": WIDER},
    ),
    (
        "text-check",
        "the check of the text",
        "The service checks a string, but not bytes.",
        {"operation": "HelloBytes"},
    ),
    (
        "decoding",
        "the decoding of replies",
        "The client spends its time reading replies. It has little to do here, so this is wrong.",
        {"work": "frame"},
    ),
)
"""Id, words, hypothesis and change of every rung."""

SCENARIOS = (
    Scenario("windows", ("windows",), NARROW),
    Scenario("text-check", ("text-check",), WIDE, SLOW_CHECK_NS_PER_KB),
    Scenario("nothing", (), WIDE),
)


@dataclass(frozen=True)
class Concluded:
    """Conclusion in one scenario."""

    scenario: Scenario
    explanation: Explanation

    @property
    def right(self) -> bool:
        """True when exactly the seeded causes were named."""
        return self.explanation.causes == self.scenario.causes

    @property
    def reason(self) -> str:
        """The seeded causes, and the named ones."""
        named = ", ".join(self.explanation.causes) or "nothing"
        seeded = ", ".join(self.scenario.causes) or "nothing"
        return f"seeded {seeded}, named {named}"


def run(
    out: Path, *, progress: Progress | None = None, interruption: Interruption | None = None
) -> tuple[Concluded, ...]:
    """Runs the three scenarios below ``out`` and draws a conclusion in each; takes about a minute.

    Raises what :func:`wirelab.run.runner.run` raises.
    """
    return tuple(
        conclude(scenario, _run(scenario, out / scenario.name, progress, interruption))
        for scenario in SCENARIOS
    )


def conclude(scenario: Scenario, run: Run) -> Concluded:
    """The same code for every scenario."""
    return Concluded(scenario, explain(run.trials, scenario.ladder))


def _run(
    scenario: Scenario, out: Path, progress: Progress | None, interruption: Interruption | None
) -> Run:
    source = scenario.source()
    experiment = experiment_file.parse(source, f"scenario {scenario.name}")
    return running.run(experiment, out, source=source, progress=progress, interruption=interruption)


def check_scenarios(_: Testbed) -> SelfTestResult:
    """Runs every scenario as a run of its own."""
    with Scratch() as scratch:
        concluded = run(scratch.folder)
    return SelfTestResult(
        "seeded scenarios",
        all(one.right for one in concluded),
        "; ".join(one.reason for one in concluded),
        {one.scenario.name: one.explanation.to_json() for one in concluded},
    )
