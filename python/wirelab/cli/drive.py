"""``wirelab drive``: the engine as a load generator."""

from __future__ import annotations

from typing import Any

import click

from wirelab.cli.error_handling import exit_with_code
from wirelab.cli.options.common import (
    GroupedCommand,
    option_group,
)
from wirelab.cli.options.drive import (
    ConnectionOptions,
    ContractOptions,
    LoadOptions,
    MessageOptions,
    Options,
    OutputOptions,
    PatternOptions,
)
from wirelab.cli.thresholds import THRESHOLDS, DriveThresholdOptions


@click.command(cls=GroupedCommand)
@click.argument(
    "target",
    metavar="REF|URL",
    help="http://host:port/path or grpc://host:port/package.Service/Method (with TLS: https:// or "
    "grpcs://), or a stack of wirelab such as rest@rust.",
)
@option_group("connection", ConnectionOptions, "Connection")
@option_group("load", LoadOptions, "Load")
@option_group("pattern", PatternOptions, "Load over time")
@option_group("message", MessageOptions, "Message to a URL")
@option_group("contract", ContractOptions, "Message to a service of wirelab")
@option_group("thresholds", DriveThresholdOptions, THRESHOLDS)
@option_group("output", OutputOptions, "Output")
@exit_with_code
def drive(target: str, **groups: Any) -> int:
    """Load one server and report how fast it answers."""
    from wirelab.cli.drive_options import run

    return run(Options(target, **groups))
