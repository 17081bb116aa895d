"""What else ran on the machine while a test judged a time, and what a failure is then worth.

A test of the class ``alone`` that fails undisturbed has failed. One that was disturbed is
repeated, alone, at the end of the session. If it fails again, disturbed again, it is not judged:
it is reported as skipped, with the figures. Where more than one in 20 are not judged, the summary
begins with that, and with ``WIRELAB_TESTS_STRICT=1`` the session fails.
"""

from __future__ import annotations

import os
import resource
import threading
import time
from collections.abc import Generator
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Protocol

import psutil
import pytest
from _pytest.runner import runtestprotocol

# Measured: 62 tests next to compilers that kept both processors busy, with a load of 2 to 9. The
# JUnit file has these figures of every test, so a run on a quiet machine shows its own.
OTHERS_SHARE_MAX = 0.3
"""Of one processor; 1.02 to 1.97 were measured."""
DELAY_SHARE_MAX = 0.01
"""0.015 to 0.99 were measured; the least where the test mostly sleeps."""
STEAL_SHARE_MAX = 0.05
"""0.00 to 0.08 were measured: it shows other machines, not other processes."""
NOT_JUDGED_SHARE_MAX = 0.05
"""Of the tests that judge times."""
STRICT = "WIRELAB_TESTS_STRICT"
"""The variable that `make test-all` sets to 1."""
SAMPLE_S = 0.25
TICK_S = 1.0 / os.sysconf("SC_CLK_TCK")


@dataclass(frozen=True)
class Disturbance:
    """What happened while a test ran, in seconds."""

    wall_s: float
    delay_s: float
    """Its threads were ready to run and waited for a processor, all together."""
    others_s: float
    """Processor time of what is neither the test nor a child of it."""
    steal_s: float
    """The hypervisor ran something else."""

    @property
    def is_disturbed(self) -> bool:
        """Whether a failure may come from other work. The test's own processes delay each
        other too, so a delay alone does not count."""
        delayed = self._share(self.delay_s) > DELAY_SHARE_MAX
        others = self._share(self.others_s) > OTHERS_SHARE_MAX
        return (delayed and others) or self._share(self.steal_s) > STEAL_SHARE_MAX

    def text(self) -> str:
        """The figures, in percent of the time that the test took."""
        return (
            f"other processes {self._share(self.others_s):.0%} of a processor, "
            f"run delay {self._share(self.delay_s):.0%}, steal {self._share(self.steal_s):.0%} "
            f"in {self.wall_s:.1f} s"
        )

    def _share(self, seconds: float) -> float:
        return seconds / self.wall_s if self.wall_s else 0.0


class Meter(Protocol):
    """Measures one test at a time."""

    def start(self) -> None:
        """A test begins."""

    def stop(self) -> Disturbance:
        """It has ended."""


class Machine:
    """Reads the kernel's counters. Children that start and end between two samples are counted
    in the processor time, and are missing in the run delay."""

    def __init__(self) -> None:
        self._ended = threading.Event()
        self._delays_ns: dict[tuple[int, str], tuple[int, int]] = {}

    def start(self) -> None:
        """A test begins."""
        self._ended = threading.Event()
        self._delays_ns = {}
        self._read_delays(first=True)
        self._began = (time.monotonic(), *_read_processors(), read_own_s())
        self._sampler = threading.Thread(target=self._sample, daemon=True)
        self._sampler.start()

    def stop(self) -> Disturbance:
        """It has ended."""
        self._ended.set()
        self._sampler.join()
        self._read_delays()
        began, busy_s, steal_s, own_s = self._began
        busy_now_s, steal_now_s = _read_processors()
        return Disturbance(
            wall_s=time.monotonic() - began,
            delay_s=sum(last - first for first, last in self._delays_ns.values()) / 1e9,
            others_s=max(0.0, (busy_now_s - busy_s) - (read_own_s() - own_s)),
            steal_s=steal_now_s - steal_s,
        )

    def _sample(self) -> None:
        while not self._ended.wait(SAMPLE_S):
            self._read_delays()

    def _read_delays(self, *, first: bool = False) -> None:
        """Of a thread that began after the test did, all its delay counts."""
        for pid in _find_family():
            for thread in _list_threads(pid):
                # It may end at any time.
                with suppress(OSError):
                    delay_ns = int((thread / "schedstat").read_text().split()[1])
                    key = (pid, thread.name)
                    start = self._delays_ns.get(key, (delay_ns if first else 0, 0))[0]
                    self._delays_ns[key] = (start, delay_ns)


def _list_threads(pid: int) -> list[Path]:
    try:
        return list(Path(f"/proc/{pid}/task").iterdir())
    except OSError:
        return []


def _find_family() -> list[int]:
    """This process and its descendants."""
    found = [os.getpid()]
    for pid in found:
        for thread in _list_threads(pid):
            with suppress(OSError):
                found += map(int, (thread / "children").read_text().split())
    return found


