"""A run as the report reads it: manifest and journal, and where the raw data are."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

from wirelab.records.trial import Trial
from wirelab.report.charts.stack_style import Entry, look
from wirelab.report.curves import TrialCurves
from wirelab.run import finished, journal, keeping
from wirelab.run.adaptive import recorded
from wirelab.run.directory import read_manifest
from wirelab.run.manifest import Comparison, Manifest
from wirelab.statistics.cell import Cell, cells
from wirelab.trial import series
from wirelab.trial.labels import Names
from wirelab.trial.series import Points, UnreadableSeries

if TYPE_CHECKING:
    from wirelab.run.adaptive.outcome import Outcome


@dataclass(frozen=True)
class Source:
    """What was asked and what was measured."""

    folder: Path
    manifest: Manifest
    trials: tuple[Trial, ...]
    repeated: tuple[Trial, ...] = ()
    """Failed or spoilt trials that were measured again; not among ``trials``."""
    torn: bool = False
    """True: the journal's last line is torn, and no trial."""

    @classmethod
    def read(cls, folder: Path) -> Source:
        """Reads a run directory. Raises :class:`wirelab.errors.RunDirectoryError`."""
        manifest = read_manifest(folder)
        content = journal.read(journal.file_in(folder))
        return cls(folder, manifest, content.trials, content.repeated, content.torn)

    @property
    def is_kept(self) -> bool:
        """True where the folders of the trials are left out."""
        return keeping.is_kept(self.folder)

    @property
    def planned(self) -> int | None:
        """Trials of the whole run; None where it was cut short before it was known."""
        return self.manifest.trials_planned

    @property
    def incomplete(self) -> tuple[str, ...]:
        """What is missing or torn, in sentences."""
        return finished.sentences(self.trials, self.planned, torn=self.torn)

    @property
    def repetition(self) -> tuple[str, ...]:
        """Which trials were measured again, in sentences; a complete run has them too."""
        return finished.sentences(self.trials, len(self.trials), repeated=self.repeated)

    @property
    def threshold(self) -> float:
        """Share up to which a difference counts as equivalent."""
        return self.manifest.threshold_in_use

    @property
    def asked(self) -> Comparison | None:
        """The question of ``wirelab compare``; None of other runs."""
        return self.manifest.comparison

    @cached_property
    def cells(self) -> list[Cell]:
        """In reading order."""
        return cells(self.trials)

    @property
    def measured(self) -> list[Trial]:
        """Trials that measured something, in reading order."""
        return [trial for cell in self.cells for trial in cell.measured]

    @cached_property
    def curves(self) -> TrialCurves:
        """Percentiles of the response times of each trial."""
        return TrialCurves.read(self.folder, self.measured)

    @cached_property
    def series(self) -> dict[str, dict[str, Points] | UnreadableSeries]:
        """By trial what it has over time, or why that cannot be read."""
        return {trial.id: self._series(trial) for trial in self.measured}

    def _series(self, trial: Trial) -> dict[str, Points] | UnreadableSeries:
        try:
            return series.read(self.folder / "trials" / trial.id / series.NAME)
        except UnreadableSeries as error:
            return error

    @cached_property
    def tested(self) -> Outcome | None:
        """What became of the findings in the packets; None where none was tested."""
        return recorded.read(self.folder)

    @cached_property
    def names(self) -> Names:
        """How stacks and settings are called throughout the page."""
        return Names.of(trial.point for trial in self.trials)

    @cached_property
    def legend(self) -> dict[str, Entry]:
        """By stack reference; the look depends on the set of stacks, and on their order in a
        comparison."""
        comparison = self.manifest.comparison
        compared = {stack: at for at, stack in enumerate(comparison.stacks)} if comparison else {}
        ordered = sorted(
            self.names.stacks.items(), key=lambda item: (compared.get(item[0], 2), item)
        )
        return {
            reference: Entry(look(index), name, reference)
            for index, (reference, name) in enumerate(ordered)
        }
