"""``wirelab mcp``."""

from __future__ import annotations

import click

from wirelab.cli.error_handling import exit_with_code
from wirelab.cli.options.common import (
    OPTIONS,
    GroupedCommand,
    option_group,
)
from wirelab.cli.options.mcp import LimitOptions, PermissionOptions


@click.command(cls=GroupedCommand)
@option_group("permissions", PermissionOptions, OPTIONS)
@option_group("limits", LimitOptions, "Limits")
@exit_with_code
def mcp(permissions: PermissionOptions, limits: LimitOptions) -> int:
    """Offer drive, compare, dissect and report as tools to an AI assistant.

    Speaks the Model Context Protocol (MCP) on standard input and output; an assistant's program
    starts this command. Needs `pip install 'wirelab[mcp]'`.
    """
    from wirelab.cli.mcp_server import run

    return run(permissions, limits)
