"""Verdicts on the conditions of ``--fail-if``."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from wirelab.cli.error_handling import fold, out
from wirelab.errors import UsageError
from wirelab.format.sanitize import sanitize

if TYPE_CHECKING:
    from wirelab.explain.thresholds import Judged

_MET = {"holds": "not met", "does not hold": "met", "undecided": "perhaps met"}
"""Verdict on a condition that must not be met, in words."""
_STYLES = {"holds": "", "does not hold": "failed:", "undecided": "yellow"}


def show_verdicts(judged: Sequence[Judged], width: int) -> None:
    """Prints one sentence per verdict."""
    for one in judged:
        out.print(fold(f"• {sentence(one)}", width), _STYLES[one.verdict])


def sentence(one: Judged) -> str:
    """``Fail if p99>20ms: not met by orders-rest (3 ms in this run).``"""
    text = f"Fail if {one.condition.text}: {_MET[one.verdict]} by {one.name} ({one.reason})."
    return sanitize(text)


def write_junit(suite: str, judged: Sequence[Judged], file: Path | None) -> None:
    """Writes the verdicts to ``file``, if one is given. Raises :class:`UsageError`."""
    if file is None:
        return
    from wirelab.explain import thresholds
    from wirelab.run.directory import write_whole

    try:
        write_whole(file, thresholds.junit(suite, judged))
    except OSError as error:
        raise UsageError(f"--junit {file} cannot be written: {error.strerror}") from error


def exit_code(judged: Sequence[Judged]) -> int:
    """0 if no condition is met, 1 if any is met, otherwise 5."""
    if not judged:
        return 0
    from wirelab.explain import thresholds

    return thresholds.exit_code(judged)
