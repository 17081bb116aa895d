"""Which trials of a run directory are still to be measured, and errors of its disk."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path
from typing import TypeVar

from wirelab.checks.system_noise import spoilt_by
from wirelab.errors import LabError
from wirelab.run import journal
from wirelab.run.journal import Journal, Line

T = TypeVar("T")
SHARE = "WIRELAB_SHARE"
"""The variable that is ``1`` where no run is to wait for others."""


def shares_cores(asked: bool) -> bool:
    """Whether a run is to share its cores, by an option or by :data:`SHARE`."""
    return asked or os.environ.get(SHARE) == "1"


def find_done(journalled: Journal, retry_failed: bool, *, repeat_spoilt: bool) -> set[str]:
    """Ids of trials that need no measurement."""
    return {
        line[0].id
        for line in journalled.latest
        if (line[0].status == "measured" or not retry_failed)
        and not (repeat_spoilt and find_spoilt(journalled, line))
    }


def find_spoilt(journalled: Journal, line: Line) -> str:
    """What spoilt a cell of a trial that is still to be repeated; empty if there is nothing to
    repeat."""
    reason = next(filter(None, map(spoilt_by, line)), "")
    if reason and any(earlier[0].repeats for earlier in journalled.lines_of(line[0].id)):
        return ""
    return reason


def run_guarded(folder: Path, work: Callable[[], T]) -> T:
    """Distinguishes a full disk from other errors."""
    try:
        return work()
    except OSError as error:
        if error.errno in journal.FULL:
            raise journal.storage_error(error, folder) from error
        raise LabError(f"wirelab cannot continue: {error}") from error
