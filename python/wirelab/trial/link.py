"""The link of a trial: where its two sides run, and what lies between them.

Anything but loopback is a process (docs/reference/process.md, "A link is a process"), which
makes two network namespaces for the trial and removes them at its end.
"""

from __future__ import annotations

import signal
import time
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import msgspec

from wirelab.errors import LabError, TrialFailed
from wirelab.process import engine_binary, machine, metrics, namespaces
from wirelab.process.interruption import Interruption
from wirelab.process.managed import ManagedProcess, Refused
from wirelab.process.metrics import Sample
from wirelab.stack import link_names
from wirelab.stack.axes import KERNEL
from wirelab.stack.link_names import LOOPBACK, Driver

if TYPE_CHECKING:
    from wirelab.experiment.link_profiles import OwnProfile

PINGS_MIN, PINGS_MAX = 10, 50
PINGING_S = 10.0
"""Pings before each trial take about so long at most."""
LOSS_PACKETS = 1000
SETTLE_S_MAX = 2.0

Json = dict[str, Any]


@dataclass(frozen=True)
class End:
    """Where one side of a trial runs."""

    interface: str = "lo"
    address: str = "127.0.0.1"
    namespace: str | None = None
    """Of the network, by name; None: the lab's own."""


@dataclass(frozen=True)
class _ReadyEnd:
    interface: str
    address: str
    namespace: str


@dataclass(frozen=True)
class _Ready:
    """What the lab needs of the ready line."""

    name: str
    driver: str
    client: _ReadyEnd
    server: _ReadyEnd
    nominal: Json
    measured: Json


class Loopback:
    """No link: both sides on the machine's loopback interface."""

    client = server = End()

    def __enter__(self) -> Loopback:
        return self

    def __exit__(self, *_: object) -> None:
        """There is nothing to remove."""

    def tick(self) -> None:
        """Nothing can have happened to it."""

    def settle(self) -> None:
        """What was sent has arrived."""

    def finish(self, start_ns: int, end_ns: int) -> Json:
        """Its record: congestion control is the machine's, whatever the stack names."""
        own = machine.kernel_setting("congestion_control")
        return {"name": LOOPBACK, "congestion": {"client": own, "server": own}}


class Link(ManagedProcess):
    """A running link. Use as a context manager; nothing of it is left after the block."""

    noun = "the link"
    ready_s_max = 180.0
    stop_s = 10.0

    def __init__(
        self,
        profile: OwnProfile | str,
        *,
        congestion: str,
        initial_window: str = KERNEL,
        after_idle: str = "restart",
        measure: Json,
        driver: Driver | None = None,
        cores: tuple[int, ...],
        log: Path,
        interruption: Interruption,
    ) -> None:
        """Makes it, and measures it as ``measure`` says; ``congestion``, ``initial_window``
        and ``after_idle`` are values of those axes; ``driver`` is by default the profile's.
        Raises :class:`TrialFailed`, and
        :class:`Refused` where it cannot be had."""
        order = {
            "profile": link_names.document(profile),
            "driver": driver or link_names.driver(profile),
            "congestion": congestion,
            "initcwnd": None if initial_window == KERNEL else int(initial_window),
            "after_idle": after_idle,
            "cores": list(cores),
            "measure": measure,
        }
        self._cpu: list[Sample] = []
        # On SIGTERM it removes what it has made; SIGKILL would leave that behind.
        super().__init__(
            [str(engine_binary.find()), "link"],
            order,
            log=log,
            interruption=interruption,
            orphaned=signal.SIGTERM,
        )
        try:
            self.ready = msgspec.convert(self.said, _Ready)
        except msgspec.ValidationError as error:
            self._give_up()
            raise TrialFailed(f"the link's ready line: {error}") from error
        self.client = _end(self.ready.client)
        self.server = _end(self.ready.server)
        self.tick()

    def __exit__(self, *_: object) -> None:
        super().__exit__()
        self._remove()

    def tick(self) -> None:
        """Takes a sample of its CPU time. Raises :class:`TrialFailed` when it has ended."""
        death = self.death()
        if death:
            raise TrialFailed(f"{death} in mid-trial")
        cpu = metrics.cpu_seconds(self.child.pid)
        if cpu is not None:
            self._cpu.append(Sample(time.monotonic_ns(), cpu))

    def settle(self) -> None:
        """Waits until what was sent last has arrived, so that captures have it."""
        rtt_ms = (self.ready.measured.get("rtt_ms") or {}).get("p99") or 0.0
        time.sleep(min(SETTLE_S_MAX, float(rtt_ms) * 2e-3 + 0.02))

    def finish(self, start_ns: int, end_ns: int) -> Json:
        """Its record, once the trial is over, with the CPU seconds of the whole process within
        the window from ``start_ns`` to ``end_ns``. Raises :class:`TrialFailed` when it says
        none."""
        ended = self.final_messages("link")
        ended["cpu_window_s"] = metrics.growth(self._cpu, start_ns, end_ns)
        told = {key: self.said[key] for key in self.said if key not in ("ready", "pid")}
        for side in ("client", "server"):
            told[side] = {key: told[side][key] for key in ("interface", "address")}
        return {**told, **ended}

    def _give_up(self) -> None:
        self.child.end(self.stop_s)
        self._remove()

    def _remove(self) -> None:
        """What it could not remove itself, because it was killed."""
        for side in ("c", "s"):
            namespaces.remove(f"wl-{self.child.pid}-{side}")


