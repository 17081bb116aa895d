"""``--fail-if`` and ``--junit``: conditions on the results, and their verdicts."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from wirelab.cli.error_handling import folded, out
from wirelab.cli.options.common import PATH, option
from wirelab.errors import UsageError
from wirelab.format.sanitize import sanitize

if TYPE_CHECKING:
    from wirelab.explain.thresholds import Condition, Judged

THRESHOLDS = "Thresholds"
"""Heading of the options that evaluate the results."""
_MET = {"holds": "not met", "does not hold": "met", "undecided": "perhaps met"}
"""Verdict on a condition that must not be met, in words."""
_STYLES = {"holds": "", "does not hold": "failed:", "undecided": "yellow"}
_JUNIT = option(
    "--junit", metavar="FILE", type=PATH, help="Write the verdicts of --fail-if as JUnit XML."
)


@dataclass(frozen=True)
class ThresholdOptions:
    """Conditions on the results of a run."""

    fail_if: Sequence[str] = option(
        "--fail-if",
        metavar="CONDITION",
        multiple=True,
        help="Fail if met, e.g. 'p99>20ms', 'rate<1000' or 'errors>0.1%'. Each cell is judged by "
        "its 95 % interval. Exit code 1: met in a cell, 5: undecided. May be repeated.",
    )
    junit: Path | None = _JUNIT

    def conditions(self) -> tuple[Condition, ...]:
        """Raises :class:`UsageError` for a condition that cannot be parsed or a file that cannot be
        written."""
        return parsed(self.fail_if, self.junit)


@dataclass(frozen=True)
class DriveThresholdOptions:
    """Conditions on the results of a drive."""

    fail_if: Sequence[str] = option(
        "--fail-if",
        metavar="CONDITION",
        multiple=True,
        help="Fail if met, e.g. 'p99>20ms', 'rate<1000' or 'errors>0'. Exit code 1: met, 5: too "
        "few calls to decide. A single drive has no interval; `wirelab run` repeats trials. May "
        "be repeated.",
    )
    junit: Path | None = _JUNIT

    def conditions(self) -> tuple[Condition, ...]:
        """Same as :meth:`ThresholdOptions.conditions`."""
        return parsed(self.fail_if, self.junit, of_one_run=True)


def parsed(
    texts: Sequence[str], file: Path | None, *, of_one_run: bool = False
) -> tuple[Condition, ...]:
    """The conditions of ``--fail-if``, whose verdicts go to ``file``. Raises
    :class:`UsageError`."""
    if not texts:
        if file is not None:
            raise UsageError("--junit has nothing to write", "add --fail-if CONDITION")
        return ()
    from wirelab.explain.thresholds import Condition

    if file is not None:
        accept_folder("--junit", file)
    return tuple(Condition.parse(text, of_one_run=of_one_run) for text in texts)


def accept_folder(option_name: str, file: Path) -> None:
    """Raises :class:`UsageError` for a file whose folder does not exist."""
    if not file.parent.is_dir():
        raise UsageError(
            f"{option_name} {file}: the folder {file.parent} does not exist",
            "create it, or give another path",
        )


def show_verdicts(judged: Sequence[Judged], width: int) -> None:
    """Prints one sentence per verdict."""
    for one in judged:
        out.print(folded(f"• {sentence(one)}", width), _STYLES[one.verdict])


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
