"""A folder of captures, each with all that its truth is read from."""

from __future__ import annotations

import json
from bisect import bisect_right
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from bench.ground_truth.captures.capturing import CAPTURE, CASE, CLIENT_LOG, SERVER_LOG
from bench.ground_truth.captures.places import UNSTEADY
from bench.ground_truth.captures.recipes import CLEAN
from bench.ground_truth.labels import rules
from bench.ground_truth.labels.occurrence import (
    NS_PER_MS,
    THINK,
    Circumstances,
    Drop,
    Key,
    Occurrence,
)
from bench.ground_truth.labels.pauses import THINK_MS
from bench.ground_truth.syscalls import conversations, strace
from bench.ground_truth.syscalls.conversations import Connection, Conversation
from bench.ground_truth.syscalls.endpoints import Process

LABELS = "rules.json"

Json = dict[str, Any]


@dataclass(frozen=True)
class Case:
    """One capture and its truth."""

    folder: Path
    case: Json
    port: int
    """The service's."""
    occurrences: tuple[Occurrence, ...]
    exchanges: frozenset[Key]
    """Of which the truth is known; empty where calls were pipelined or multiplexed."""
    ports: frozenset[int]
    """The client's: other flows are none of its calls."""
    slow_ports: frozenset[int]
    """Where the server may have been slow, on connections whose exchanges are not known."""

    @property
    def name(self) -> str:
        return str(self.case["name"])

    @property
    def aim(self) -> str:
        return str(self.case["recipe"]["aim"])

    @property
    def is_clean(self) -> bool:
        return self.aim == CLEAN

    @property
    def is_serial(self) -> bool:
        return "in_flight=" not in self.case["recipe"]["stack"]

    @property
    def capture(self) -> Path:
        return self.folder / CAPTURE

    def is_open(self, cause: str, key: Key) -> bool:
        """Nothing is known of that cause on that connection."""
        return cause == THINK and key[0] in self.slow_ports

    def truth(self, cause: str) -> tuple[set[Key], set[Key]]:
        """The exchanges that have it, and those that may be called either way."""
        own = [one for one in self.occurrences if one.cause == cause]
        sure = {one.key for one in own if one.is_certain}
        return sure, {one.key for one in own} - sure


def keep(folder: Path, case: Json, dropped: list[Json]) -> None:
    """Writes what is known of a capture next to its system calls; this marks it as finished."""
    whole = {**case, "dropped": dropped}
    (folder / CASE).write_text(json.dumps(whole, indent=1) + "\n")


def cases(folder: Path) -> Iterator[Case]:
    """All finished captures of a folder, labelled again."""
    for path in sorted(folder.glob(f"*/{CASE}")):
        yield read(path.parent)


def read(folder: Path) -> Case:
    """Reads the system calls of a capture and states what happened; the labels are written
    next to them, for people."""
    case = json.loads((folder / CASE).read_text())
    stack = case["recipe"]["stack"]
    client, server = (Process.of(strace.read(folder / name)) for name in (CLIENT_LOG, SERVER_LOG))
    talk = conversations.put_together(
        client,
        server,
        is_http2="grpc@" in stack or "transport=http/2" in stack,
        is_serial="in_flight=" not in stack,
    )
    around = circumstances(case)
    found = rules.occurrences(talk, around)
    (folder / LABELS).write_text(_format_labels(found))
    return Case(
        folder,
        case,
        int(case["address"].rpartition(":")[2]),
        tuple(found),
        frozenset((one.port, each.ordinal) for one in talk.connections for each in one.exchanges),
        frozenset(one.port for one in talk.connections),
        frozenset(
            one.port
            for one in talk.connections
            if not one.exchanges and _may_have_thought(talk, one, around)
        ),
    )


def _may_have_thought(talk: Conversation, connection: Connection, around: Circumstances) -> bool:
    """For longer than the least think time the server did not wait after a receive, or
    something that was sent to it lay about, or the link kept it back."""
    least = int(THINK_MS.least_ms * NS_PER_MS)
    starts = [one.start for one in connection.client.sends]
    for receive in connection.server.receives:
        waits = talk.server.waiting.next_start(receive.ended)
        if waits is not None and waits - receive.ended > least:
            return True
        sent = connection.client.sends[bisect_right(starts, receive.end - 1) - 1]
        late = receive.ended - sent.ended - around.one_way_ns
        if around.is_steady and late > least:
            return True
    return False


def circumstances(case: Json) -> Circumstances:
    """What is known in addition to the system calls."""
    place = case["place"]
    drops = tuple(_drop(packet) for packet in case["dropped"] if packet["tcp"])
    is_steady = place["name"] not in UNSTEADY
    return Circumstances(place["rtt_ns"], place["segment_bytes"], drops, is_steady)


def _drop(packet: Json) -> Drop:
    """As the link's last line has it."""
    tcp, is_forward = packet["tcp"], packet["direction"] == "forward"
    return Drop(
        packet["at_unix_ns"],
        tcp["source_port" if is_forward else "destination_port"],
        is_forward,
        packet["match"] == "syn",
        tcp["data"],
    )


def _format_labels(found: list[Occurrence]) -> str:
    lines = ",\n ".join(json.dumps(one.to_json()) for one in found)
    return f"[{lines}]\n"


def bears(case: Case) -> bool:
    """The capture shows what it was made for; a clean one always does."""
    return case.is_clean or bool(case.truth(case.aim)[0])


def counts(found: list[Case]) -> Counter[str]:
    """Captures with at least one sure occurrence, by cause; and the clean ones."""
    counted: Counter[str] = Counter()
    for case in found:
        counted.update({one.cause for one in case.occurrences if one.is_certain})
        counted[CLEAN] += case.is_clean
    return counted
