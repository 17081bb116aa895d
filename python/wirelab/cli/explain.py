"""``wirelab explain``."""

from __future__ import annotations

from dataclasses import dataclass

import click

from wirelab.cli.error_handling import exit_with_code
from wirelab.cli.options import (
    ACCEPT,
    AS_JSON,
    DIRECTORY,
    AcceptOptions,
    DirectoryOptions,
    GroupedCommand,
    LoadOptions,
    PairOptions,
    Share,
    option,
    option_group,
)


@dataclass(frozen=True)
class DepthOptions:
    """How closely it is looked."""

    repeats: int = option(
        "--repeats",
        type=click.IntRange(2, 1000),
        default=4,
        show_default=True,
        help="Trials of every change, on fresh processes.",
    )
    figure: str = option(
        "--figure",
        metavar="NAME",
        default="response_p50",
        show_default=True,
        help="The time that is explained: response_p50, response_p99, service_mean.",
    )
    threshold: float = option(
        "--threshold",
        type=Share(),
        metavar="SHARE",
        default=0.05,
        show_default=True,
        help="A change of the time of a call counts beyond this share.",
    )


@click.command(cls=GroupedCommand)
@click.argument(
    "services",
    nargs=-1,
    metavar="[A B | FILE]",
    help="Two stacks, two URLs, or an experiment file of two cells.",
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
    """Find out why one of two services is slower, by changing one thing at a time.

    Two stacks of the lab are connected by stacks that differ in one axis each. Of two services of
    your own, what can be changed from outside is changed for both.
    """
    from wirelab.cli.output.explain import run

    return run(services, service, load, depth, directory, accept, as_json=as_json)
