"""What a program can do with a run: read it, take its figures as a table, compare two cells."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from wirelab.errors import RunDirectoryError, UsageError
from wirelab.records.trial import Trial
from wirelab.run import finished
from wirelab.run.finished import Run
from wirelab.stack.suggestions import did_you_mean
from wirelab.statistics import cell as _cell
from wirelab.statistics.cell import Cell
from wirelab.statistics.comparison import Comparison, ratio
from wirelab.statistics.figure import CODEC, FIGURES, FIRST_CALLS, RUNTIME, Figure
from wirelab.statistics.verdict import THRESHOLD
from wirelab.trial import series as _series

if TYPE_CHECKING:
    import pandas

__all__ = ["Cell", "Comparison", "Results", "Trial", "compare", "load"]

_KNOWN = (*FIGURES, *RUNTIME, *CODEC, *FIRST_CALLS)


@dataclass(frozen=True)
class Results:
    """What a run directory holds, whether the run has ended or not. Iterates over its trials."""

    run: Run

    def __iter__(self) -> Iterator[Trial]:
        """In the order in which they ended."""
        return iter(self.run.trials)

    def __len__(self) -> int:
        """How many have ended."""
        return len(self.run.trials)

    def trials(self) -> pandas.DataFrame:
        """:meth:`records` as a data frame; ``attrs["units"]`` are :attr:`units`. Raises
        :class:`wirelab.errors.UsageError` where pandas is not installed."""
        try:
            import pandas
        except ImportError:
            raise UsageError(
                "pandas is not installed", "pip install pandas, or use records()"
            ) from None
        table = pandas.DataFrame.from_records(self.records())
        table.attrs["units"] = self.units
        return table

    def records(self) -> list[dict[str, Any]]:
        """One flat row per trial: its point, repeat and status, then every figure in its unit
        (:data:`wirelab.statistics.figure.FIGURES`, ``RUNTIME``, ``CODEC`` and
        ``FIRST_CALLS``: 1/s, ns, s, B); None where the trial lacks it."""
        return [_record(trial) for trial in self]

    @property
    def units(self) -> dict[str, str]:
        """The unit of every figure in :meth:`records`: 1/s, ns, s, B, or empty for a number."""
        return {figure.name: figure.unit for figure in _KNOWN}

    def cells(self) -> list[Cell]:
        """The points of the run's matrix with their trials, in the order in which they came."""
        return list(_cell.cells(self.run.trials))

    def series(self, trial: Trial) -> dict[str, list[tuple[float, float]]]:
        """What changed during a trial, by name (:data:`wirelab.trial.series.NAMES`): seconds since
        the window opened, and the value. Empty for a run of a lab that did not record it. Raises
        :class:`wirelab.errors.RunDirectoryError` for a damaged file."""
        try:
            return _series.read(self.run.folder / "trials" / trial.id / _series.NAME)
        except _series.UnreadableSeries as error:
            raise RunDirectoryError(
                f"the series of {trial.id} cannot be read: {error}",
                "restore the file, or run the experiment again",
            ) from error


def load(folder: str | Path) -> Results:
    """The run in a directory. Raises :class:`wirelab.errors.RunDirectoryError`."""
    return Results(finished.read(Path(folder)))


def compare(
    first: Cell, second: Cell, figure: str = "response_p50", threshold: float = THRESHOLD
) -> Comparison:
    """The ratio first / second of a figure over whole trials, with its 95 % interval and the
    verdict. A difference counts when the interval lies beyond ``1 + threshold``. Raises
    :class:`wirelab.errors.UsageError` for an unknown figure and
    :class:`wirelab.statistics.interval.StatisticsError` where a cell has no value."""
    of = _figure(figure)
    return ratio(first.values(of), second.values(of), threshold)


def _figure(name: str) -> Figure:
    known = {figure.name: figure for figure in _KNOWN}
    if name not in known:
        raise UsageError(f"there is no figure {name!r}", did_you_mean(name, known))
    return known[name]


def _record(trial: Trial) -> dict[str, Any]:
    point = trial.point
    figures = _KNOWN if trial.status == "measured" else ()
    return {
        "trial": trial.id,
        "stack": point.stack,
        "operation": point.operation,
        "bytes": point.bytes,
        "load": point.load.kind,
        "users": point.load.users,
        "rate_planned": point.load.rate,
        "link": point.link,
        "repeat": trial.repeat,
        "status": trial.status,
        **{figure.name: figure.of(trial) for figure in figures},
    }
