"""The link of a trial: where its two sides run, and the network between them.

Any link except loopback is a process (docs/reference/process.md, "Link process"). It creates two
network namespaces for the trial and removes them at its end.
"""

from __future__ import annotations

import signal
import time
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Self

import msgspec

from wirelab.documents.axes import Axes
from wirelab.documents.link import AfterIdle, Congestion, LinkConfig, Measure, ProfileChoice
from wirelab.documents.link_ended import LinkEnded
from wirelab.documents.link_ready import End as ReadyEnd
from wirelab.documents.link_ready import Nominal, Ready
from wirelab.errors import LabError, TrialFailed
from wirelab.process import engine_binary, machine, metrics, namespaces
from wirelab.process.children import ProcessOptions
from wirelab.process.interruption import Interruption
from wirelab.process.managed import ManagedProcess, Refused
from wirelab.process.metrics import Sample
from wirelab.records.link import LinkRecord
from wirelab.stack import link_names
from wirelab.stack.link_names import LOOPBACK, Driver

if TYPE_CHECKING:
    from wirelab.experiment.link_profiles import OwnProfile

PINGS_MIN, PINGS_MAX = 10, 50
PINGING_S = 10.0
"""Approximate time limit of the pings before each trial, seconds."""
LOSS_PACKETS = 1000
SETTLE_S_MAX = 2.0


@dataclass(frozen=True)
class End:
    """Where one side of a trial runs."""

    interface: str = "lo"
    address: str = "127.0.0.1"
    namespace: str | None = None
    """Network namespace by name; None: wirelab's own."""


@dataclass(frozen=True)
class LinkSpec:
    """Parameters of a link: a profile, and the TCP settings at its ends."""

    profile: OwnProfile | str
    congestion: Congestion = "cubic"
    """This value and the next two are values of the axes with the same names."""
    initial_window: int | None = None
    after_idle: AfterIdle = "restart"
    driver: Driver | None = None
    """None: that of the profile."""
    measure: Measure = field(default_factory=Measure)
    """What the link measures before it is ready."""

    @classmethod
    def of(cls, profile: OwnProfile | str, axes: Axes, measure: Measure) -> LinkSpec:
        """The link of a trial for a stack with these axes."""
        return cls(
            profile,
            congestion=axes.congestion,
            initial_window=axes.initial_window,
            after_idle=axes.after_idle,
            measure=measure,
        )

    def config(self, cores: tuple[int, ...]) -> LinkConfig:
        """The JSON object for the process's standard input."""
        document = link_names.document(self.profile)
        return LinkConfig(
            profile=msgspec.convert(document, ProfileChoice),
            driver=self.driver or link_names.driver(self.profile),
            congestion=self.congestion,
            initcwnd=self.initial_window,
            after_idle=self.after_idle,
            cores=cores,
            measure=self.measure,
        )


class Loopback:
    """No link: both sides on the machine's loopback interface."""

    client = server = End()

    def __enter__(self) -> Loopback:
        return self

    def __exit__(self, *_: object) -> None:
        """Does nothing: there is nothing to remove."""

    def tick(self) -> None:
        """Does nothing: loopback cannot end."""

    def settle(self) -> None:
        """Does nothing: everything sent has arrived."""

    def finish(self, start_ns: int, end_ns: int) -> LinkRecord:
        """Its record. Congestion control is that of the machine, whatever the stack names."""
        own = machine.kernel_setting("congestion_control")
        return LinkRecord(LOOPBACK, {"client": own, "server": own})


