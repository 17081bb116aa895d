"""A trial: one measured execution of one point of an experiment.

The journal stores one record per trial as a JSON line. Statistics, verdicts, explanations and the
report read them. Times are in nanoseconds, rates per second, sizes in bytes, CPU in seconds.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import asdict, dataclass, field, fields, replace
from datetime import UTC, datetime
from typing import Any, Literal

import msgspec

from wirelab.experiment.load_record import LoadRecord
from wirelab.format.sanitize import FIELD
from wirelab.trial.codec_record import CodecRecord
from wirelab.trial.conversion import convert, located, written
from wirelab.trial.host_record import HostRecord
from wirelab.trial.link_record import CaptureRecord, LinkRecord, PlacementRecord, Side
from wirelab.trial.noise_record import NoiseRecord, PausesRecord
from wirelab.trial.proxy_record import ProxyRecord
from wirelab.trial.wire_record import WireRecord

Json = dict[str, Any]
Status = Literal["measured", "failed"]
Outcome = Literal["ok", "marked", "not-measurable"]


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
    axes: dict[str, str]
    """Every axis with its value, defaults included (``binding``, ``language``, ``codec``, ...)."""
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
        if not self.service:
            line.pop("service")
        return line

    @classmethod
    def of(cls, line: object) -> Point:
        """From the journal. Raises :class:`TypeError`."""
        return convert(line, cls)

    @property
    def semantic_class(self) -> str:
        """When a call is complete for its caller: ``two-way``, when the reply is read; ``one-way``,
        when the service reports that it has processed it; ``through a proxy``, when the reply of a
        proxy is read. Otherwise hops, delivery and order are always those of one connection;
        streams are separate operations."""
        if self.axes.get("via", "none") != "none":
            return PROXIED
        return self.axes.get("reply", "two-way")


@dataclass(frozen=True)
class Check:
    """One verdict on a trial's validity, with its reason."""

    name: str
    outcome: Outcome
    reason: str

    @classmethod
    def judged(cls, name: str, right: bool, reason: str) -> Check:
        """``ok`` or ``marked``."""
        return cls(name, "ok" if right else "marked", reason)

    @classmethod
    def unmeasurable(cls, name: str, reason: str) -> Check:
        """A check that could not be made, with the reason."""
        return cls(name, "not-measurable", f"not measurable here, because {reason}")


@dataclass(frozen=True)
class Times:
    """One distribution of times, in nanoseconds."""

    count: int = 0
    mean_ns: float = 0.0
    min_ns: int | None = 0
    """None: not reported by the caller."""
    max_ns: int = 0
    percentiles_ns: dict[str, int] = field(default_factory=dict)
    """By name (``p50``, ``p99.9``), only those with enough samples above them."""
    hdr: str | None = None
    """The histogram encoded by the engine; None in the journal, see ``histograms.hlog``."""


@dataclass(frozen=True)
class Warmup:
    """Course of the warm-up."""

    seconds: float = 0.0
    calls: int = 0
    stationary: bool | None = None
    """Whether the series was stationary when the window opened; None: the caller has no such
    test."""


@dataclass(frozen=True)
class SequencesResult:
    """Sequences of calls that belong to the window by the arrival of their first call."""

    count: int = 0
    errors: int = 0
    response: Times = field(default_factory=Times)
    response_good: Times | None = None
    """Times of sequences without a failed call; None if all or none of them have one."""


@dataclass(frozen=True)
class OperationResult:
    """Calls of one operation, if the group calls several."""

    operation: str
    calls: int = 0
    ok: int = 0
    errors: int = 0
    errors_by_kind: dict[str, int] = field(default_factory=dict)
    errors_by_code: dict[str, int] = field(default_factory=dict)
    times: dict[str, Times] = field(default_factory=dict)


@dataclass(frozen=True)
class PeriodResult:
    """A stage of a load, or a burst, as far as it is within the window (see
    :class:`wirelab.documents.event.PeriodOutcome`)."""

    start_s: float = 0.0
    """From the start of the window."""
    duration_s: float = 0.0
    """For a burst: from the first planned arrival to the last."""
    calls_planned: float | None = None
    """For open loads."""
    users_planned: float | None = None
    """For closed loads, averaged."""
    calls: int = 0
    errors: int = 0
    sent: int = 0
    """During a stage; for a burst at any time."""
    ended: int = 0
    users: float | None = None
    sent_after_s: float | None = None
    """From its start until the last call was sent."""
    response: Times | None = None


