"""The protocol: lists the tools, passes calls on, and returns results and errors."""

from __future__ import annotations

import logging
import os
import signal
import sys
import traceback
from typing import Any, cast

import anyio
import mcp_types as types
from mcp.server.context import ServerRequestContext
from mcp.server.lowlevel import Server
from mcp.server.stdio import stdio_server

import wirelab
from wirelab.cli.mcp_server.calls import Calls
from wirelab.cli.mcp_server.limits import Limits
from wirelab.cli.mcp_server.lines import Lines, Replies
from wirelab.cli.mcp_server.tools import TOOLS, input_schema, output_schema
from wirelab.errors import WirelabError
from wirelab.format.sanitize import sanitize
from wirelab.format.units import format_seconds

ERROR_CHARACTERS_MAX = 4_000


def serve(limits: Limits) -> None:
    """Serves until the client closes standard input, or SIGINT or SIGTERM arrives."""
    logging.basicConfig(stream=sys.stderr, level=logging.ERROR)
    try:
        anyio.run(_serve, limits)
    except* BrokenPipeError:
        pass  # the client has closed its end of standard output


async def _serve(limits: Limits) -> None:
    server = _server(limits)
    async with anyio.create_task_group() as group:
        group.start_soon(_end_on_signal, group.cancel_scope)
        replies = Replies(_take_output())
        streams = stdio_server(cast(Any, Lines(0, replies)), cast(Any, replies))
        async with streams as (incoming, outgoing):
            await server.run(incoming, outgoing, server.create_initialization_options())
        group.cancel_scope.cancel()


def _take_output() -> int:
    """A descriptor of standard output, which from now on is standard error: what a tool or a
    child prints must not get between messages."""
    own = os.dup(1)
    os.dup2(2, 1)
    return own


async def _end_on_signal(scope: anyio.CancelScope) -> None:
    with anyio.open_signal_receiver(signal.SIGINT, signal.SIGTERM) as signals:
        async for _ in signals:
            scope.cancel()
            return


def _server(limits: Limits) -> Server[Any]:
    calls = Calls(limits)
    tools = [_tool(name, limits) for name in TOOLS]

    async def list_tools(context: ServerRequestContext[Any], _: Any) -> types.ListToolsResult:
        return types.ListToolsResult(tools=tools)

    async def call_tool(
        context: ServerRequestContext[Any], asked: types.CallToolRequestParams
    ) -> types.CallToolResult:
        try:
            made = await calls.run(
                asked.name, asked.arguments or {}, context.session.report_progress
            )
        except WirelabError as error:
            return _text(str(error)[:ERROR_CHARACTERS_MAX], is_error=True)
        except Exception as error:
            traceback.print_exc(file=sys.stderr)
            name = type(error).__name__
            return _text(
                f"wirelab failed internally ({name})\n  the server's standard error has the "
                "details",
                is_error=True,
            )
        return _text(made["text"], made["structured"])

    return Server(
        "wirelab",
        version=wirelab.__version__,
        instructions=_instructions(limits),
        on_list_tools=list_tools,
        on_call_tool=call_tool,
    )


def _tool(name: str, limits: Limits) -> types.Tool:
    spec = TOOLS[name]
    return types.Tool(
        name=name,
        description=spec.about,
        input_schema=input_schema(name, limits),
        output_schema=output_schema(name),
        annotations=types.ToolAnnotations(
            read_only_hint=spec.changes_nothing, destructive_hint=False
        ),
    )


def _text(
    text: str, structured: dict[str, Any] | None = None, *, is_error: bool = False
) -> types.CallToolResult:
    return types.CallToolResult(
        content=[types.TextContent(type="text", text=sanitize(text))],
        structured_content=structured,
        is_error=is_error,
    )


def _instructions(limits: Limits) -> str:
    hosts = ", ".join(("loopback", *limits.hosts))
    return (
        "wirelab measures RPC stacks and HTTP and gRPC servers. Quote figures with their interval "
        "or number of calls, and report an undecided result as undecided. One call runs at a time; "
        "others wait. "
        f"It may load {hosts}; files and runs are in {limits.root}; windows last at most "
        f"{format_seconds(limits.duration_s)} and calls at most {format_seconds(limits.call_s)}."
    )
