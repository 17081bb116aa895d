"""``--fail-if`` and ``--junit``: conditions on the results."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from wirelab.cli.options.common import PATH, accept_folder, option
from wirelab.errors import UsageError

if TYPE_CHECKING:
    from wirelab.explain.thresholds import Condition

THRESHOLDS = "Thresholds"
"""Heading of the options that evaluate the results."""
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
        return parse_conditions(self.fail_if, self.junit)


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
        return parse_conditions(self.fail_if, self.junit, of_one_run=True)


def parse_conditions(
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
