"""Tests a run's findings: propose, run as an experiment, evaluate."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from wirelab.errors import UsageError
from wirelab.experiment import loading as experiment_file
from wirelab.experiment import yaml_source as documents
from wirelab.format.sanitize import damage
from wirelab.format.untrusted import read_bounded
from wirelab.records.trial import Trial
from wirelab.run import directory as run_directory
from wirelab.run import runner as running
from wirelab.run.adaptive.proposal import propose
from wirelab.run.adaptive.recorded import FOLDER, read
from wirelab.run.progress import Progress
from wirelab.stack import manifests

if TYPE_CHECKING:
    from wirelab.run.adaptive.outcome import Outcome

REPEATS = 4
BYTES_MAX = 8_000_000
"""Maximum size of the stored experiment file."""


@dataclass(frozen=True)
class Intervention:
    """Result of a test."""

    folder: Path | None
    """Run directory of the test; None if nothing could be tested."""
    outcome: Outcome
    failed: tuple[Trial, ...] = ()
    """Failed trials."""

    def to_json(self) -> dict[str, object]:
        """Document for ``--json``."""
        return {
            "directory": str(self.folder) if self.folder else None,
            "failed": [{"id": trial.id, "reason": trial.reason} for trial in self.failed],
            **self.outcome.to_json(),
        }


def intervene(
    folder: Path,
    *,
    repeats: int = REPEATS,
    causes: Collection[str] = (),
    out: Path | None = None,
    progress: Progress | None = None,
    unverified: bool = False,
    postgres: str = "",
    ready_timeout_s: float | None = None,
    share: bool = False,
) -> Intervention:
    """Tests the findings in the packets of a run; continues an interrupted test.

    Raises :class:`UsageError` if the run has nothing to test, and what
    :func:`wirelab.run.runner.run` raises."""
    from wirelab.run.adaptive.outcome import judge

    text = _source(folder)
    experiment = experiment_file.parse(text, str(folder / run_directory.EXPERIMENT))
    trials = running.read(folder).trials
    proposal = propose(experiment, manifests.load(), trials, causes)
    if not proposal.record.tests:
        return Intervention(None, judge(proposal.record, ()))
    written = documents.read(text, experiment.name).values
    source = proposal.matrix.text(written, proposal.record, repeats)
    target = out or folder / FOLDER
    run = running.run(
        experiment_file.parse(source, "the test"),
        target,
        source=source,
        progress=progress,
        unverified=unverified,
        postgres=postgres,
        ready_timeout_s=ready_timeout_s,
        share=share,
    )
    outcome = read(target)
    assert outcome is not None  # running.run wrote its manifest
    return Intervention(target, outcome, run.failed)


def _source(folder: Path) -> str:
    run_directory.read_manifest(folder)
    try:
        content = read_bounded(folder / run_directory.EXPERIMENT, BYTES_MAX)
        return content.decode()
    except (OSError, ValueError) as error:
        reason = error.strerror if isinstance(error, OSError) else damage(error)
        raise UsageError(
            f"{folder / run_directory.EXPERIMENT} cannot be read: {reason}",
            "restore the file: a test needs the experiment of the run",
        ) from error
