"""``study.json``: what a reproduction has run. It makes a folder a reproduction."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from wirelab.errors import UsageError

NAME = "study.json"


def is_reproduction(folder: Path) -> bool:
    """True for a folder that ``wirelab reproduce`` has written."""
    return (folder / NAME).is_file()


def read(folder: Path) -> dict[str, Any]:
    """What it names: ``study``, ``scale``, and ``sha256`` of the study's files. Raises
    :class:`UsageError`."""
    try:
        return dict(json.loads((folder / NAME).read_text(encoding="utf-8")))
    except (OSError, ValueError, RecursionError) as error:
        reason = error.strerror if isinstance(error, OSError) else error
        raise UsageError(
            f"{folder} is not a reproduction: {NAME}: {reason}",
            "name a folder that `wirelab reproduce` has written",
        ) from error
