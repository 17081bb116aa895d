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
    """A command in place of a service, and how to call it."""

    command: str | None = option(
        "--command", metavar="COMMAND", help="Command that starts the service; {port} is replaced."
    )


@dataclass(frozen=True)
class SearchOptions:
    """How to search for the limit."""

    duration: str | None = option(
        "--duration", metavar="TIME", help="Length of a window. [default: 3s, or that of FILE]"
    )
    link: str | None = option("--link", metavar="PROFILE", help="Network link. [default: loopback]")
    warmup: str | None = option(
        "--warmup",
        metavar="TIME",
        help="Minimum warm-up before a window; a JVM needs 20s. [default: 200ms]",
    )
    probes_max: int = option(
        "--probes",
        type=click.IntRange(6, 200),
        default=40,
        show_default=True,
        help="Maximum number of trials of the search.",
    )
    no_curve: bool = option(
        "--no-curve", is_flag=True, help="Do not measure the curve from 0.5 to 1.5 times the limit."
    )


@click.command(cls=GroupedCommand)
@click.argument(
    "service",
    required=False,
    metavar="[SERVICE | FILE]",
    help="A stack, a URL, or an experiment file with one cell.",
)
@click.option(
    "--objective",
    metavar="CONDITIONS",
    required=True,
    help="Conditions that must hold, e.g. 'p99<50ms, errors<0.1%'.",
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

    Calls arrive at random (Poisson), whether or not replies come. Every trial uses a fresh process.
    Exit code 1: the objective is not met at any tested rate. 5: it is met at all of them.
    """
    from wirelab.cli.output.limit import run

    return run(service, objective, declared, search, directory, accept, as_json=as_json)
