"""A trial: one measured execution of one point of an experiment, or of several that took turns.

:mod:`wirelab.records.line` reads and writes it. Statistics, verdicts, explanations and the report
read the records. Times are in nanoseconds, rates per second, sizes in bytes, CPU in seconds.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any, Literal

import msgspec

from wirelab.documents.axes import Axes
from wirelab.records.caller import CallerRecord
from wirelab.records.client import ClientsRecord
from wirelab.records.conversion import convert, convert_axes, locate
from wirelab.records.group import GroupResult
from wirelab.records.host import HostRecord
from wirelab.records.link import CaptureRecord, LinkRecord, PlacementRecord, Side
from wirelab.records.load import LoadRecord
from wirelab.records.noise import NoiseRecord
from wirelab.records.proxy import ProxyRecord
from wirelab.records.service import ServiceRecord, StoreRecord
from wirelab.records.slices import SlicesRecord
from wirelab.records.wire import WireRecord

Json = dict[str, Any]


Status = Literal["measured", "failed"]


Outcome = Literal["ok", "noted", "marked", "not-measurable"]
"""``noted``: to be known, and no figure is doubtful because of it."""


PROXIED = "through a proxy"
"""Semantic class of stacks with the axis ``via``."""


def now() -> str:
    """The time in records: ISO 8601, UTC."""
    return datetime.now(UTC).isoformat(timespec="milliseconds")


@dataclass(frozen=True)
class Point:
    """One cell of the experiment's matrix, without the repeat."""

    stack: str
    """Canonical stack reference, e.g. ``rest@go?codec=text&connection=close``."""
    axes: Axes
    """The value of every axis."""
    operation: str
    """Operation of the contract, e.g. ``Hello``."""
    bytes: int
    """Size of the operation's variable part."""
    load: LoadRecord
    link: str = "loopback"
    contract: str = "transfer"
    options: Json = field(default_factory=dict)
    """Other properties of the point: faults, chunk size, placement, seed of a load."""
    service: Json = field(default_factory=dict)
    """Declaration of a user-defined service; empty for wirelab's services. It does not affect the
    comparison of stacks."""

    def to_json(self) -> Json:
        """As stored in the journal."""
        line: Json = msgspec.to_builtins(self)
        line["axes"] = dict(self.axes.texts)
        if not self.service:
            line.pop("service")
        return line

    @classmethod
    def of(cls, line: object) -> Point:
        """From the journal. Raises :class:`TypeError`."""
        given = convert(line, dict[str, Any])
        if "axes" in given:
            with locate(".axes"):
                given["axes"] = convert_axes(given["axes"])
        return convert(given, cls)

    @property
    def semantic_class(self) -> str:
        """When a call is complete for its caller: ``two-way``, when the reply is read; ``one-way``,
        when the service reports that it has processed it; ``through a proxy``, when the reply of a
        proxy is read. Otherwise hops, delivery and order are always those of one connection;
        streams are separate operations."""
        return PROXIED if self.axes.via != "none" else self.axes.reply


@dataclass(frozen=True)
class Check:
    """One verdict on a trial's validity, with its reason."""

    name: str
    outcome: Outcome
    reason: str

    @classmethod
    def judge(cls, name: str, right: bool, reason: str) -> Check:
        """``ok`` or ``marked``."""
        return cls(name, "ok" if right else "marked", reason)

    @classmethod
    def unmeasurable(cls, name: str, reason: str) -> Check:
        """A check that could not be made, with the reason."""
        return cls(name, "not-measurable", f"not measurable here, because {reason}")


@dataclass(frozen=True)
class Trial:
    """One cell of a finished trial, measured or failed."""

    id: str
    """Stable within a run: the same experiment and seed give the same ids. It names the folder of
    the cell."""
    point: Point
    repeat: int
    order: int
    """Position in the random interleaved order, from 0."""
    status: Status
    reason: str = ""
    """Why it failed; empty if it was measured."""
    started: str = ""
    """ISO 8601, UTC."""
    seconds: float = 0.0
    """Wall-clock seconds of the whole trial, preparation included, divided among its cells."""
    result: GroupResult = field(default_factory=GroupResult)
    """Measurements of the first group without histograms, which are in trials/<id>/."""
    background: tuple[GroupResult, ...] = ()
    """The same for each further group, which ran at the same time (``load.background``)."""
    engine: CallerRecord = field(default_factory=CallerRecord)
    """The process that made the calls."""
    service: ServiceRecord = field(default_factory=ServiceRecord)
    placement: PlacementRecord = field(default_factory=PlacementRecord)
    link: LinkRecord = field(default_factory=LinkRecord)
    captures: dict[Side, CaptureRecord] = field(default_factory=dict)
    """By the end of the link; empty without a capture."""
    wire: WireRecord | None = None
    """Contents of the packets; None without a capture."""
    store: StoreRecord | None = None
    """None if rows are stored in the service's memory."""
    proxy: ProxyRecord | None = None
    """None if calls go directly to the service."""
    host: HostRecord | None = None
    """What the service's threads did; None if that was not recorded."""
    clients: ClientsRecord | None = None
    """What each of several clients did; None if one made the load."""
    noise: NoiseRecord | None = None
    """What the machine did besides; None in runs of earlier versions."""
    slices: SlicesRecord | None = None
    """None if the service had the trial for itself."""
    node: str = ""
    """Name of the host of a farm that measured it; empty: the machine of the run."""
    repeats: str = ""
    """Why the trial with the same id before it was spoilt; empty: it is the first one."""
    checks: tuple[Check, ...] = ()

    @property
    def called_s(self) -> float:
        """Seconds for which the service was called and CPU time was used for it: the window, or all
        of its slices with their beginnings and drains."""
        return self.slices.own_s if self.slices else self.result.window_s

    @property
    def whole_s(self) -> float:
        """Seconds to which figures of the whole trial refer, such as steal time: the window, or all
        slices of all services."""
        return self.slices.whole_s if self.slices else self.result.window_s

    def client_cpu_s(self) -> float:
        """CPU seconds that the client spent on its calls within the window, without the time in
        which it spun without work (``spin_s``)."""
        return self.engine.cpu_s()

    def count_ended(self) -> int:
        """Calls that ended within the window, to which the CPU time of all groups refers. Callers
        other than the engine, and older engines, record only the number of calls that belong to the
        window."""
        return self.total(lambda one: one.calls if one.ended is None else one.ended) or 0

    def total(self, count: Callable[[GroupResult], int | None]) -> int | None:
        """A count over the probe and background groups, which the service does not distinguish;
        None if the caller did not count."""
        counts = [count(group) for group in (self.result, *self.background)]
        known = [one for one in counts if one is not None]
        return sum(known) if len(known) == len(counts) else None

    def time_ns(self, which: str, percentile: str) -> float | None:
        """A percentile (``p50``, ``mean``, ...) of ``response``, ``service``, ...; None if it was
        not recorded or too few samples lie above it."""
        times = self.result.times.get(which)
        if times is None or not times.count:
            return None
        if percentile == "mean":
            return times.mean_ns
        if percentile in ("min", "max"):
            bound = times.min_ns if percentile == "min" else times.max_ns
            return None if bound is None else float(bound)
        value = times.percentiles_ns.get(percentile)
        return None if value is None else float(value)
