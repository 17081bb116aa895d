"""``wirelab choose``."""

from __future__ import annotations

import click

from wirelab.cli.error_handling import exit_with_code
from wirelab.cli.options.choose import CallOptions, MessageOptions, StackOptions
from wirelab.cli.options.common import (
    AS_JSON,
    DIRECTORY,
    DirectoryOptions,
    GroupedCommand,
    option_group,
)


@click.command(cls=GroupedCommand)
@click.argument(
    "source",
    metavar="FILE",
    help="JSON document of the request, or a .proto; with --from, another document.",
)
@option_group("message", MessageOptions, "Message")
@option_group("stacks", StackOptions, "Stacks")
@option_group("calls", CallOptions, "Load and question")
@DIRECTORY
@AS_JSON
@exit_with_code
def choose(
    source: str,
    message: MessageOptions,
    stacks: StackOptions,
    calls: CallOptions,
    directory: DirectoryOptions,
    as_json: bool,
) -> int:
    """Measure your own message over many stacks, and say which to take.

    Services for it are generated in each language, built, examined and measured. The folder of the
    answer has the .proto, the sources, the experiments and their runs.

    Exit code 0: decided. 5: undecided within the budget.
    """
    from wirelab.cli.output.choose import run

    return run(source, message, stacks, calls, directory, as_json=as_json)
