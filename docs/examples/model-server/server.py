"""A model server whose answers and times are known: each chat completion is the same text, sent
by a schedule. It needs FastAPI and uvicorn. Start: ``python server.py --port 8000``."""

import argparse
import asyncio
import json
import time
from collections.abc import AsyncIterator
from dataclasses import dataclass

import uvicorn
from fastapi import FastAPI
from fastapi.responses import StreamingResponse
from pydantic import BaseModel


@dataclass
class Schedule:
    """When tokens are sent, in seconds."""

    tokens: int = 40
    first: float = 0.2
    """From the request to the first token."""
    gap: float = 0.02
    pause: float = 0.0
    """Added to the gap in the middle."""

    def due(self, token: int) -> float:
        """Time of a token since the request."""
        after_pause = token >= self.tokens // 2
        return self.first + token * self.gap + (self.pause if after_pause else 0.0)


class StreamOptions(BaseModel):
    """What else is streamed."""

    include_usage: bool = False


class Completion(BaseModel):
    """The request, as far as the answer depends on it."""

    model: str = "mock"
    stream: bool = False
    stream_options: StreamOptions = StreamOptions()
    max_tokens: int | None = None


app = FastAPI(title="Model server")
schedule = Schedule()


@app.get("/healthz")
async def healthz() -> str:
    """Answers once the service is ready."""
    return "ok"


@app.post("/v1/chat/completions")
async def complete(request: Completion) -> StreamingResponse:
    """Streams a chat completion."""
    events = send(request, time.monotonic())
    return StreamingResponse(events, media_type="text/event-stream")


async def send(request: Completion, received: float) -> AsyncIterator[str]:
    """Events by the schedule: the role, tokens, usage, the end."""
    tokens = min(schedule.tokens, request.max_tokens or schedule.tokens)
    yield event(choices=[{"index": 0, "delta": {"role": "assistant", "content": ""}}])
    for token in range(tokens):
        await asyncio.sleep(received + schedule.due(token) - time.monotonic())
        yield event(choices=[{"index": 0, "delta": {"content": f"{token + 1} "}}])
    if request.stream_options.include_usage:
        yield event(choices=[], usage={"completion_tokens": tokens})
    yield "data: [DONE]\n\n"


def event(**chunk: object) -> str:
    """One chunk of the completion."""
    return f"data: {json.dumps({'object': 'chat.completion.chunk', **chunk})}\n\n"


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("--host", default="127.0.0.1")
    parser.add_argument("--port", type=int, default=8000)
    parser.add_argument("--tokens", type=int, default=schedule.tokens)
    parser.add_argument("--first", type=float, default=schedule.first, help="seconds")
    parser.add_argument("--gap", type=float, default=schedule.gap, help="seconds")
    parser.add_argument(
        "--pause", type=float, default=schedule.pause, help="in the middle, seconds"
    )
    given = parser.parse_args()
    schedule = Schedule(given.tokens, given.first, given.gap, given.pause)
    uvicorn.run(app, host=given.host, port=given.port, log_level="warning")
