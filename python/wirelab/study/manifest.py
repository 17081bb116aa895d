"""``study.json``: what a reproduction has run. It makes a folder a reproduction."""

from __future__ import annotations

from pathlib import Path

import msgspec

from wirelab.errors import UsageError
from wirelab.format.sanitize import damage
from wirelab.format.untrusted import parse_json, read_bounded

NAME = "study.json"
BYTES_MAX = 1_000_000


class Reproduced(msgspec.Struct, frozen=True, omit_defaults=True):
    """What was begun."""

    study: str
    scale: float
    sha256: str = ""
    """Of the study's files."""
    quick: bool = False
    parts: tuple[str, ...] = ()
    """Parts that were named; empty: those that the study runs by itself."""


def is_reproduction(folder: Path) -> bool:
    """True for a folder that ``wirelab reproduce`` has written."""
    return (folder / NAME).is_file()


def read(folder: Path) -> Reproduced:
    """What it names. Raises :class:`UsageError`."""
    try:
        content = parse_json(read_bounded(folder / NAME, BYTES_MAX).decode())
        if not isinstance(content, dict):
            raise ValueError("it is not a mapping")
        study, scale = content["study"], content["scale"]
        if not isinstance(study, str):
            raise ValueError("study is not a text")
        if isinstance(scale, bool) or not isinstance(scale, int | float) or scale <= 0:
            raise ValueError("scale is not a number above 0")
        return msgspec.convert({**content, "scale": float(scale)}, Reproduced)
    except (OSError, ValueError, KeyError, RecursionError) as error:
        reason = error.strerror if isinstance(error, OSError) else damage(error)
        raise UsageError(
            f"{folder} is not a reproduction: {NAME}: {reason}",
            "name a folder that `wirelab reproduce` has written",
        ) from error
