"""``wirelab compare``."""

from __future__ import annotations

import click

from wirelab.cli.error_handling import exit_with_code
from wirelab.cli.options.common import (
    ACCEPT,
    AS_JSON,
    DIRECTORY,
    AcceptOptions,
    DirectoryOptions,
    GroupedCommand,
    LoadOptions,
    PairOptions,
    option_group,
)
from wirelab.cli.options.compare import OutputOptions, QuestionOptions


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
