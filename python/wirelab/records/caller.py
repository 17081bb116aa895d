"""The process that made the calls of a trial."""

from __future__ import annotations

from dataclasses import dataclass

from wirelab.documents.event import Pauses
from wirelab.records.conversion import convert, write

Json = dict[str, object]


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
    pauses: Pauses | None = None
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
        return write(self, {"rss_max_bytes", "steal_s"})

    def cpu_s(self) -> float:
        """CPU seconds spent on calls within the window, without spinning."""
        used = (self.cpu_user_s or 0.0) + (self.cpu_system_s or 0.0)
        return max(0.0, used - (self.spin_s or 0.0))
