"""Whether a run is all there: what is missing, torn or was repeated, in sentences."""

from __future__ import annotations

from collections.abc import Sequence

from wirelab.format.counting import counted, plural
from wirelab.trial.record import Trial

PLANNED = "trials_planned"
"""Of the manifest: trials of the whole run."""
GO_ON = "The command that began the run, with the same --out, goes on with it."


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