AnyLink = Loopback | Link


def _end(ready: _ReadyEnd) -> End:
    return End(ready.interface, ready.address, ready.namespace)


def open_link(
    profile: OwnProfile | str,
    *,
    congestion: str,
    initial_window: str = KERNEL,
    after_idle: str = "restart",
    measure: Json,
    cores: tuple[int, ...],
    log: Path,
    interruption: Interruption,
) -> AnyLink:
    """The link of a trial, measured. Raises :class:`TrialFailed`, also where nothing comes
    through it."""
    if profile == LOOPBACK:
        return Loopback()
    link = Link(
        profile,
        congestion=congestion,
        initial_window=initial_window,
        after_idle=after_idle,
        measure=measure,
        cores=cores,
        log=log,
        interruption=interruption,
    )
    from wirelab.checks import link as link_checks

    reason = link_checks.dead(profile, link.said)
    if reason:
        with link:
            raise TrialFailed(reason)
    return link


def measurement(nominal: Json) -> Json:
    """What a link measures of itself before each trial: its round trip always, loss and rate
    where it has them. Probes are UDP: what it loses of SYNs is counted in the trial."""
    pings = int(PINGING_S * 1e3 / max(1.0, float(nominal.get("rtt_ms") or 0.0)))
    rates = (nominal.get("rate_kbit") or {}).values()
    return {
        "pings": max(PINGS_MIN, min(PINGS_MAX, pings)),
        "loss_packets": LOSS_PACKETS if nominal.get("loss_percent") else 0,
        "rate": any(rate is not None for rate in rates),
    }


def try_out(
    profile: OwnProfile | str,
    log: Path,
    interruption: Interruption,
    *,
    driver: Driver | None = None,
    pings: int = 1,
) -> Json:
    """Makes and removes the link. Returns its ready line. Raises :class:`LabError` where it
    cannot be had, with the reason and what to do."""
    measure = {"pings": pings, "loss_packets": 0, "rate": False}
    common: Json = {"congestion": "cubic", "cores": (), "interruption": interruption}
    try:
        with Link(profile, measure=measure, driver=driver, log=log, **common) as link:
            return link.said
    except Refused as refused:
        reason, remedy = refused.message, refused.remedy
        if "profile." in refused.message:  # a key of it, which is wrong on every machine
            raise LabError(f"link {link_names.name(profile)}: {reason}", remedy) from refused
    except TrialFailed as failure:
        reason, remedy = failure.reason, "`wirelab doctor` tells what this machine can do"
    raise LabError(
        f"link {link_names.name(profile)} cannot be had here: {reason}",
        f"{remedy} (in an experiment: `links: loopback`)",
    )
