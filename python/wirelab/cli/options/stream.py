"""Options of `wirelab drive` about replies that are streams of messages."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from wirelab.cli.options.common import COUNT, PATH, option

if TYPE_CHECKING:
    from wirelab.drive.stream import Format

BYTES_MAX = 256 << 20
"""Longest message that the engine accepts."""


@dataclass(frozen=True)
class StreamOptions:
    """How a reply that is a stream is read, checked and ended."""

    sse: bool = option(
        "--sse", is_flag=True, help="Replies are server-sent events (text/event-stream)."
    )
    ndjson: bool = option("--ndjson", is_flag=True, help="Replies are lines of JSON.")
    openai: bool = option(
        "--openai",
        is_flag=True,
        help="Request chat completions of a language model as streams. /v1/chat/completions is "
        "added to a URL without a path.",
    )
    websocket: bool = option(
        "--websocket",
        is_flag=True,
        help="Each call sends one message of WebSocket, --data or --body, on a connection that "
        "stays open, and waits for --expect-messages replies. The same as a ws:// or wss:// URL.",
    )
    messages: Path | None = option(
        "--messages",
        metavar="FILE",
        type=PATH,
        help="Text file with a message of WebSocket per line, at most 64 MiB; calls send the lines "
        "that are not empty in turn.",
    )
    permessage_deflate: bool = option(
        "--permessage-deflate",
        is_flag=True,
        help="Offer to compress messages of WebSocket in both directions (RFC 7692).",
    )
    model: str | None = option(
        "--model", metavar="NAME", help="Model for --openai. [default: default]"
    )
    prompt: str | None = option(
        "--prompt", metavar="TEXT", help="User message for --openai. [default: Count to 100.]"
    )
    max_tokens: int | None = option(
        "--max-tokens", type=COUNT, help="Limit of tokens per completion. [default: none]"
    )
    expect_text: str | None = option(
        "--expect-text",
        metavar="TEXT",
        help="Text that the messages of a correct stream contain, joined without separators.",
    )
    expect_messages: int | None = option(
        "--expect-messages",
        type=COUNT,
        help="Number of messages of a correct stream. [default with --websocket: 1]",
    )
    stop_messages: int | None = option(
        "--stop-messages",
        type=COUNT,
        help="End each stream after this number of messages, which is not a failure.",
    )
    stop_bytes: str | None = option(
        "--stop-bytes", metavar="SIZE", help="The same after this size, e.g. '1 MB'."
    )
    stop_time: str | None = option(
        "--stop-time", metavar="TIME", help="The same after this time, to within 20 ms."
    )
    message_max: str | None = option(
        "--message-max",
        metavar="SIZE",
        help="Size of the longest message that is accepted. [default: 4 MiB]",
    )

    @property
    def format(self) -> Format | None:
        """The format that was given."""
        if self.sse:
            return "sse"
        if self.ndjson:
            return "ndjson"
        if self.websocket:
            return "websocket"
        return "openai" if self.openai else None


EXCLUDING: tuple[tuple[str, tuple[str, ...], str, str], ...] = (
    ("--sse", ("--ndjson", "--openai"), "a reply has one format", "give only one of them"),
    ("--ndjson", ("--openai",), "a reply has one format", "give only one of them"),
    (
        "--websocket",
        ("--sse", "--ndjson", "--openai"),
        "a reply has one format",
        "give only one of them",
    ),
    *(
        (
            "--websocket",
            (option,),
            "a call over WebSocket is a message, and ends with --expect-messages replies",
            f"leave {option} out",
        )
        for option in (
            "--method",
            "--http2",
            "--in-flight",
            "--follow",
            "--cookies",
            "--expect-status",
            "--stop-messages",
            "--stop-bytes",
            "--stop-time",
        )
    ),
    *(
        (option, ("--data", "--body"), "each sets the request", "give only one of them")
        for option in ("--model", "--prompt", "--max-tokens", "--messages")
    ),
)
"""As of :mod:`wirelab.cli.options.drive`."""

FORMATS = ("--sse", "--ndjson", "--openai", "--websocket")

BELONGING: tuple[tuple[str, tuple[str, ...]], ...] = (
    ("--model", ("--openai",)),
    ("--prompt", ("--openai",)),
    ("--max-tokens", ("--openai",)),
    ("--expect-text", FORMATS),
    ("--messages", ("--websocket",)),
    ("--permessage-deflate", ("--websocket",)),
)
"""As of :mod:`wirelab.cli.options.drive`."""