class Link(ManagedProcess[Ready]):
    """A running link. Use as a context manager; it is removed completely at the end of the
    block."""

    noun = "the link"
    model = Ready
    ready_timeout_s = 180.0
    """Until it is ready it mostly waits for the pings that measure it."""
    stop_s = 10.0

    def __init__(
        self, spec: LinkSpec, *, cores: tuple[int, ...], log: Path, interruption: Interruption
    ) -> None:
        """Creates and measures it. Raises :class:`TrialFailed`, and :class:`Refused` if it is not
        possible."""
        self._cpu: list[Sample] = []
        # On SIGTERM it removes what it has created; SIGKILL would leave it behind.
        super().__init__(
            [str(engine_binary.find()), "link"],
            spec.config(cores),
            ProcessOptions(log=log, orphaned=signal.SIGTERM),
            interruption=interruption,
        )
        self.client = _end(self.ready.client)
        self.server = _end(self.ready.server)
        self.tick()

    def __exit__(self, *_: object) -> None:
        super().__exit__()
        self._remove()

    def tick(self) -> None:
        """Samples its CPU time. Raises :class:`TrialFailed` if it has ended."""
        death = self.death()
        if death:
            raise TrialFailed(f"{death} during the trial")
        cpu = metrics.cpu_seconds(self.child.pid)
        if cpu is not None:
            self._cpu.append(Sample(time.monotonic_ns(), cpu))

    def settle(self) -> None:
        """Waits until the last packets have arrived, so that captures contain them."""
        rtt = self.ready.measured.rtt_ms
        time.sleep(min(SETTLE_S_MAX, (rtt.p99 if rtt else 0.0) * 2e-3 + 0.02))

    def finish(self, start_ns: int, end_ns: int) -> LinkRecord:
        """Its record after the trial, with the CPU seconds of the process from ``start_ns`` to
        ``end_ns`` of the window. Raises :class:`TrialFailed` if it prints
        none."""
        ended = self.final_message(LinkEnded).link
        cpu_window_s = metrics.growth(self._cpu, start_ns, end_ns)
        line = msgspec.to_builtins(self.ready) | msgspec.to_builtins(ended)
        return LinkRecord.of({**line, "cpu_window_s": cpu_window_s})

    def _give_up(self) -> None:
        self.child.end(self.stop_s)
        self._remove()

    def _remove(self) -> None:
        """Removes what the link process left behind because it was killed."""
        for side in ("c", "s"):
            namespaces.remove(f"wl-{self.child.pid}-{side}")


AnyLink = Loopback | Link


class LinkReading:
    """Reads the record of a link at the end of its block, unless the block failed. Entered directly
    after the link, it reads when all that uses the link has ended."""

    def __init__(self, link: AnyLink) -> None:
        self._link = link
        self.window = (0, 0)
        """Start and end of the window in which calls were measured, nanoseconds."""
        self.record = LinkRecord()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, failure: type[BaseException] | None, *_: object) -> None:
        if failure is None:
            self.record = self._link.finish(*self.window)


def _end(ready: ReadyEnd) -> End:
    return End(ready.interface, ready.address, ready.namespace)


def open_link(
    spec: LinkSpec, *, cores: tuple[int, ...], log: Path, interruption: Interruption
) -> AnyLink:
    """The measured link of a trial. Raises :class:`TrialFailed`, also if no packets pass through
    it."""
    if spec.profile == LOOPBACK:
        return Loopback()
    link = Link(spec, cores=cores, log=log, interruption=interruption)
    from wirelab.checks import link as link_checks

    reason = link_checks.dead(spec.profile, link.ready)
    if reason:
        with link:
            raise TrialFailed(reason)
    return link


def measurement(nominal: Nominal | None) -> Measure:
    """What a link measures itself before each trial: always the round trip, loss and rate if its
    profile has them. Probes are UDP; lost SYNs are counted during the trial."""
    if nominal is None:
        return Measure(pings=PINGS_MAX, loss_packets=0, rate=False)
    pings = int(PINGING_S * 1e3 / max(1.0, nominal.rtt_ms))
    rates = (nominal.rate_kbit.forward, nominal.rate_kbit.backward)
    return Measure(
        pings=max(PINGS_MIN, min(PINGS_MAX, pings)),
        loss_packets=LOSS_PACKETS if nominal.loss_percent else 0,
        rate=any(rate is not None for rate in rates),
    )


def try_out(spec: LinkSpec, log: Path, interruption: Interruption) -> Ready:
    """Creates and removes the link, and returns its ready line. Raises :class:`LabError` with
    reason and remedy if it is not possible."""
    name = link_names.name(spec.profile)
    try:
        with Link(spec, cores=(), log=log, interruption=interruption) as link:
            return link.ready
    except Refused as refused:
        reason, remedy = refused.message, refused.remedy
        if "profile." in refused.message:  # an invalid key, not a limit of the machine
            raise LabError(f"link {name}: {reason}", remedy) from refused
    except TrialFailed as failure:
        reason, remedy = failure.reason, "`wirelab doctor` reports what this machine supports"
    raise LabError(
        f"link {name} is not available here: {reason}",
        f"{remedy}; or write `links: loopback`",
    )
