"""Reads the test of a run's findings from its directory."""

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
"""Folder of the test inside the run directory."""
KEY = "interventions"
"""Key of the manifest's experiment: the plan of the test."""


def read(folder: Path) -> Outcome | None:
    """The outcome of the test in a run directory: of the run itself if it is a test, otherwise of
    its folder :data:`FOLDER`. None if nothing was tested. Raises
    :class:`RunDirectoryError`."""
    for place in (folder, folder / FOLDER):
        if not (place / MANIFEST).exists():
            continue
        recorded = _read_record(place)
        if recorded is not None:
            from wirelab.run.adaptive.outcome import judge

            return judge(recorded, journal.read(journal.file_in(place)).trials)
    return None


def _read_record(folder: Path) -> Interventions | None:
    manifest = run_directory.read_manifest(folder)
    given = manifest.experiment.get(KEY)
    if given is None:
        return None
    # The record is part of an experiment, whose models most runs need not load.
    from pydantic import ValidationError

    from wirelab.run.adaptive.record import Interventions

    try:
        return Interventions.model_validate(given)
    except ValidationError as error:
        raise RunDirectoryError(
            f"{folder}: the manifest's {KEY} cannot be read: {error.errors()[0]['msg']}",
            "restore the file, which `wirelab dissect RUN --test` wrote",
        ) from error
