"""What `wirelab drive` shows of replies that were streams of messages."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from wirelab.format.counting import format_count
from wirelab.format.units import format_seconds
from wirelab.records.group import STREAM_TIMES

Json = dict[str, Any]

TOGETHER = 1.05
"""Messages per read from which they are shown."""


def show_streams(streams: Json, say: Callable[[str], None]) -> None:
    """Prints counts, then times of all messages."""
    if not streams["messages"]:
        return
    say(
        f"  {format_count(streams['messages'], 'message')}, {streams['messages_per_s']:,.4g}/s, "
        f"{streams['bytes']:,} B"
    )
    if streams["with_token"] is not None:
        say(f"  {_tokens(streams)}")
    per_read = streams["messages_per_read"]
    if per_read is not None and per_read >= TOGETHER:
        say(f"  {per_read:,.3g} messages per read, at most {streams['read_messages_max']:,}")
    for name, text in (("empty", "had no message"), ("stopped", "were ended as requested")):
        if streams[name]:
            say(f"  {format_count(streams[name], 'stream')} {text}")
    for time in STREAM_TIMES:
        times = {name: ms for name, ms in streams[time.key].items() if name != "min"}
        if times:
            parts = [f"{name} {format_seconds(ms / 1e3)}" for name, ms in times.items()]
            say(f"  {time.title}: {', '.join(parts)}")


def _tokens(streams: Json) -> str:
    """An event may have several tokens, so that only the server knows their number."""
    chunks = f"{streams['with_token']:,} of them with tokens, {streams['chunks_per_s']:,.4g}/s"
    if not streams["counted"]:
        return f"{chunks}; the server counted no tokens"
    return f"{chunks}; {format_count(streams['tokens'], 'token')}, {streams['tokens_per_s']:,.4g}/s"
