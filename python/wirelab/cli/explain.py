"""``wirelab explain``."""

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
from wirelab.cli.options.explain import DepthOptions


@click.command(cls=GroupedCommand)
@click.argument(
    "services",
    nargs=-1,
    metavar="[A B | FILE]",
    help="Two stacks, two URLs, or an experiment file with two cells.",
)
@option_group("service", PairOptions, "Services")
@option_group("load", LoadOptions, "Load")
@option_group("depth", DepthOptions, "Depth")
@DIRECTORY
@ACCEPT
@AS_JSON
@exit_with_code
def explain(
    services: tuple[str, ...],
    service: PairOptions,
    load: LoadOptions,
    depth: DepthOptions,
    directory: DirectoryOptions,
    accept: AcceptOptions,
    as_json: bool,
) -> int:
    """Explain why one of two services is slower by changing one thing at a time.

    Two stacks of wirelab are connected by a path of stacks that differ in one axis each. For two
    services of your own, everything that can be changed from outside is changed for both.
    """
    from wirelab.cli.output.explain import run

    return run(services, service, load, depth, directory, accept, as_json=as_json)