@dataclass(frozen=True)
class ReplyResult:
    """Replies that were equal."""

    status: int = 0
    bytes: int = 0
    hash: str = ""
    count: int = 0


@dataclass(frozen=True)
class RepliesResult:
    """Differences between good replies if no expectation was declared (see
    :class:`wirelab.documents.event.RepliesOutcome`)."""

    count: int = 0
    different: tuple[ReplyResult, ...] = ()
    """The first 16 by status, length and content, most frequent first."""
    others: int = 0
    bytes_min: int = 0
    bytes_max: int = 0
    compared_by_length: int = 0
    """Replies larger than 1 MB."""


@dataclass(frozen=True)
class GroupResult:
    """Measurements of a caller in the window, as in the engine's ``groups`` entry (see
    :class:`wirelab.documents.event.GroupOutcome` for each figure).

    None: not recorded by a third-party tool or an older engine. A failed trial has an empty result.
    """

    name: str = "main"
    load: str = ""
    """``closed`` or ``open``."""
    window_s: float = 0.0
    window_start_ns: int | None = None
    calls_planned: int | None = None
    """Calls, or sequences, planned for the window; None: it ended by time."""
    calls: int = 0
    ok: int = 0
    errors: int = 0
    ended: int | None = None
    errors_by_kind: dict[str, int] = field(default_factory=dict)
    errors_by_code: dict[str, int] = field(default_factory=dict)
    error_examples: tuple[str, ...] = ()
    rate_per_s: float = 0.0
    rate_planned_per_s: float | None = None
    concurrency: float | None = None
    queue_max: int | None = None
    connections_opened: int | None = None
    connections_peak: int | None = None
    bytes_sent: int | None = None
    bytes_received: int | None = None
    messages: int | None = None
    calls_whole_run: int | None = None
    warmup: Warmup = field(default_factory=Warmup)
    times: dict[str, Times] = field(default_factory=dict)
    series: tuple[int, ...] = ()
    cpu_s: float | None = None
    operations: tuple[OperationResult, ...] = ()
    sequences: SequencesResult | None = None
    periods: tuple[PeriodResult, ...] = ()
    """Stages of the load, or bursts; the first 1,000 of the window."""
    replies: RepliesResult | None = None
    """For user-defined services without an expectation."""
    first_calls_ns: tuple[int, ...] | None = None
    """With ``start=cold``: response times of the first 1,000 calls of the engine or a language's
    own client, in planned order; 0: the call failed."""

    @classmethod
    def of(cls, group: object) -> GroupResult:
        """From a ``groups`` entry of an outcome, or a line of the journal. Raises
        :class:`TypeError` if it has another structure."""
        return convert(group, cls)

    def to_json(self) -> Json:
        """As stored in the journal; values that the caller did not record are left out."""
        if self == _EMPTY:
            return {}
        written = {
            name: value
            for name, value in asdict(self).items()
            if value is not None or name in _NULL
        }
        if self.warmup.stationary is None:
            written["warmup"].pop("stationary")
        if not self.periods:
            written.pop("periods")
        for times in _all_times(written):
            if times["hdr"] is None:
                times.pop("hdr")
        return written

    def named_times(self) -> Iterator[tuple[str, Times]]:
        """All times by name: ``response``; ``Reserve.response`` if the group calls several
        operations; ``sequence.response`` if it calls sequences; and also ``response_good`` and
        ``response_failed`` if calls failed."""
        yield from self.times.items()
        for operation in self.operations:
            for name, times in operation.times.items():
                yield f"{operation.operation}.{name}", times
        if self.sequences is not None:
            yield "sequence.response", self.sequences.response
            if self.sequences.response_good is not None:
                yield "sequence.response_good", self.sequences.response_good
        for number, period in enumerate(self.periods, 1):
            if period.response is not None:
                yield f"stage{number}.response", period.response

    def without_histograms(self) -> GroupResult:
        """For the journal; the histograms are in a separate file."""
        return replace(
            self,
            times=_bare(self.times),
            operations=tuple(replace(one, times=_bare(one.times)) for one in self.operations),
            periods=tuple(
                replace(one, response=one.response and replace(one.response, hdr=None))
                for one in self.periods
            ),
            sequences=self.sequences
            and replace(
                self.sequences,
                response=replace(self.sequences.response, hdr=None),
                response_good=self.sequences.response_good
                and replace(self.sequences.response_good, hdr=None),
            ),
        )


