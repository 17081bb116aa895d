"""manifest.json of a run directory: what ran, where, and with which versions."""

from __future__ import annotations

import msgspec

from wirelab.format.counting import counted
from wirelab.format.numbers import NONE

FORMAT = 1
"""Of the directory; grows when an older lab could not read it any more."""
MANIFEST = "manifest.json"


class EngineBinary(msgspec.Struct, frozen=True):
    """The engine that began the run."""

    sha256: str = ""


class Session(msgspec.Struct, frozen=True):
    """One start of the command that measures the run."""

    started: str = ""
    """ISO 8601, UTC."""
    engine_sha256: str = ""


class Manifest(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """What was to be measured, on which machine and with which programs."""

    format: int
    experiment: dict[str, object] = {}
    """The experiment file as it was understood; :mod:`wirelab.experiment.model` reads it."""
    experiment_sha256: str = ""
    seed: int | None = None
    threshold: float | None = None
    """Share below which a difference is none, as declared before the run."""
    machine: dict[str, str | int | None] = {}
    """What :func:`wirelab.process.machine.describe` found."""
    versions: dict[str, str] = {}
    """Of Python, the lab and its libraries."""
    git_revision: str | None = None
    engine: EngineBinary = EngineBinary()
    sessions: tuple[Session, ...] = ()
    trials_planned: int | None = None
    """Of the whole run; None where it was cut short before it was known."""
    skipped: tuple[str, ...] = ()
    """Combinations that were left out, with the reasons."""
    unavailable: tuple[str, ...] = ()
    """Callers that are not on this machine, with the reasons."""

    @property
    def name(self) -> str:
        """The experiment's; empty where it has none."""
        return str(self.experiment.get("name") or "")

    @property
    def about(self) -> str:
        """What the experiment is to answer; empty where its file does not tell."""
        return str(self.experiment.get("about") or "")

    @property
    def cpu(self) -> str:
        """The machine's model of CPU."""
        return str(self.machine.get("cpu") or "unknown CPU")

    @property
    def seed_text(self) -> str:
        """Of the order of the trials."""
        return NONE if self.seed is None else str(self.seed)

    @property
    def cores_text(self) -> str:
        """``4 cores``: those that the run could use."""
        cores = self.machine.get("cores")
        return counted(cores, "core") if isinstance(cores, int) else "? cores"

    def text(self) -> str:
        """As the file holds it."""
        return msgspec.json.format(msgspec.json.encode(self), indent=2).decode() + "\n"
