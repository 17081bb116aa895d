"""Streams of messages: what the engine holds per open stream, and what a message costs it next to
h2load, which reads the same bytes and looks for no message in them."""

from __future__ import annotations

import base64
import json
import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from bench import engine, peers
from bench.bounds import Ratio, Round
from bench.engine import Load
from bench.process import BenchError, Reading, run_on_core
from bench.races import CLIENT_CORE, SERVER_CORE, Contender, measure, turns
from bench.rows.memory import Held
from bench.servers import Running, run_service

FEW, MANY = COUNTS = 50, 10_000
BINDINGS = ("sse", "websocket")
BYTES_PER_STREAM_MAX = 2_000
"""Without TLS, with messages that are rare."""
ITEMS = 2_000
"""Of a stream that is read at once."""
AT_ONCE = {"count": ITEMS, "bytes": 64, "gap_us": 0, "pattern": "constant", "seed": 1}
OURS, H2LOAD = "ours", "h2load"
PATH = "/stream/feed"


@dataclass(frozen=True)
class FeedService:
    """The contract stream in JSON over HTTP/1.1."""

    binding: str

    def configuration(self) -> dict[str, Any]:
        """The process contract's configuration (docs/reference/process.md)."""
        return {
            "contract": "stream",
            "stack": {
                "binding": self.binding,
                "codec": "json",
                "compression": "none",
                "transport": "http/1.1",
                "security": "none",
            },
            "listen": "127.0.0.1:0",
            "metrics_listen": "127.0.0.1:0",
            "socket": {"nagle": False, "writes": "joined"},
            "processors": 1,
        }


@dataclass(frozen=True)
class Streamed:
    """The runs for memory, the rounds for CPU, and the figures that follow from them."""

    held: list[Held]
    rounds: list[Round]
    figures: list[Ratio]


def run(pairs: int, rounds: int, programs: dict[str, str]) -> Streamed:
    """Takes both figures; that of CPU only where h2load is installed.

    Raises:
        BenchError: a stream failed, or not all were open at one time.
    """
    held = [_hold(binding, count) for binding in BINDINGS for _ in range(pairs) for count in COUNTS]
    h2load = programs.get(H2LOAD)
    taken = [] if h2load is None else _race(rounds, h2load)
    figures = [_weigh(binding, held) for binding in BINDINGS]
    if taken:
        costs = tuple(ns_per_message(one[OURS]) / ns_per_message(one[H2LOAD]) for one in taken)
        figures.append(Ratio("CPU per message", H2LOAD, costs, at_most=1.0, aim=True))
    return Streamed(held, taken, figures)


def _weigh(binding: str, held: list[Held]) -> Ratio:
    runs = [run for run in held if run.what.startswith(binding)]
    each = tuple(
        (more.rss_peak_bytes - less.rss_peak_bytes) / (MANY - FEW)
        for less, more in zip(runs[::2], runs[1::2], strict=True)
    )
    name = f"B per open stream of {binding}"
    return Ratio(name, f"{MANY:,} less {FEW}", each, at_most=BYTES_PER_STREAM_MAX)


def ns_per_message(reading: Reading) -> float:
    """CPU of the client, start and end of its process included."""
    return reading.client_us_per_call / ITEMS * 1e3


def _hold(binding: str, count: int) -> Held:
    """Every stream is open for six seconds, and has a message every two."""
    with run_service(FeedService(binding), SERVER_CORE) as service:
        return _hold_on(service, binding, count)


def _hold_on(service: Running, binding: str, count: int) -> Held:
    items = {"count": 4, "gap_us": 2_000_000, "pattern": "constant"}
    workload = {"kind": "contract", "contract": "stream", "operation": "Feed", "bytes": 64}
    window = {"calls": {"calls": count, "max_s": 60}}
    plan = _plan(service, {**workload, "items": items}, binding, Load(count), window)
    finished = run_on_core(CLIENT_CORE, engine.COMMAND, plan, memory=True)
    outcome = engine.outcome(finished)
    if outcome["errors"] or outcome["connections_peak"] != count:
        raise BenchError(
            f"{count} streams of {binding}: {outcome['connections_peak']} were open, "
            f"{outcome['errors']} failed: {outcome['error_examples'][:1]}"
        )
    return Held(
        f"{binding}, {count} streams",
        finished.command,
        count,
        outcome["calls_whole_run"],
        outcome["errors"],
        finished.rss_peak_bytes,
    )


def _plan(
    service: Running, workload: dict[str, Any], binding: str, load: Load, window: dict[str, Any]
) -> str:
    stack = {
        "binding": binding,
        "codec": "json",
        "transport": "http/1.1",
        "connection": f"pool={load.connections}",
        "work": "frame",
    }
    plan = engine.one_group({"target": service.address}, stack, workload, load, window)
    plan["groups"][0]["timeout_s"] = 60.0
    return json.dumps(plan) + "\n"


def _race(rounds: int, h2load: str) -> list[Round]:
    """One connection, stream after stream, as fast as they come."""
    body = json.dumps(AT_ONCE).encode()
    with (
        run_service(FeedService("sse"), SERVER_CORE) as service,
        tempfile.NamedTemporaryFile() as file,
    ):
        file.write(body)
        file.flush()
        field = [_ours(service, body), _h2load(service, h2load, Path(file.name))]
        taken = []
        for number in range(rounds):
            readings = {place: measure(field[place], service) for place in turns(2, number)}
            taken.append({one.name: readings[place] for place, one in enumerate(field)})
    return taken


def _ours(service: Running, body: bytes) -> Contender:
    """As to anybody's server: events are found and counted, and nothing is known of them."""

    workload = {
        "kind": "http",
        "method": "POST",
        "path": PATH,
        "headers": [["content-type", "application/json"], ["accept", "text/event-stream"]],
        "body_base64": base64.b64encode(body).decode(),
        "stream": {"format": "sse", "expect_messages": ITEMS},
    }
    plan = _plan(service, workload, "rest", Load(1), {"duration_s": 1.0})
    return Contender(OURS, engine.COMMAND, plan, engine.count)


def _h2load(service: Running, program: str, body: Path) -> Contender:
    command = (
        *(program, "--h1", "-c", "1", "-D", "1", "-d", str(body)),
        *("-H", "content-type: application/json", "-H", "accept: text/event-stream"),
        f"http://{service.address}{PATH}",
    )
    return Contender(H2LOAD, command, "", peers.h2load_count)