_EMPTY = GroupResult()
_NULL = {"calls_planned", "rate_planned_per_s", "sequences"}
"""Keys that are null if the load does not have the property."""


def _bare(times: Mapping[str, Times]) -> dict[str, Times]:
    return {name: replace(one, hdr=None) for name, one in times.items()}


def _all_times(group: Json) -> Iterator[Json]:
    """All distributions of a group in JSON."""
    yield from group["times"].values()
    for operation in group["operations"]:
        yield from operation["times"].values()
    yield from filter(None, (period["response"] for period in group.get("periods", ())))
    sequences = group.get("sequences") or {}
    yield from filter(None, map(sequences.get, ("response", "response_good")))


def _list(content: object) -> list[object]:
    if not isinstance(content, list):
        raise TypeError("expected a list")
    return content


@dataclass(frozen=True)
class FileTables:
    """Engine threads with an open file table of their own each, if one table was too small for the
    connections."""

    threads: int
    limit: int
    """Maximum number of open files per table."""

    def __str__(self) -> str:
        return (
            f"connections over {self.threads} engine threads with separate open file tables, "
            f"because the limit of open files is {self.limit:,}"
        )


@dataclass(frozen=True)
class CallerRecord:
    """The process that made the calls: the engine, or another caller with its identity. None: not
    recorded."""

    cpu_user_s: float | None = None
    cpu_system_s: float | None = None
    """CPU seconds within the window."""
    spin_s: float | None = None
    """Part of them in which the engine spun without work."""
    cpu_process_s: float | None = None
    """For callers other than the engine: CPU seconds of the whole process."""
    rss_max_bytes: int | None = None
    switches_involuntary: int | None = None
    steal_s: float | None = None
    run_delay_s: float | None = None
    """Time within the window for which its threads were ready to run and waited for a core,
    summed."""
    pauses: PausesRecord | None = None
    """For the engine."""
    cores: tuple[int, ...] | None = None
    file_tables: FileTables | None = None
    runtime: str | None = None
    """For a language's own client: ``go1.26.8``."""
    stamps: dict[str, str] | None = None
    """For a language's own client: source of each time stamp of a call, or ``unavailable``."""
    processors: int | None = None
    """For a tool: the number of processors that it may use."""
    runs: int | None = None
    """For a tool: its processes; one is for the warm-up, if there was one."""
    interrupted: bool | None = None
    caller: str | None = None
    """Name of the caller; None: the engine."""
    version: str | None = None
    profile: str | None = None
    """For the engine: ``release`` or ``debug``."""
    libraries: dict[str, str] | None = None
    sha256: str | None = None

    @classmethod
    def of(cls, line: object) -> CallerRecord:
        """From the journal of any version. Raises :class:`TypeError`."""
        if isinstance(line, dict) and "awake_s" in line:
            line = {"spin_s": line["awake_s"], **line}  # the name until version 1
        return convert(line, cls)

    def to_json(self) -> Json:
        """As stored in the journal."""
        return written(self, {"rss_max_bytes", "steal_s"})

    def cpu_s(self) -> float:
        """CPU seconds spent on calls within the window, without spinning."""
        used = (self.cpu_user_s or 0.0) + (self.cpu_system_s or 0.0)
        return max(0.0, used - (self.spin_s or 0.0))


OWN = "lab's own"
"""Library name for this project's own code, used if no maintained library does the work."""


@dataclass(frozen=True)
class Library:
    """A library on a service's request path (docs/reference/process.md)."""

    name: str
    version: str
    role: str = ""
    """``server``, ``codec``, ...; empty in older runs without roles."""


