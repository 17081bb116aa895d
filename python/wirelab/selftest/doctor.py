"""Determines by trying what this machine can and cannot measure."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Literal

from wirelab.documents.link import Measure
from wirelab.documents.link_ready import Ready
from wirelab.drive.amount import Amount
from wirelab.drive.session import Call, drive_stack
from wirelab.errors import WirelabError
from wirelab.experiment import placement
from wirelab.format.units import format_seconds
from wirelab.process import engine_binary, machine, open_files
from wirelab.process.interruption import Interruption
from wirelab.process.scratch import Scratch
from wirelab.records.link import LinkRecord
from wirelab.selftest import clock_resolution
from wirelab.stack.link_names import Driver
from wirelab.stack.reference import Stack
from wirelab.trial.stages import capture as captures
from wirelab.trial.stages import host as hosts
from wirelab.trial.stages import link as links
from wirelab.trial.stages.link import LinkSpec

Ability = Literal["yes", "limited", "no"]
FILES_ENOUGH = 22_000
"""Open files for 10,000 connections with both ends on this machine, plus a reserve."""
OVERSHOOT_US_MAX = 50.0
"""Largest p99 of wake-up delays with which schedules of 5,000 calls/s are possible."""
PROBE_S_MAX = 10.0
NAME_WIDTH = len("congestion control")
"""Width of the longest name."""


@dataclass(frozen=True)
class Finding:
    """One thing that this machine can or cannot do."""

    name: str
    ability: Ability
    found: str
    """The measured or detected value."""
    means: str = ""
    """Consequence for measurements; empty if there is none."""

    def to_json(self) -> dict[str, object]:
        """Document for ``--json``."""
        return {
            "name": self.name,
            "ability": self.ability,
            "found": self.found,
            "means": self.means,
        }


def examine() -> Iterator[Finding]:
    """Yields every finding, in the order of the table, as soon as it is available."""
    for probe in PROBES:
        yield probe()


def _engine() -> Finding:
    try:
        path = engine_binary.find()
        with Interruption() as interruption:
            outcome = drive_stack(
                Stack.parse("rest@rust"),
                Call(),
                Amount(calls=100, max_s=5.0),
                interruption=interruption,
                on_progress=None,
            )
    except WirelabError as error:
        return Finding("engine", "no", error.message, error.remedy)
    group = outcome.groups[0]
    found = f"{outcome.engine}, {outcome.profile} build, {path}"
    if group.ok != group.calls or not group.calls:
        failed = f"{group.errors} of {group.calls} calls to the service in Rust failed"
        return Finding("engine", "no", found, failed)
    if outcome.profile != "release":
        return Finding(
            "engine",
            "limited",
            found,
            "its times do not represent a release build: run `make setup`",
        )
    return Finding("engine", "yes", found)


def _cores() -> Finding:
    cores = placement.available_cores()
    found = f"{len(cores)} ({machine.cpu_model() or 'unknown model'})"
    if len(cores) < 2:
        means = "service and engine share one core: rates do not describe the service alone"
        return Finding("cores", "limited", found, means)
    if len(cores) == 2:
        means = "one core for the service, one for the engine; wirelab and the kernel share them"
        return Finding("cores", "limited", found, means)
    return Finding("cores", "yes", found)


def _files() -> Finding:
    allowed = open_files.limit()
    if allowed is None or allowed >= FILES_ENOUGH:
        number = "any number of" if allowed is None else f"{allowed:,}"
        return Finding("connections", "yes", f"{number} open files")
    room = max(0, allowed - open_files.SPARE)
    means = f"about {room:,} connections per process"
    return Finding("connections", "limited", f"{allowed:,} open files", means)


def _governor() -> Finding:
    governor = machine.kernel_setting("governor")
    if governor is None:
        return Finding(
            "CPU frequency", "limited", "not visible", "the frequency may vary between trials"
        )
    if governor == "performance":
        return Finding("CPU frequency", "yes", governor)
    means = "the frequency varies; to measure small differences set the governor to performance"
    return Finding("CPU frequency", "limited", governor, means)


def _clock() -> Finding:
    source = machine.kernel_setting("clocksource") or "unknown"
    found = f"{source}, {clock_resolution.read_cost_ns():.0f} ns a reading from Python"
    if source in ("tsc", "arch_sys_counter"):
        return Finding("clock", "yes", found)
    return Finding("clock", "limited", found, "each time stamp costs a system call")


def _wakeups() -> Finding:
    plain, tight = clock_resolution.overshoot(), clock_resolution.overshoot(slack_ns=1)
    found = (
        f"100 µs sleeps end {tight.p50_us:.0f} µs late, p99 {tight.p99_us:.0f} µs, with a timer "
        f"slack of 1 ns (default slack: {plain.p50_us:.0f} and {plain.p99_us:.0f} µs)"
    )
    if tight.p99_us <= OVERSHOOT_US_MAX:
        return Finding("wake-ups", "yes", found)
    return Finding(
        "wake-ups",
        "limited",
        found,
        "open loads are late by this much; check that the machine is idle",
    )


def _congestion() -> Finding:
    current = machine.kernel_setting("congestion_control")
    available = Path("/proc/sys/net/ipv4/tcp_available_congestion_control")
    names = available.read_text(encoding="ascii").strip() if available.exists() else "unknown"
    return Finding("congestion control", "yes", f"{current} (available: {names})")


def _links() -> Finding:
    found = _try_link("lan", "auto")
    if isinstance(found, Finding):
        return found
    driver = LinkRecord(driver=found.driver, verified=found.verified).driver_text()
    return Finding("links", "yes", f"{driver}, {_round_trip(found)}")


def _emulator() -> Finding:
    found = _try_link("wlan", "emulator")
    if isinstance(found, Finding):
        return replace(found, name="emulator")
    scheduling = found.emulator.scheduling if found.emulator else None
    said = f"{_round_trip(found)} at 2.5 ms nominal, scheduling {scheduling}"
    if scheduling == "fifo":
        return Finding("emulator", "yes", said)
    return Finding("emulator", "limited", said, "other processes delay packets")


def _try_link(profile: str, driver: Driver) -> Ready | Finding:
    """The ready line of a briefly created link, or the reason why it is not possible."""
    try:
        with Interruption() as interruption, Scratch() as scratch:
            log = scratch.folder / "link.log"
            spec = LinkSpec(profile, driver=driver, measure=Measure(pings=20))
            return links.try_out(spec, log, interruption)
    except WirelabError as error:
        return Finding("links", "no", error.message, error.remedy)


def _round_trip(ready: Ready) -> str:
    rtt = ready.measured.rtt_ms
    p50, p99 = (format_seconds(value / 1e3) for value in (rtt.p50, rtt.p99))
    return f"a round trip of {p50} (p99 {p99})"


def _netem() -> Finding:
    namespace = ["unshare", "--user", "--map-root-user", "--net"]
    if os.geteuid() == 0:
        namespace = ["unshare", "--net"]
    command = [*namespace, "tc", "qdisc", "add", "dev", "lo", "root", "netem", "delay", "1ms"]
    if shutil.which("tc") is None:
        return Finding("netem", "no", "tc is not installed", "the kernel could not be queried")
    if _works(command):
        found = (
            "available in this kernel, not verified: its effect was never measured in this project"
        )
        return Finding("netem", "limited", found, "links use it only with `driver: netem`")
    return Finding(
        "netem", "no", "not in this kernel", "links use the emulator, which is the default"
    )


def _capture() -> Finding:
    try:
        with Interruption() as interruption, Scratch() as scratch:
            captures.try_out(scratch.folder, interruption)
    except WirelabError as error:
        return Finding("capture", "no", error.message, error.remedy)
    return Finding("capture", "yes", "loopback packets into a file")


def _host() -> Finding:
    try:
        with Interruption() as interruption, Scratch() as scratch:
            hosts.try_out(scratch.folder, interruption)
    except WirelabError as error:
        return Finding("host", "no", error.message, error.remedy)
    return Finding("host", "yes", "what threads do while packets wait (eBPF)")


def _go() -> Finding:
    return _language("Go", ["go", "version"], "install Go 1.26 or newer")


def _java() -> Finding:
    return _language("Java", ["java", "-version"], "install openjdk-17-jdk-headless")


def _maven() -> Finding:
    return _language(
        "Maven",
        ["mvn", "-v"],
        "install Maven, which builds the services in Java",
    )


def _language(name: str, version: list[str], remedy: str) -> Finding:
    """Whether services in a language can be built."""
    path = shutil.which(version[0])
    if path is None:
        return Finding(name, "no", "not in PATH", f"its services cannot be built: {remedy}")
    try:
        said = subprocess.run(
            [path, *version[1:]], capture_output=True, text=True, timeout=PROBE_S_MAX, check=True
        )
    except (OSError, subprocess.SubprocessError) as error:
        return Finding(name, "no", f"{path} does not run: {error}", remedy)
    # Maven colours its name even if colours are disabled.
    plain = re.sub(r"\x1b\[[0-9;]*m", "", said.stdout or said.stderr)
    words = plain.strip().partition("\n")[0]
    return Finding(name, "yes", words.removeprefix("go version "))


def _works(command: list[str]) -> bool:
    try:
        return subprocess.run(command, capture_output=True, timeout=PROBE_S_MAX).returncode == 0
    except (OSError, subprocess.SubprocessError):
        return False


PROBES: tuple[Callable[[], Finding], ...] = (
    _engine,
    _cores,
    _files,
    _governor,
    _clock,
    _wakeups,
    _congestion,
    _links,
    _netem,
    _emulator,
    _capture,
    _host,
    _go,
    _java,
    _maven,
)
