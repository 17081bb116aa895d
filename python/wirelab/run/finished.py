"""A run as stored in its directory, finished or not."""

from __future__ import annotations

from collections.abc import Sequence, Sized
from dataclasses import dataclass
from pathlib import Path

from wirelab.checks.system_noise import spoilt_by
from wirelab.format.counting import format_count, plural
from wirelab.records.trial import Trial
from wirelab.run import directory as run_directory
from wirelab.run import journal


@dataclass(frozen=True)
class Run:
    """A run that is not executing."""

    folder: Path
    trials: tuple[Trial, ...]
    """Trials in the order of the journal."""
    skipped: tuple[str, ...] = ()
    """Impossible combinations, each with its reason."""
    unavailable: tuple[str, ...] = ()
    """Callers that were not available, each with its reason."""
    planned: int | None = None
    """Number of trials of the whole run; None if it ended before the number was known."""
    repeated: tuple[Trial, ...] = ()
    """Failed or spoilt trials that were measured again; not included in ``trials``."""
    torn: bool = False
    """True: the journal's last line is incomplete and does not count as a trial."""

    @property
    def incomplete(self) -> tuple[str, ...]:
        """Sentences about missing, incomplete or repeated trials."""
        return sentences(self.trials, self.planned, torn=self.torn, repeated=self.repeated)

    @property
    def is_finished(self) -> bool:
        """True where no trial is missing; failed and repeated ones may be there."""
        return not sentences(self.trials, self.planned, torn=self.torn)

    @property
    def failed(self) -> tuple[Trial, ...]:
        """Failed trials."""
        return tuple(trial for trial in self.trials if trial.status == "failed")


def read(folder: Path) -> Run:
    """The run in a directory. Raises :class:`RunDirectoryError`."""
    manifest = run_directory.read_manifest(folder)
    content = journal.read(journal.file_in(folder))
    return Run(
        folder,
        content.trials,
        skipped=manifest.skipped,
        unavailable=manifest.unavailable,
        planned=manifest.trials_planned,
        repeated=content.repeated,
        torn=content.torn,
    )


SPOILT = "met other work of the machine (a rule fixed beforehand: docs/methodology.md)"
GO_ON = "To continue it, repeat the command with the same --out."


def sentences(
    trials: Sequence[Trial],
    planned: int | None,
    *,
    torn: bool = False,
    repeated: Sequence[Trial] = (),
) -> tuple[str, ...]:
    """Empty for a run without interruption. ``planned`` is None if the run ended before the number
    was known; ``repeated`` are failed or spoilt trials that were measured again."""
    return (
        *_describe_missing(len(trials), planned),
        *((_describe_torn_line(),) if torn else ()),
        *((_describe_repeated(repeated),) if repeated else ()),
    )


def count(trials: Sized, planned: int | None) -> str:
    """``96``, or ``12 of 96`` if trials are missing."""
    if planned is None or len(trials) >= planned:
        return f"{len(trials):,}"
    return f"{len(trials):,} of {planned:,}"


def trials_of(trials: Sized, planned: int | None) -> str:
    """``96 trials``, ``12 of 96 trials``."""
    whole = max(len(trials), planned or 0)
    return f"{count(trials, planned)} {plural(whole, 'trial')}"


def _describe_missing(there: int, planned: int | None) -> tuple[str, ...]:
    if planned is None:
        return () if there else (f"The run is not finished: it has no trials yet. {GO_ON}",)
    if there >= planned:
        return ()
    words = f"{there:,} of {format_count(planned, 'trial')} {'is' if planned == 1 else 'are'} done"
    return (f"The run is not finished: {words}. {GO_ON}",)


def _describe_torn_line() -> str:
    return (
        "The last line of the journal is incomplete, because the run was killed. Its trial is not "
        "shown, and is repeated when the run is continued."
    )


def _describe_repeated(trials: Sequence[Trial]) -> str:
    failed = [trial for trial in trials if trial.status == "failed"]
    spoilt = [trial for trial in trials if trial.status == "measured"]
    return " ".join(
        (
            *((_describe_measured_again(failed, "failed", failed[0].reason),) if failed else ()),
            *((_describe_measured_again(spoilt, SPOILT, _first_reason(spoilt)),) if spoilt else ()),
            "The journal contains all results.",
        )
    )


def _first_reason(spoilt: Sequence[Trial]) -> str:
    """Of cells that share a trial, only some may have been disturbed."""
    return next(filter(None, map(spoilt_by, spoilt)), "")


def _describe_measured_again(cells: Sequence[Trial], how: str, first: str) -> str:
    number = len({(cell.order, cell.started) for cell in cells})
    one = number == 1
    return (
        f"{format_count(number, 'trial')} {how} and {'was' if one else 'were'} measured again; "
        f"the later results are shown. The first reason: {first}."
    )