@dataclass(frozen=True)
class IdentityRecord:
    """The proof that the service conforms to the contract, or the reason why there is none."""

    unverified: str | None = None
    verified: str | None = None
    """Time of the proof."""
    stack: str | None = None
    contract: str | None = None
    sha256: str | None = None
    engine_sha256: str | None = None
    deep: bool | None = None
    calls: dict[str, int] | None = None
    """By section of the examination."""
    gaps: tuple[str, ...] | None = None

    def to_json(self) -> Json:
        """As stored in the journal and in the kept proof."""
        return written(self, set())


@dataclass(frozen=True)
class ServiceRecord:
    """The measured service: its ready line, its binary and its observations."""

    ready: bool | None = None
    address: str | None = None
    language: str | None = None
    runtime: str | None = None
    libraries: tuple[Library, ...] | dict[str, str] | None = None
    """In older runs without roles a map of names to versions."""
    set: dict[str, Any] | None = None
    """Actual settings: ``nagle``, ``processors``, ..."""
    pid: int | None = None
    report: str | None = None
    ior: str | None = None
    sha256: str | None = None
    """SHA-256 of the binary."""
    identity: IdentityRecord | None = None
    cpu_s: float | None = None
    cpu_window_s: float | None = None
    """CPU seconds of the process within the window."""
    rss_max_bytes: int | None = None
    switches_involuntary_per_s: float | None = None
    run_delay_s: float | None = None
    """Time within the window for which its threads were ready to run and waited for a core,
    summed."""
    calls_seen: int | None = None
    errors_seen: int | None = None
    connections_seen: int | None = None
    concurrency_seen: float | None = None
    runtime_metrics: dict[str, dict[str, float]] = field(default_factory=dict)
    """By name ``mean`` and ``max`` within the window, for counters ``growth``
    (:meth:`wirelab.trial.series.Series.summary`)."""
    metrics: dict[str, float] = field(default_factory=dict)
    """The last scrape."""
    codec: CodecRecord | None = None
    """Present if the experiment has ``codec_times``."""

    def listed_libraries(self) -> list[str]:
        """One line per role: ``codec: serde_json 1.0.154``; a single line without a role for older
        runs without roles."""
        if isinstance(self.libraries, dict):
            named = [f"{name} {version}" for name, version in sorted(self.libraries.items())]
            return [", ".join(named)] if named else []
        roles: dict[str, list[str]] = {}
        for library in self.libraries or ():
            roles.setdefault(library.role, []).append(f"{library.name} {library.version}")
        return [f"{role}: {', '.join(named)}" for role, named in roles.items()]

    def announced(self, ready_line: Mapping[str, Any]) -> ServiceRecord:
        """From the ready line of the service. Raises :class:`TypeError`."""
        return convert({**ready_line, **written(self, set())}, ServiceRecord)

    def to_json(self) -> Json:
        """As stored in the journal."""
        observed = {"cpu_s", "cpu_window_s", "rss_max_bytes", "switches_involuntary_per_s"}
        line = written(self, {*observed, "concurrency_seen"})
        if line and self.identity is not None:
            line["identity"] = self.identity.to_json()
        return line


@dataclass(frozen=True)
class StoreRecord:
    """The database of a service; if wirelab started it, with its resource usage while calls were
    made."""

    kind: str
    pool: int | None = None
    """None: the driver's default."""
    version: str = ""
    cpu_user_s: float | None = None
    cpu_system_s: float | None = None
    memory_bytes: int | None = None
    connections: int | None = None

    def cpu_s(self) -> float | None:
        """CPU seconds; None if wirelab did not start its processes."""
        if self.cpu_user_s is None or self.cpu_system_s is None:
            return None
        return self.cpu_user_s + self.cpu_system_s

    def to_json(self) -> Json:
        """As stored in the journal."""
        return written(self, {"pool"})


_MAPPINGS = (
    *("point", "result", "engine", "service", "placement", "link", "captures", "wire"),
    *("store", "proxy", "host", "noise"),
)
"""Parts of a trial that are objects in its line."""


class _Plain(msgspec.Struct):
    """Types of the other values of a line."""

    id: str
    repeat: int
    order: int
    status: Status
    reason: str = ""
    started: str = ""
    seconds: float = 0.0
    repeats: str = ""


