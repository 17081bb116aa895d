"""``wirelab limit``."""

from __future__ import annotations

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
    option_group,
)
from wirelab.cli.options.limit import SearchOptions, ServiceOptions


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
@CLIENTS
@DIRECTORY
@ACCEPT
@AS_JSON
@exit_with_code
def limit(
    service: str | None,
    objective: str,
    declared: ServiceOptions,
    search: SearchOptions,
    clients: ClientsOptions,
    directory: DirectoryOptions,
    accept: AcceptOptions,
    as_json: bool,
) -> int:
    """Find the highest rate at which a service meets an objective.

    Calls arrive at random (Poisson), whether or not replies come. Every trial uses a fresh process.
    Exit code 1: the objective is not met at any tested rate. 5: it is met at all of them, or the
    machine held up too many trials.
    """
    from wirelab.cli.output.limit import run

    return run(service, objective, declared, search, clients, directory, accept, as_json=as_json)
