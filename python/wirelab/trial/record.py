"""A trial: one measured execution of one point of an experiment.

This is the record that the journal holds (one JSON line per trial) and that
statistics, verdicts, explanations and the report read. Times in nanoseconds,
rates per second, sizes in bytes, CPU in seconds.
"""

from __future__ import annotations

import copy
from collections.abc import Iterator
from dataclasses import asdict, dataclass, field
from datetime import UTC, datetime
from typing import Any, Literal

Json = dict[str, Any]
Status = Literal["measured", "failed"]
Outcome = Literal["ok", "marked", "not-measurable"]


def now() -> str:
    """The time as records have it: ISO 8601, UTC."""
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
    """Size of the operation's large part."""
    load: Json
    """``{"kind": "closed", "users": 10}``, ``{"kind": "constant", "rate": 1000, ...}``, ..."""
    link: str = "loopback"
    contract: str = "transfer"
    options: Json = field(default_factory=dict)
    """Anything else that belongs to the point: faults, chunk size, placement, seed of a load."""

    @property
    def semantic_class(self) -> str:
        """What a call means to its caller: ``two-way``, done when the reply is read, or
        ``one-way``, done when the service reports that it has processed it. Hops, delivery and
        order are those of one connection everywhere; streams are operations of their own."""
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
        """What could not be found out, and why."""
        return cls(name, "not-measurable", f"not measurable here, because {reason}")


_RENAMED = {"awake_s": "spin_s"}
"""Figures of the engine's process that older engines recorded under another name."""


def _current(engine: Json) -> Json:
    """The engine's figures under their present names, whichever engine recorded them."""
    return {_RENAMED.get(name, name): value for name, value in engine.items()}


_MAPPINGS = (
    *("point", "result", "engine", "service", "placement", "link", "captures", "wire"),
    "store",
)
"""Parts of a trial that are objects in its line."""


@dataclass(frozen=True)
class Trial:
    """One finished trial, whether it measured something or failed."""

    id: str
    """Stable within a run: the same experiment and seed give the same ids."""
    point: Point
    repeat: int
    order: int
    """Position in the random interleaved order, from 0."""
    status: Status
    reason: str = ""
    """Why it failed; empty when measured."""
    started: str = ""
    """ISO 8601, UTC."""
    seconds: float = 0.0
    """Wall-clock seconds of the whole trial, preparation included."""
    result: Json = field(default_factory=dict)
    """The engine's result for the first group, histograms left out (they are in trials/<id>/)."""
    background: list[Json] = field(default_factory=list)
    """The same of each further group, which ran at the same time (``load.background``)."""
    engine: Json = field(default_factory=dict)
    """The engine's process figures (``cpu_user_s``, ``rss_max_bytes``, ...)."""
    service: Json = field(default_factory=dict)
    """The ready line, ``sha256`` of the binary, ``cpu_s``, ``rss_max_bytes``, ``calls_seen``,
    ``concurrency_seen``, ``runtime_metrics`` (:meth:`wirelab.trial.series.Series.summary`), and
    the last scrape as ``metrics``."""
    placement: Json = field(default_factory=dict)
    """Which process on which cores."""
    link: Json = field(default_factory=dict)
    """What the link was: ``driver``, ``nominal`` and ``measured``, ``congestion``, and what its
    emulator did (``lateness_us``, ``cpu_window_s``). On loopback the machine's congestion."""
    captures: Json = field(default_factory=dict)
    """By side: ``file``, ``packets``, ``bytes``, ``drops``; empty without a capture."""
    wire: Json = field(default_factory=dict)
    """What the packets said (:func:`wirelab.trial.dissection.brief`), of the client's end where
    both were captured; empty without a capture."""
    store: Json = field(default_factory=dict)
    """The database: ``kind``, ``pool``, ``version``, and where the lab started it, what its own
    processes used while calls were made: ``cpu_user_s``, ``cpu_system_s``, ``memory_bytes``,
    ``connections``. Empty where rows are kept in the service's memory."""
    checks: tuple[Check, ...] = ()

    def client_cpu_s(self) -> float:
        """CPU seconds that the client spent on its calls within the window: without those in
        which it spun and nothing was ready (``spin_s``)."""
        used = self.engine.get("cpu_user_s", 0.0) + self.engine.get("cpu_system_s", 0.0)
        return max(0.0, float(used) - float(self.engine.get("spin_s", 0.0)))

    def ended(self) -> int:
        """Calls that ended within the window: those that its CPU time went to, which all groups
        share. Other callers than the engine, and runs made before it told them apart, say only
        how many calls belong to the window."""
        groups = (self.result, *self.background)
        return sum(int(group.get("ended", group.get("calls")) or 0) for group in groups)

    def to_json(self) -> Json:
        """The journal line as an object."""
        return asdict(self)

    @classmethod
    def from_json(cls, line: Json) -> Trial:
        """The inverse of :meth:`to_json`; unknown keys and other shapes are refused by
        ``TypeError``."""
        known = dict(line)
        if not all(isinstance(known.get(name, {}), dict) for name in _MAPPINGS):
            raise TypeError
        background = known.get("background", [])
        if not isinstance(background, list) or not all(isinstance(g, dict) for g in background):
            raise TypeError
        known["engine"] = _current(known.get("engine", {}))
        known["point"] = Point(**known["point"])
        known["checks"] = tuple(Check(**check) for check in known.get("checks", ()))
        return cls(**known)

    def time_ns(self, which: str, percentile: str) -> float | None:
        """A percentile (``p50``, ``mean``, ...) of ``response``, ``service``, ...; None when
        it was not recorded or too few samples lie above it."""
        times = self.result.get("times", {}).get(which)
        if not times or not times.get("count"):
            return None
        if percentile in ("mean", "min", "max"):
            return float(times[f"{percentile}_ns"])
        value = times["percentiles_ns"].get(percentile)
        return None if value is None else float(value)


def _histograms(group: Json) -> Iterator[tuple[str, Json]]:
    """All times of a group by name: ``response``; ``Reserve.response`` where it calls several
    operations; ``sequence.response`` where it calls sequences, and next to ``response``
    ``response_good`` and ``response_failed`` where calls failed."""
    yield from group["times"].items()
    for operation in group.get("operations") or ():
        for name, times in operation["times"].items():
            yield f"{operation['operation']}.{name}", times
    sequences = group.get("sequences") or {}
    for name in ("response", "response_good"):
        if sequences.get(name):
            yield f"sequence.{name}", sequences[name]


def without_histograms(group: Json) -> Json:
    """A copy of the group for the journal; the histograms are in a file of their own."""
    copied: Json = copy.deepcopy(group)
    for _, times in _histograms(copied):
        times.pop("hdr", None)
    return copied


def histogram_log(group: Json) -> str:
    """The group's histograms in the HdrHistogram log format, version 1.3, one tagged line
    each; the maximum is in milliseconds, as the format has it."""
    start_s = group["window_start_ns"] / 1e9
    lines = [
        "#[Histogram log format version 1.3]",
        f"#[StartTime: {start_s:.3f} (seconds of CLOCK_MONOTONIC)]",
        '"StartTimestamp","Interval_Length","Interval_Max","Interval_Compressed_Histogram"',
    ]
    for name, times in _histograms(group):
        if times.get("hdr"):
            extent = f"{start_s:.3f},{group['window_s']:.3f},{times['max_ns'] / 1e6:.3f}"
            lines.append(f"Tag={name},{extent},{times['hdr']}")
    return "\n".join(lines) + "\n"
