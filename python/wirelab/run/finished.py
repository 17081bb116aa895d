"""A run as its directory holds it, finished or not."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from wirelab.run import completeness, journal
from wirelab.run import directory as run_directory
from wirelab.run.completeness import PLANNED
from wirelab.trial.record import Trial


@dataclass(frozen=True)
class Run:
    """A run that has come to its end."""

    folder: Path
    trials: tuple[Trial, ...]
    """In the order of the journal."""
    skipped: tuple[str, ...] = ()
    """Combinations that cannot exist, each with its reason."""
    unavailable: tuple[str, ...] = ()
    """Callers that could not be had, each with its reason."""
    planned: int | None = None
    """Trials of the whole run; None where it was cut short before it was known."""
    repeated: tuple[Trial, ...] = ()
    """Failed trials that were measured again; not among ``trials``."""
    torn: bool = False
    """True: the journal's last line is torn, and no trial."""

    @property
    def incomplete(self) -> tuple[str, ...]:
        """What is missing, torn or was repeated, in sentences."""
        return completeness.sentences(
            self.trials, self.planned, torn=self.torn, repeated=self.repeated
        )

    @property
    def failed(self) -> tuple[Trial, ...]:
        """Trials that measured nothing."""
        return tuple(trial for trial in self.trials if trial.status == "failed")


def read(folder: Path) -> Run:
    """The run in a directory. Raises :class:`RunDirectoryError`."""
    manifest = run_directory.read_manifest(folder)
    content = journal.read(folder / journal.NAME)
    return Run(
        folder,
        content.trials,
        skipped=tuple(manifest.get("skipped", ())),
        unavailable=tuple(manifest.get("unavailable", ())),
        planned=manifest.get(PLANNED),
        repeated=content.repeated,
        torn=content.torn,
    )
