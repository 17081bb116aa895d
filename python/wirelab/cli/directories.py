"""The default run directory, and options that need a named one."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path

from wirelab.errors import UsageError


def accept_retry(retry_failed: bool, directory: Path | None) -> None:
    """Raises :class:`UsageError` where there is nothing that could have failed."""
    if retry_failed and directory is None:
        raise UsageError("--retry-failed needs the run", "name its directory: --out DIR")


def default_directory(name: str) -> Path:
    """``runs/<name>-<UTC time>``."""
    return Path("runs") / f"{name}-{datetime.now(UTC):%Y%m%d-%H%M%S}"
