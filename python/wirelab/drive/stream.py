"""A reply that is a stream of messages: how it is requested, read and ended."""

from __future__ import annotations

import json
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Literal

from wirelab.errors import UsageError
from wirelab.stack.targets import Server

Json = dict[str, object]
Format = Literal["sse", "ndjson", "openai", "websocket"]

CHAT_PATH = "/v1/chat/completions"
"""Of a chat completion on servers of language models (OpenAI API reference)."""
ACCEPTED = {
    "sse": "text/event-stream",
    "ndjson": "application/x-ndjson",
    "openai": "text/event-stream",
}
"""``Accept`` by format; the handshake of WebSocket has none."""
MODEL, PROMPT = "default", "Count to 100."


@dataclass(frozen=True)
class Chat:
    """The request for a chat completion."""

    model: str = MODEL
    prompt: str = PROMPT
    max_tokens: int | None = None

    def body(self) -> bytes:
        """JSON that requests a stream, with the count of its tokens at the end."""
        body: Json = {
            "model": self.model,
            "messages": [{"role": "user", "content": self.prompt}],
            "stream": True,
            "stream_options": {"include_usage": True},
        }
        if self.max_tokens is not None:
            body["max_tokens"] = self.max_tokens
        return json.dumps(body, ensure_ascii=False).encode()


@dataclass(frozen=True)
class StreamSpec:
    """How the messages of a reply are read, what is right, and when it is ended."""

    format: Format | None = None
    """None: that of gRPC, where the server describes the method as a stream."""
    chat: Chat | None = None
    """The request, where it is not given as a body."""
    messages: Path | None = None
    """Of WebSocket: a file with one message per line, instead of a body."""
    expect_text: str | None = None
    expect_messages: int | None = None
    stop_messages: int | None = None
    stop_bytes: int | None = None
    stop_s: float | None = None
    message_bytes_max: int | None = None
    is_deflate_offered: bool = False
    """Of WebSocket: permessage-deflate is offered (RFC 7692)."""

    @property
    def is_given(self) -> bool:
        """Whether the reply is known to be a stream."""
        return self != StreamSpec()

    def workload(self, name: str) -> Json:
        """The plan's ``stream``."""
        described: Json = {
            "expect_text": self.expect_text,
            "expect_messages": self.expect_messages,
            "stop_messages": self.stop_messages,
            "stop_bytes": self.stop_bytes,
            "stop_s": self.stop_s,
            "message_bytes_max": self.message_bytes_max,
        }
        given = {name: value for name, value in described.items() if value is not None}
        return {"format": name, **given}

    def headers(self, given: tuple[tuple[str, str], ...]) -> tuple[tuple[str, str], ...]:
        """The given ones, and those that a client of such streams sends."""
        own = [("accept", ACCEPTED[self.format])] if self.format in ACCEPTED else []
        if self.chat is not None:
            own.append(("content-type", "application/json"))
        names = {name for name, _ in given}
        return (*given, *(pair for pair in own if pair[0] not in names))


def accept_server(server: Server, spec: StreamSpec) -> Server:
    """The server, with the path of chat completions where its URL has none. Raises
    :class:`UsageError` where it cannot stream in that format."""
    if server.kind == "grpc" and spec.format is not None:
        raise UsageError(
            f"--{spec.format} belongs to http:// and https:// targets",
            "a method of gRPC that returns a stream needs no option",
        )
    if server.kind == "http" and spec.is_given and spec.format is None:
        raise UsageError(
            "options about streams need the format of the stream",
            "add --sse, --ndjson, --openai or --websocket",
        )
    if spec.format == "openai" and server.path == "/":
        return replace(server, path=CHAT_PATH)
    return server
