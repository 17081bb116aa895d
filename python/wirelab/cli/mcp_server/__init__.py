"""The server behind ``wirelab mcp`` (Model Context Protocol, JSON-RPC over standard input and
output).

Every tool call runs in a child process of its own (:mod:`.worker`), which calls the functions of
the command with the same name. Cancelling a call therefore ends the child like Ctrl-C ends the
command, and a failure of the child never reaches the protocol. One call runs at a time, because
parallel measurements disturb each other.
"""

from __future__ import annotations

import importlib.util
import sys
from typing import TYPE_CHECKING

from wirelab import installation
from wirelab.errors import EXIT_OK, UsageError

if TYPE_CHECKING:
    from wirelab.cli.options.mcp import LimitOptions, PermissionOptions


def run(permissions: PermissionOptions, limits: LimitOptions) -> int:
    """Serves until the client closes standard input; returns the exit code. Raises
    :class:`UsageError`."""
    from wirelab.cli.mcp_server.limits import Limits

    accepted = Limits.of(permissions, limits)
    if importlib.util.find_spec("mcp") is None:
        raise UsageError(
            "the Python SDK of the Model Context Protocol is not installed",
            installation.extra("mcp"),
        )
    if sys.stdin.isatty():
        raise UsageError(
            "`wirelab mcp` reads requests of a program, but standard input is a terminal",
            "name this command in the configuration of an MCP client",
        )
    from wirelab.cli.mcp_server.server import serve

    serve(accepted)
    return EXIT_OK
