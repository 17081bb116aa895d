"""``wirelab compare``."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import click

from wirelab.cli.error_handling import exit_with_code
from wirelab.cli.options import (
    ACCEPT,
    AS_JSON,
    DIRECTORY,
    PATH,
    AcceptOptions,
    DirectoryOptions,
    GroupedCommand,
    LoadOptions,
    PairOptions,
    Share,
    option,
    option_group,
)

PAIRS_MAX = 60


@dataclass(frozen=True)
class QuestionOptions:
    """What to compare, and when to stop."""

    figure: str = option(
        "--figure",
        metavar="NAME",
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
        help="The services are equivalent if the interval lies within this share of 1.",
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


@click.command(cls=GroupedCommand)
@click.argument(
    "services",
    nargs=-1,
    metavar="[A B | FILE]",
    help="Two stacks or URLs, or an experiment file with two cells.",
)
@option_group("service", PairOptions, "Services")
@option_group("load", LoadOptions, "Load")
@option_group("question", QuestionOptions, "Question")
@option_group("output", OutputOptions, "Output")
@DIRECTORY
@ACCEPT
@AS_JSON
@exit_with_code
def compare(
    services: tuple[str, ...],
    service: PairOptions,
    load: LoadOptions,
    question: QuestionOptions,
    output: OutputOptions,
    directory: DirectoryOptions,
    accept: AcceptOptions,
    as_json: bool,
) -> int:
    """Measure two services in pairs until it is known whether B is worse than A.

    Exit code 0: B is better or equivalent. 1: B is worse, or pairs failed. 5: undecided.
    """
    from wirelab.cli.output.compare import run

    return run(services, service, load, question, output, directory, accept, as_json=as_json)
