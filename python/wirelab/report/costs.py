"""What a million calls cost: processors, bytes and connections, by stack."""

from __future__ import annotations

from wirelab.format.numbers import NONE, estimate, over_limits
from wirelab.report.section import Section, Table
from wirelab.report.source import Source
from wirelab.statistics.figure import BYTES_RECEIVED, BYTES_SENT, CLIENT_CPU, SERVICE_CPU, Figure
from wirelab.statistics.interval import Interval
from wirelab.trial import labels as label
from wirelab.trial.record import Trial

_TOLD = (
    "Core-seconds of the processes of caller (without what it spent spinning) and service, and "
    "gigabytes that the caller's sockets sent and received, within the window and over the "
    "calls that ended in it; connections opened over the calls of the whole run, warm-up "
    "included. Each figure has its 95 % interval, unless the first four "
    "digits do not show it. On loopback the kernel's work for the "
    "receiver may be charged to the sender."
)
_MILLION = 1e6
_GB = 1e9


def _connections(trial: Trial) -> float | None:
    """Connections opened over the calls of the whole run."""
    opened, calls = trial.result.get("connections_opened"), trial.result.get("calls_whole_run")
    return float(opened) / calls if opened and calls else None


CONNECTIONS = Figure("connections", "connections opened per call", "", "lower", of=_connections)
_HEADS = {
    CLIENT_CPU: ("caller, core-s", _MILLION),
    SERVICE_CPU: ("service, core-s", _MILLION),
    BYTES_SENT: ("sent, GB", _MILLION / _GB),
    BYTES_RECEIVED: ("received, GB", _MILLION / _GB),
    CONNECTIONS: ("thousands of connections", _MILLION / 1e3),
}
"""Head of each figure's column, and the factor from one call to it."""


def section(source: Source) -> Section:
    """One table per message; none where no trial measured any of it."""
    groups: dict[str, list[list[str]]] = {}
    for cell in source.cells:
        shown = [_figure(cell.interval(of), factor) for of, (_, factor) in _HEADS.items()]
        if any(text != NONE for text in shown):
            name = source.names.stacks[cell.point.stack]
            row = [name, source.names.load(cell.point), *shown]
            groups.setdefault(label.message(cell.point), []).append(row)
    columns = ["stack", "load", *(head for head, _ in _HEADS.values())]
    numeric = range(2, len(columns))
    tables = [Table(columns, rows, message, numeric) for message, rows in groups.items()]
    return Section("Cost per million calls", (_TOLD,) if tables else (), tables)


def _figure(interval: Interval | None, factor: float) -> str:
    """The estimate above its limits, where it has any."""
    if interval is None:
        return NONE
    scaled = interval.scaled(factor)
    return estimate(scaled, "") if scaled.bounds is None else over_limits(scaled, "")
