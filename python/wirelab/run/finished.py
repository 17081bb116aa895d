"""A run as its directory holds it, finished or not."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from wirelab.format.counting import counted, plural
from wirelab.run import directory as run_directory
from wirelab.run import journal
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
        return sentences(self.trials, self.planned, torn=self.torn, repeated=self.repeated)

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
        skipped=manifest.skipped,
        unavailable=manifest.unavailable,
        planned=manifest.trials_planned,
        repeated=content.repeated,
        torn=content.torn,
    )


GO_ON = "The command that started the run, with the same --out, continues it."


def sentences(
    trials: Sequence[Trial],
    planned: int | None,
    *,
    torn: bool = False,
    repeated: Sequence[Trial] = (),
) -> tuple[str, ...]:
    """Nothing of a run that went through at once. ``planned`` is None where the run was cut
    short before it was known; ``repeated`` are failed trials that were measured again."""
    return (
        *_missing(len(trials), planned),
        *((_torn(),) if torn else ()),
        *((_repeated(repeated),) if repeated else ()),
    )


def count(trials: Sequence[Trial], planned: int | None) -> str:
    """``96``, or ``12 of 96`` where not all are there."""
    if planned is None or len(trials) >= planned:
        return f"{len(trials):,}"
    return f"{len(trials):,} of {planned:,}"


def trials_of(trials: Sequence[Trial], planned: int | None) -> str:
    """``96 trials``, ``12 of 96 trials``."""
    whole = max(len(trials), planned or 0)
    return f"{count(trials, planned)} {plural(whole, 'trial')}"


def _missing(there: int, planned: int | None) -> tuple[str, ...]:
    if planned is None:
        return () if there else (f"The run is not finished: no trial is there. {GO_ON}",)
    if there >= planned:
        return ()
    words = f"{there:,} of {counted(planned, 'trial')} {'is' if planned == 1 else 'are'} there"
    return (f"The run is not finished: {words}. {GO_ON}",)


def _torn() -> str:
    return (
        "The last line of the journal is torn, as a killed run leaves it. Its trial is not "
        "shown, and is repeated when the run goes on."
    )


def _repeated(trials: Sequence[Trial]) -> str:
    one = len(trials) == 1
    return (
        f"{counted(len(trials), 'trial')} failed and "
        f"{'was' if one else 'were'} measured again; what is shown is the later of each. The "
        f"first reason: {trials[0].reason}. The journal holds all."
    )
