"""The measured service of a trial, its identity and its database."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from wirelab.records.codec import CodecRecord
from wirelab.records.conversion import convert, write

Json = dict[str, object]


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
        return write(self, set())


@dataclass(frozen=True)
class ServiceRecord:
    """The measured service: its ready line, its binary and its observations."""

    ready: bool | None = None
    address: str | None = None
    language: str | None = None
    runtime: str | None = None
    libraries: tuple[Library, ...] | dict[str, str] | None = None
    """In older runs without roles a map of names to versions."""
    set: Mapping[str, object] | None = None
    """Actual settings: ``nagle``, ``processors``, ..."""
    pid: int | None = None
    report: str | None = None
    ior: str | None = None
    sha256: str | None = None
    """SHA-256 of the binary."""
    identity: IdentityRecord | None = None
    containment: str | None = None
    """What held the processes of a user-defined command together: ``cgroup v2``, ``cgroup v1,
    freezer`` or ``subreaper``."""
    left: tuple[str, ...] | None = None
    """Processes that had detached from it and were running after its end, described; None if there
    were none."""
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

    def list_libraries(self) -> list[str]:
        """One line per role: ``codec: serde_json 1.0.154``; a single line without a role for older
        runs without roles."""
        if isinstance(self.libraries, dict):
            named = [f"{name} {version}" for name, version in sorted(self.libraries.items())]
            return [", ".join(named)] if named else []
        roles: dict[str, list[str]] = {}
        for library in self.libraries or ():
            roles.setdefault(library.role, []).append(f"{library.name} {library.version}")
        return [f"{role}: {', '.join(named)}" for role, named in roles.items()]

    def add_ready_line(self, ready_line: Mapping[str, object]) -> ServiceRecord:
        """From the ready line of the service. Raises :class:`TypeError`."""
        return convert({**ready_line, **write(self, set())}, ServiceRecord)

    def to_json(self) -> Json:
        """As stored in the journal."""
        observed = {"cpu_s", "cpu_window_s", "rss_max_bytes", "switches_involuntary_per_s"}
        line = write(self, {*observed, "concurrency_seen"})
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
        return write(self, {"pool"})
