"""``wirelab limit``."""

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
    RequestOptions,
    option,
    option_group,
)


@dataclass(frozen=True)
class ServiceOptions(RequestOptions):
    """A command in place of a service, and what is asked of it."""

    command: str | None = option(
        "--command", metavar="COMMAND", help="Starts the service; {port} in it is replaced."
    )


@dataclass(frozen=True)
class SearchOptions:
    """How the limit is looked for."""

    duration: str | None = option(
        "--duration", metavar="TIME", help="Of a window. [default: 3s, or that of FILE]"
    )
    link: str | None = option("--link", metavar="PROFILE", help="[default: loopback]")
    probes_max: int = option(
        "--probes",
        type=click.IntRange(6, 200),
        default=40,
        show_default=True,
        help="Trials of the search at most.",
    )
    no_curve: bool = option(
        "--no-curve", is_flag=True, help="Leave out the curve from half to 1.5 times the limit."
    )


@click.command(cls=GroupedCommand)
@click.argument(
    "service",
    required=False,
    metavar="[SERVICE | FILE]",
    help="A stack, a URL, or an experiment file of one cell.",
)
@click.option(
    "--objective",
    metavar="CONDITIONS",
    required=True,
    help="What must hold in a trial, such as 'p99<50ms, errors<0.1%'.",
)
@option_group("declared", ServiceOptions, "Service")
@option_group("search", SearchOptions, "Search")
@DIRECTORY
@ACCEPT
@AS_JSON
@exit_with_code
def limit(
    service: str | None,
    objective: str,
    declared: ServiceOptions,
    search: SearchOptions,
    directory: DirectoryOptions,
    accept: AcceptOptions,
    as_json: bool,
) -> int:
    """Find the highest rate at which a service meets an objective.

    Calls arrive at random (Poisson) whether or not replies come. Every trial is on a fresh process.
    Exit code 1: it is not met at any rate that was tried. 5: it is met at all of them.
    """
    from wirelab.cli.output.limit import run

    return run(service, objective, declared, search, directory, accept, as_json=as_json)
