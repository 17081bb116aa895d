"""``wirelab wrap``."""

from __future__ import annotations

import click

from wirelab.cli.error_handling import exit_with_code
from wirelab.cli.options.common import (
    GroupedCommand,
    option_group,
)
from wirelab.cli.options.wrap import CaptureOptions, OutputOptions, ServiceOptions


@click.command(cls=GroupedCommand)
@click.argument(
    "command",
    nargs=-1,
    required=True,
    metavar="-- COMMAND…",
    help="The tool with its options. With --serve, {url}, {address}, {host} and {port} in it are "
    "replaced.",
)
@option_group("service", ServiceOptions, "Service")
@option_group("capture", CaptureOptions, "Capture")
@option_group("output", OutputOptions, "Output")
@exit_with_code
def wrap(
    command: tuple[str, ...],
    service: ServiceOptions,
    capture: CaptureOptions,
    output: OutputOptions,
) -> int:
    """Run any load tool under packet capture and check whether its figures can be trusted."""
    from wirelab.cli.output.wrap import order, run

    return run(order(command, service, capture), output)
