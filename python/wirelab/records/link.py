"""Records of the link, the captures and the cores of a trial."""

from __future__ import annotations

from typing import Literal

import msgspec

from wirelab.documents.link_ended import Dropped
from wirelab.documents.link_ready import Emulator, ProfileDocument
from wirelab.records.conversion import convert

Way = Literal["forward", "backward"]
"""Direction: from client to server, or back."""
Side = Literal["client", "server", "upstream"]
"""One end of a link; ``upstream`` is between a proxy and its service."""


class LinkEnd(msgspec.Struct, frozen=True, omit_defaults=True):
    """Namespace, address and device of one side of a trial."""

    interface: str
    address: str


class NominalLink(msgspec.Struct, frozen=True, omit_defaults=True):
    """Expected values of the profile for an echo of 84 bytes."""

    rtt_ms: float | None = None
    """Mean."""
    loss_percent: float | None = None
    rate_kbit: dict[Way, float | None] = {}
    """None: no bottleneck."""
    syn_loss_percent: dict[Way, float] = {}
    """In addition to the loss of all packets."""


class RoundTrips(msgspec.Struct, frozen=True, omit_defaults=True):
    """Echoes before the trial, in milliseconds."""

    p50: float | None = None
    mean: float | None = None
    min: float | None = None
    max: float | None = None
    p90: float | None = None
    p99: float | None = None
    n: int = 0
    lost: int = 0


class LossShare(msgspec.Struct, frozen=True, omit_defaults=True):
    """Lost packets, and the 99.9 % interval of their share in percent."""

    value: float = 0.0
    low: float = 0.0
    high: float = 0.0
    n: int = 0


class MeasuredLoss(LossShare, frozen=True, omit_defaults=True):
    """Lost echoes in either direction, and per direction."""

    forward: LossShare | None = None
    backward: LossShare | None = None


class MeasuredLink(msgspec.Struct, frozen=True, omit_defaults=True):
    """Measurements before the trial."""

    rtt_ms: RoundTrips | None = None
    base_rtt_ms: float | None = None
    """Median before the profile was applied."""
    loss_percent: MeasuredLoss | None = None
    rate_kbit: dict[Way, float] | None = None


class TcpStart(msgspec.Struct, frozen=True, omit_defaults=True):
    """Initial TCP parameters of connections at one end."""

    initial_window: int
    """Segments."""
    receive_window: int
    """Initial receive window in bytes."""
    after_idle: str
    """``restart`` or ``keep``."""


class SynCount(msgspec.Struct, frozen=True, omit_defaults=True):
    """SYNs of one direction during the trial."""

    offered: int
    lost: int


class Lateness(msgspec.Struct, frozen=True, omit_defaults=True):
    """Delay between planned and actual departure of packets in the emulator, microseconds."""

    p99: float
    p50: float | None = None
    max: float | None = None
    n: int = 0


class LinkRecord(msgspec.Struct, frozen=True, omit_defaults=True):
    """The link of a trial. On loopback only the machine's congestion control; otherwise what the
    link reported when it was ready and when it ended. None: not recorded."""

    name: str = ""
    congestion: dict[Side, str | None] = {}
    driver: str | None = None
    verified: bool | None = None
    """Whether this project has measured the effect of the driver on packets."""
    profile: ProfileDocument | None = None
    nominal: NominalLink = NominalLink()
    measured: MeasuredLink = MeasuredLink()
    tcp: dict[Side, TcpStart] = {}
    emulator: Emulator | None = None
    seed: int | None = None
    mtu: int | None = None
    offloads: str | None = None
    client: LinkEnd | None = None
    server: LinkEnd | None = None
    packets: dict[Way, int] | None = None
    bytes: dict[Way, int] | None = None
    device_drops: dict[Way, int] | None = None
    """Packets dropped by the machine instead of the profile."""
    lost: dict[Way, int] | None = None
    queue_drops: dict[Way, int] | None = None
    corrupted: dict[Way, int] | None = None
    duplicated: dict[Way, int] | None = None
    reordered: dict[Way, int] | None = None
    syns: dict[Way, SynCount] | None = None
    dropped: tuple[Dropped, ...] = ()
    """Dropped by the timeline of a test."""
    lateness_us: Lateness | None = None
    seconds: float | None = None
    cpu_s: float | None = None
    cpu_window_s: float | None = None
    """CPU seconds of the link process within the window."""

    @classmethod
    def of(cls, line: object) -> LinkRecord:
        """From the journal, or from the output of a link. Raises :class:`TypeError`."""
        return convert(line, cls)

    def driver_text(self) -> str:
        """The driver, marked if this project has never measured its effect; empty on loopback.
        Older records do not contain that and are judged by the driver's name."""
        if self.driver is None:
            return ""
        verified = self.driver != "netem" if self.verified is None else self.verified
        return self.driver if verified else f"{self.driver} (not verified)"

    def rtt_ms(self) -> float | None:
        """Median of the measured round trip."""
        return self.measured.rtt_ms.p50 if self.measured.rtt_ms else None


class CaptureRecord(msgspec.Struct, frozen=True, omit_defaults=True):
    """Contents of a capture."""

    packets: int = 0
    bytes: int = 0
    drops: int = 0
    """Packets dropped because the ring buffer was full."""
    freezes: int = 0
    """Number of times that the ring buffer was full."""
    file: str = ""
    interface: str | None = None
    cpu_s: float | None = None


Cores = tuple[int, ...] | Literal["unpinned"] | None
"""Cores of a process; None: there is no such process."""


class PlacementRecord(msgspec.Struct, frozen=True, omit_defaults=True):
    """Assignment of processes to cores."""

    rule: str = ""
    """``pinned``, ``unpinned`` or ``cores``."""
    service: Cores = None
    engine: Cores = None
    front: Cores = None
    emulator: Cores = None
    capture: Cores = None
    proxy: Cores = None
    processors: int | None = None
    """Number of threads of service code."""
