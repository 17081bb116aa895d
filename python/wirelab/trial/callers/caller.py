"""What every caller of a trial has in common."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Protocol

from wirelab.documents.event import TimePoint
from wirelab.process.endpoint import Endpoint
from wirelab.process.engine import RunObserver
from wirelab.records.caller import CallerRecord
from wirelab.records.client import ClientsRecord
from wirelab.records.group import GroupResult


@dataclass(frozen=True)
class Called:
    """Measurements of the caller, and its identity."""

    groups: tuple[GroupResult, ...]
    """The probe, and its background groups."""
    caller: CallerRecord
    clients: ClientsRecord | None = None
    """What each of several clients did."""
    call_log_error: str = ""
    """Why the log of calls ended early."""
    over_time: Mapping[str, Sequence[TimePoint]] = field(default_factory=dict)
    """The probe's response times over the window, by percentile."""

    @property
    def probe(self) -> GroupResult:
        """The group whose figures are those of the trial."""
        return self.groups[0]


@dataclass(frozen=True)
class CallerPlace:
    """Where a caller runs, and what it calls."""

    endpoint: Endpoint
    namespace: str | None
    """Network namespace of the client's end of the link."""
    group: Path | None
    """Control group, if the caller has a CPU quota."""


class Caller(Protocol):
    """Makes the calls of a trial."""

    def make_calls(self, place: CallerPlace, observer: RunObserver) -> Called:
        """Makes all calls, warm-up included, and writes the plan and the result into the trial's
        folder. Raises :class:`TrialFailed`, :class:`LabError`."""
