"""manifest.json of a run directory: what was run, where, and with which versions."""

from __future__ import annotations

import msgspec

from wirelab.format.counting import format_count
from wirelab.format.numbers import NONE
from wirelab.statistics.verdict import THRESHOLD

FORMAT = 2
"""Format of a new directory; incremented when older versions could not read it. Since 2, a trial of
the journal can have several cells."""
FORMATS = (1, FORMAT)
"""Formats that this version reads."""
MANIFEST = "manifest.json"


class EngineBinary(msgspec.Struct, frozen=True):
    """The engine that the run started with."""

    sha256: str = ""


class Session(msgspec.Struct, frozen=True):
    """One start of the command that executes the run."""

    started: str = ""
    """ISO 8601, UTC."""
    engine_sha256: str = ""


class Comparison(msgspec.Struct, frozen=True):
    """Question of a run of ``wirelab compare``: is the second cell worse than the first?"""

    figure: str
    """Name of a :class:`wirelab.statistics.figure.Figure`."""
    threshold: float
    """Differences up to this share count as equivalent."""
    cells: tuple[str, str]
    """Keys by :func:`wirelab.statistics.cell.point_key`."""
    stacks: tuple[str, str]
    """Stack references of the cells."""
    names: tuple[str, str]
    """Names of the services."""
    guards: tuple[str, ...] = ()
    """What must not become worse meanwhile (:mod:`wirelab.comparisons.guards`)."""


class Manifest(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """What to measure, on which machine and with which programs."""

    format: int
    experiment: dict[str, object] = {}
    """The parsed experiment file; :mod:`wirelab.experiment.model` reads it."""
    experiment_sha256: str = ""
    seed: int | None = None
    threshold: float | None = None
    """Differences up to this share count as equivalent, as declared before the run."""
    machine: dict[str, str | int | None] = {}
    """Result of :func:`wirelab.process.machine.describe`."""
    versions: dict[str, str] = {}
    """Versions of Python, wirelab and its libraries."""
    git_revision: str | None = None
    engine: EngineBinary = EngineBinary()
    sessions: tuple[Session, ...] = ()
    trials_planned: int | None = None
    """Number of trials of the whole run; None if it ended before the number was known."""
    skipped: tuple[str, ...] = ()
    """Combinations that were skipped, with the reasons."""
    comparison: Comparison | None = None
    """Question of the last `wirelab compare`; None for other runs."""
    unavailable: tuple[str, ...] = ()
    """Callers that are not available on this machine, with the reasons."""

    @property
    def name(self) -> str:
        """Name of the experiment; empty if it has none."""
        return str(self.experiment.get("name") or "")

    @property
    def threshold_in_use(self) -> float:
        """That of the comparison, or of the experiment; the default where neither has one."""
        if self.comparison is not None:
            return self.comparison.threshold
        return THRESHOLD if self.threshold is None else self.threshold

    @property
    def about(self) -> str:
        """Question that the experiment answers; empty if its file has none."""
        return str(self.experiment.get("about") or "")

    @property
    def cpu(self) -> str:
        """The machine's CPU model."""
        return str(self.machine.get("cpu") or "unknown CPU")

    @property
    def seed_text(self) -> str:
        """Seed of the order of the trials."""
        return NONE if self.seed is None else str(self.seed)

    @property
    def cores_text(self) -> str:
        """``4 cores``: the cores that the run could use."""
        cores = self.machine.get("cores")
        return format_count(cores, "core") if isinstance(cores, int) else "? cores"

    def check(self) -> None:
        """Raises :class:`ValueError` for a value of the right type that no run has."""
        if self.trials_planned is not None and self.trials_planned < 0:
            raise ValueError(f"trials_planned is {self.trials_planned}, which is negative")
        compared = () if self.comparison is None else (self.comparison.threshold,)
        for threshold in (self.threshold, *compared):
            if threshold is not None and not 0 <= threshold < 1:
                raise ValueError(f"threshold is {threshold:g}, which is not from 0 to below 1")

    def text(self) -> str:
        """Contents of the file."""
        return msgspec.json.format(msgspec.json.encode(self), indent=2).decode() + "\n"
