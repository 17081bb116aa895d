"""What else the machine did while it measured: processes put off their cores, stolen time."""

from __future__ import annotations

from collections.abc import Iterable

from wirelab.format.numbers import DASH, NONE, digits
from wirelab.report.section import Section, Table
from wirelab.report.source import Source
from wirelab.statistics.cell import Cell
from wirelab.trial.record import Trial

_TOLD = (
    "Involuntary context switches: how often the kernel took a core from a process that would "
    "have gone on, per second of the window (a foreign tool's are those of its whole run). Stolen "
    "is what the hypervisor took from all cores together, per cent of one core's window. Least and "
    "most over the trials."
)
_COLUMNS = ("stack", "setting", "caller's switches, /s", "service's switches, /s", "stolen, %")


def section(source: Source) -> Section:
    """One row per cell; none where no record tells any of it. A column of which no trial knows
    anything is left out."""
    rows = [_row(source, cell) for cell in source.cells if cell.measured]
    known = [at for at in range(len(_COLUMNS)) if any(row[at] != NONE for row in rows)]
    if not [at for at in known if at > 1]:
        return Section("Disturbances")
    columns = [_COLUMNS[at] for at in known]
    shown = [[row[at] for at in known] for row in rows]
    table = Table(columns, shown, "", range(2, len(columns)))
    return Section("Disturbances", (_TOLD,), (table,))


def _row(source: Source, cell: Cell) -> list[str]:
    trials = cell.measured
    return [
        source.names.stacks[cell.point.stack],
        source.names.setting(cell.point),
        _range(_per_s(trial, trial.engine.get("switches_involuntary")) for trial in trials),
        _range(trial.service.get("switches_involuntary_per_s") for trial in trials),
        _range(_stolen(trial) for trial in trials),
    ]


def _per_s(trial: Trial, amount: float | None) -> float | None:
    window = trial.result.get("window_s")
    return None if amount is None or not window else float(amount) / float(window)


def _stolen(trial: Trial) -> float | None:
    """Per cent of the window."""
    share = _per_s(trial, trial.engine.get("steal_s"))
    return None if share is None else 100.0 * share


def _range(values: Iterable[float | None]) -> str:
    known = [value for value in values if value is not None]
    if not known:
        return NONE
    return DASH.join(dict.fromkeys((digits(min(known)), digits(max(known)))))