_PARTS: dict[str, Callable[[object], object]] = {
    "result": GroupResult.of,
    "engine": CallerRecord.of,
    "service": lambda line: convert(line, ServiceRecord),
    "placement": lambda line: convert(line, PlacementRecord),
    "link": LinkRecord.of,
    "captures": lambda line: convert(line, dict[Side, CaptureRecord]),
}
_OPTIONAL_PARTS: dict[str, Callable[[object], object]] = {
    "wire": WireRecord.of,
    "store": lambda line: convert(line, StoreRecord),
    "proxy": lambda line: convert(line, ProxyRecord),
    "host": lambda line: convert(line, HostRecord),
    "noise": lambda line: convert(line, NoiseRecord),
}
"""Parts that are None in the record and an empty object in its line."""


@dataclass(frozen=True)
class Trial:
    """One finished trial, measured or failed."""

    id: str
    """Stable within a run: the same experiment and seed give the same ids."""
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
    """Wall-clock seconds of the whole trial, preparation included."""
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
    noise: NoiseRecord | None = None
    """What the machine did besides; None in runs of earlier versions."""
    repeats: str = ""
    """Why the trial with the same id before it was spoilt; empty: it is the first one."""
    checks: tuple[Check, ...] = ()

    def client_cpu_s(self) -> float:
        """CPU seconds that the client spent on its calls within the window, without the time in
        which it spun without work (``spin_s``)."""
        return self.engine.cpu_s()

    def ended(self) -> int:
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

    def to_json(self) -> Json:
        """The journal line as an object."""
        line = {one.name: getattr(self, one.name) for one in fields(self)}
        return {
            **line,
            "point": self.point.to_json(),
            "result": self.result.to_json(),
            "background": [one.to_json() for one in self.background],
            "engine": self.engine.to_json(),
            "service": self.service.to_json(),
            "placement": msgspec.to_builtins(self.placement),
            "link": msgspec.to_builtins(self.link),
            "captures": msgspec.to_builtins(self.captures),
            "wire": self.wire.to_json() if self.wire else {},
            "store": self.store.to_json() if self.store else {},
            "proxy": self.proxy.to_json() if self.proxy else {},
            "host": msgspec.to_builtins(self.host) if self.host else {},
            "noise": msgspec.to_builtins(self.noise) if self.noise else {},
            "checks": tuple(map(asdict, self.checks)),
        }

    @classmethod
    def from_json(cls, line: Json) -> Trial:
        """The inverse of :meth:`to_json`. Raises :class:`TypeError` for unknown keys or another
        structure."""
        known = dict(line)
        if unknown := known.keys() - {one.name for one in fields(cls)}:
            raise TypeError(f"unknown key{FIELD}.{min(unknown)}`")
        for name in _MAPPINGS:
            if not isinstance(known.get(name, {}), dict):
                raise TypeError(f"expected an object{FIELD}.{name}`")
        with located("background"):
            known["background"] = tuple(map(GroupResult.of, _list(known.get("background", []))))
        for name, of in _PARTS.items():
            with located(name):
                known[name] = of(known.get(name, {}))
        for name, of in _OPTIONAL_PARTS.items():
            with located(name):
                known[name] = of(known[name]) if known.get(name) else None
        with located("point"):
            known["point"] = Point.of(known["point"])
        with located("checks"):
            known["checks"] = convert(known.get("checks", []), tuple[Check, ...])
        convert(known, _Plain)
        return cls(**known)

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


def histogram_log(group: GroupResult) -> str:
    """The group's histograms in the HdrHistogram log format, version 1.3, one tagged line each; the
    maximum is in milliseconds, as the format requires."""
    start_s = (group.window_start_ns or 0) / 1e9
    lines = [
        "#[Histogram log format version 1.3]",
        f"#[StartTime: {start_s:.3f} (seconds of CLOCK_MONOTONIC)]",
        '"StartTimestamp","Interval_Length","Interval_Max","Interval_Compressed_Histogram"',
    ]
    for name, times in group.named_times():
        if times.hdr:
            extent = f"{start_s:.3f},{group.window_s:.3f},{times.max_ns / 1e6:.3f}"
            lines.append(f"Tag={name},{extent},{times.hdr}")
    return "\n".join(lines) + "\n"