def _read_processors() -> tuple[float, float]:
    """Busy time and steal of all processors, in seconds since the machine began."""
    user, nice, system, _idle, _wait, irq, softirq, steal = (
        int(one) * TICK_S for one in Path("/proc/stat").read_text().split()[1:9]
    )
    return user + nice + system + irq + softirq, steal


def read_own_s() -> float:
    """Processor time of this process and its descendants, the ended ones included."""
    total = 0.0
    for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN):
        used = resource.getrusage(who)
        total += used.ru_utime + used.ru_stime
    for pid in _find_family()[1:]:
        with suppress(psutil.Error):
            total += sum(psutil.Process(pid).cpu_times()[:4])
    return total


@dataclass(eq=False)
class Repetition:
    """The plugin: runs the tests that judge times."""

    meter: Meter
    strict: bool
    count: int = 0
    not_judged: list[tuple[str, str]] = field(default_factory=list)
    repeated: list[tuple[str, str]] = field(default_factory=list)
    _first: dict[pytest.Item, Disturbance] = field(default_factory=dict)
    """What disturbed the tests that are to be repeated."""

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtest_protocol(
        self, item: pytest.Item, nextitem: pytest.Item | None
    ) -> bool | None:
        """Keeps the failure of a disturbed test until it was repeated."""
        if item.get_closest_marker("alone") is None:
            return None
        reports, found = self._run(item, nextitem)
        has_failed_disturbed = found.is_disturbed and any(one.failed for one in reports)
        if has_failed_disturbed and item not in self._first:
            self._first[item] = found
            return True
        if has_failed_disturbed:
            self._excuse(item, reports, found)
        self._report(item, reports)
        return True

    @pytest.hookimpl(wrapper=True)
    def pytest_runtestloop(self) -> Generator[None, object, object]:
        """Repeats what was disturbed."""
        result = yield
        for item, found in self._first.items():
            self.repeated.append((item.nodeid, found.text()))
            item.ihook.pytest_runtest_protocol(item=item, nextitem=None)
        return result

    @property
    def has_too_few_judged(self) -> bool:
        """Whether the machine was too busy for the session to say much."""
        return len(self.not_judged) > NOT_JUDGED_SHARE_MAX * self.count

    @pytest.hookimpl(tryfirst=True)
    def pytest_sessionfinish(self, session: pytest.Session) -> None:
        """With the strict setting, too many of them are a failure."""
        if self.strict and self.has_too_few_judged and session.exitstatus == pytest.ExitCode.OK:
            session.exitstatus = pytest.ExitCode.TESTS_FAILED

    @pytest.hookimpl(tryfirst=True)
    def pytest_terminal_summary(self, terminalreporter: pytest.TerminalReporter) -> None:
        """Lists what was repeated and what is not judged."""
        if not self.repeated:
            return
        terminalreporter.section("tests that judge times, disturbed")
        if self.has_too_few_judged:
            terminalreporter.line(
                f"{len(self.not_judged)} of {self.count} are not judged, more than "
                f"{NOT_JUDGED_SHARE_MAX:.0%}: run them on a machine that does nothing else"
            )
        left = dict(self.not_judged)
        for name, figures in self.repeated:
            outcome = left.get(name, f"judged at the second try ({figures} at the first)")
            terminalreporter.line(f"{name}: {outcome}")

    def _run(
        self, item: pytest.Item, nextitem: pytest.Item | None
    ) -> tuple[list[pytest.TestReport], Disturbance]:
        self.meter.start()
        try:
            reports = runtestprotocol(item, nextitem=nextitem, log=False)
        finally:
            found = self.meter.stop()
        for report in reports:
            report.sections.append(("disturbance", found.text()))
            report.user_properties.append(("disturbance", found.text()))
        return reports, found

    def _excuse(
        self, item: pytest.Item, reports: list[pytest.TestReport], second: Disturbance
    ) -> None:
        figures = f"{self._first[item].text()}; {second.text()}"
        reason = f"not judged, disturbed twice: {figures}"
        self.not_judged.append((item.nodeid, reason))
        for report in reports:
            if report.failed:
                report.outcome = "skipped"
                report.longrepr = (str(item.path), item.location[1] or 0, f"Skipped: {reason}")

    def _report(self, item: pytest.Item, reports: list[pytest.TestReport]) -> None:
        self.count += 1
        item.ihook.pytest_runtest_logstart(nodeid=item.nodeid, location=item.location)
        for report in reports:
            item.ihook.pytest_runtest_logreport(report=report)
        item.ihook.pytest_runtest_logfinish(nodeid=item.nodeid, location=item.location)


def make_repetition() -> Repetition:
    """The plugin for this machine."""
    return Repetition(Machine(), strict=os.environ.get(STRICT) == "1")
