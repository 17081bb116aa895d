"""The test of a run's findings, as its directory holds it."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from wirelab.errors import RunDirectoryError
from wirelab.run import directory as run_directory
from wirelab.run import journal
from wirelab.run.manifest import MANIFEST

if TYPE_CHECKING:
    from wirelab.run.adaptive.outcome import Outcome
    from wirelab.run.adaptive.record import Interventions

FOLDER = "tests"
"""Where a run keeps the test of its findings."""
KEY = "interventions"
"""Of the manifest's experiment: what was to be tested."""


def read(folder: Path) -> Outcome | None:
    """The outcome of the test in a run directory: of that run itself where it is one, else of
    its own folder :data:`FOLDER`. None where nothing was tested. Raises
    :class:`RunDirectoryError`."""
    for place in (folder, folder / FOLDER):
        if not (place / MANIFEST).exists():
            continue
        recorded = _recorded(place)
        if recorded is not None:
            from wirelab.run.adaptive.outcome import judge

            return judge(recorded, journal.read(place / journal.NAME).trials)
    return None


def _recorded(folder: Path) -> Interventions | None:
    manifest = run_directory.read_manifest(folder)
    given = manifest.experiment.get(KEY)
    if given is None:
        return None
    # The record is a part of an experiment, whose models most runs need not load again.
    from pydantic import ValidationError

    from wirelab.run.adaptive.record import Interventions

    try:
        return Interventions.model_validate(given)
    except ValidationError as error:
        raise RunDirectoryError(
            f"{folder}: the manifest's {KEY} cannot be read: {error.errors()[0]['msg']}",
            "they are written by `wirelab dissect RUN --test`; restore the file",
        ) from error
