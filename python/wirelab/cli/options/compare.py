"""Options of `wirelab compare`."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import click

from wirelab.cli.options.common import (
    PATH,
    Share,
    option,
)
from wirelab.cli.options.completion import complete_figure

PAIRS_MAX = 60


@dataclass(frozen=True)
class QuestionOptions:
    """What to compare, and when to stop."""

    figure: str = option(
        "--figure",
        metavar="NAME",
        shell_complete=complete_figure,
        default="rate",
        show_default=True,
        help="Figure to compare, e.g. rate, response_p50, response_p99 or service_cpu.",
    )
    threshold: float = option(
        "--threshold",
        type=Share(),
        metavar="SHARE",
        default=0.03,
        show_default=True,
        help="Largest difference of no interest. B is worse only if the whole interval lies beyond "
        "it, and equivalent if it lies within it.",
    )
    pairs_max: int = option(
        "--pairs",
        type=click.IntRange(2, 1000),
        default=PAIRS_MAX,
        show_default=True,
        help="Maximum number of trial pairs.",
    )


@dataclass(frozen=True)
class OutputOptions:
    """Additional output files."""

    markdown: Path | None = option(
        "--markdown",
        type=PATH,
        metavar="FILE",
        help="Write the result as Markdown for a pull request.",
    )
    junit: Path | None = option(
        "--junit", type=PATH, metavar="FILE", help="Write the result as JUnit XML."
    )
    bmf: Path | None = option(
        "--bmf", type=PATH, metavar="FILE", help="Write the result in Bencher Metric Format (JSON)."
    )
