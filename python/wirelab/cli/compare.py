"""``wirelab compare``."""

from __future__ import annotations

import shlex

import click

from wirelab.cli.error_handling import exit_with_code
from wirelab.cli.options.clients import CLIENTS, ClientsOptions
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


class CompareCommand(GroupedCommand):
    """Takes the words of ``--arguments`` in its place."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Splits them once, as a shell does."""
        words: list[str] = []
        rest = iter(args)
        for word in rest:
            if word == "--arguments":
                words += _split(next(rest, None), ctx)
            elif word.startswith("--arguments="):
                words += _split(word.partition("=")[2], ctx)
            else:
                words.append(word)
        return super().parse_args(ctx, words)


def _split(text: str | None, ctx: click.Context) -> list[str]:
    if text is None:
        raise click.BadOptionUsage("--arguments", "Option '--arguments' requires an argument.", ctx)
    try:
        return shlex.split(text)
    except ValueError as error:
        raise click.BadOptionUsage("--arguments", f"--arguments {text!r}: {error}", ctx) from None


@click.command(cls=CompareCommand)
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
@click.option(
    "--arguments",
    metavar="TEXT",
    expose_value=False,
    help="Further arguments, split as a shell does; nothing in them is run.",
)
@CLIENTS
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
    clients: ClientsOptions,
    directory: DirectoryOptions,
    accept: AcceptOptions,
    as_json: bool,
) -> int:
    """Measure two services in pairs until it is known whether B is worse than A.

    Exit code 0: B is better or equivalent. 1: B is worse, or pairs failed. 5: undecided.
    """
    from wirelab.cli.output.compare import run

    return run(
        services, service, load, question, output, clients, directory, accept, as_json=as_json
    )
