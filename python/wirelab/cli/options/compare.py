"""Options of `wirelab compare`."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import click

from wirelab.cli.options.common import (
    PATH,
    Duration,
    Share,
    option,
)
from wirelab.cli.options.completion import complete_figure

PAIRS_MAX, PAIRS_PRECISE = 60, 400


@dataclass(frozen=True)
class QuestionOptions:
    """What to compare, and when to stop."""

    figure: str | None = option(
        "--figure",
        metavar="NAME",
        shell_complete=complete_figure,
        help="Figure to compare, e.g. rate, response_p50, response_p99 or service_cpu. [default: "
        "rate; response_p50 of loads with a rate, which a service that keeps up cannot change]",
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
    pairs_max: int | None = option(
        "--pairs",
        type=click.IntRange(2, 1000),
        default=None,
        help=f"Maximum number of trial pairs. [default: {PAIRS_MAX}; {PAIRS_PRECISE} with "
        "--precision]",
    )
    guard: str = option(
        "--guard",
        metavar="NAMES",
        default="p99,errors",
        show_default=True,
        help="What must not become clearly worse meanwhile: figures, and errors for failed calls. "
        "A guard that is not known to hold makes the result undecided; none: no guards.",
    )
    precision: float | None = option(
        "--precision",
        type=Share(),
        metavar="SHARE",
        help="Go on, decided or not, until the interval reaches no further than this to both "
        "sides of the ratio.",
    )
    budget_s: float | None = option(
        "--budget", type=Duration(), metavar="TIME", help="Start no pair after this time."
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
