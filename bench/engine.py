"""The engine as a contender: its plan and its answer."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Any

from bench.process import BenchError, Count, Finished
from bench.servers import ENGINE, Service

COMMAND = (str(ENGINE), "drive")

ADAPTIVE = "adaptive"
"""The engine has its core to itself."""
SPIN = "spin"


@dataclass(frozen=True)
class Load:
    """A closed load: connections, and calls in flight on each."""

    connections: int
    in_flight: int = 1


def plan(
    service: Service, address: str, load: Load, work: str, window: dict[str, Any]
) -> dict[str, Any]:
    """Hello of one of the bench's own services."""
    stack = {
        "binding": service.binding,
        "codec": service.codec,
        "transport": service.transport,
        "connection": f"pool={load.connections}",
        "in_flight": calls_in_flight(service.binding, load.in_flight),
        "work": work,
    }
    workload = {
        "kind": "contract",
        "contract": "transfer",
        "operation": "Hello",
        "bytes": service.hello_bytes,
    }
    return one_group({"target": address}, stack, workload, load, window)


def calls_in_flight(binding: str, calls: int) -> str:
    """The value of the axis for that many calls under way on a connection."""
    if calls == 1:
        return "1"
    return f"{'multiplex' if binding in ('grpc', 'iiop') else 'pipeline'}={calls}"


def one_group(
    where: dict[str, str],
    stack: dict[str, Any],
    workload: dict[str, Any],
    load: Load,
    window: dict[str, Any],
) -> dict[str, Any]:
    """One group without a warm-up, so that the whole process is what is measured.

    `where` holds the group's `target`, and its `object` where the binding has one.
    """
    group = {
        "name": "bench",
        **where,
        "stack": stack,
        "workload": workload,
        "load": {"kind": "closed", "users": load.connections * load.in_flight},
        "window": window,
        "warmup": {"min_s": 0.0, "max_s": 0.0},
    }
    return {"threads": 1, "wait": ADAPTIVE, "progress_ms": 0, "groups": [group]}


def write_plan(
    service: Service, address: str, load: Load, work: str, window: dict[str, Any]
) -> str:
    """The plan as the engine reads it: one line of JSON."""
    return json.dumps(plan(service, address, load, work, window)) + "\n"


def outcome(finished: Finished) -> dict[str, Any]:
    """The group's result.

    Raises:
        BenchError: the engine gave none.
    """
    group: dict[str, Any] = result(finished)["groups"][0]
    return group


def result(finished: Finished) -> dict[str, Any]:
    """The engine's last line: the process and its groups.

    Raises:
        BenchError: the line is not a result.
    """
    lines = finished.output.splitlines()
    last: dict[str, Any] = json.loads(lines[-1]) if lines else {}
    if finished.exit_code != 0 or last.get("event") != "result":
        said = last.get("message") or finished.errors.strip() or "nothing"
        raise BenchError(f"wirelab-engine drive ended with {finished.exit_code}: {said}")
    return last


def count(finished: Finished) -> Count:
    """What the engine counted in the whole run, as the CPU is the whole run's."""
    last = result(finished)
    group, spin_s = last["groups"][0], last["process"]["spin_s"]
    ended = group["calls_whole_run"] - group["errors"]
    p50_us = group["times"]["response"]["percentiles_ns"]["p50"] / 1e3 if ended else None
    rate, moved = group["rate_per_s"], bytes_per_call(group)
    return Count(ended, group["errors"], rate, moved, p50_us, spin_s)


def bytes_per_call(group: dict[str, Any]) -> float:
    """Bytes that the sockets took and gave in the window, per call that ended in it."""
    moved: int = group["bytes_sent"] + group["bytes_received"]
    return moved / group["ended"] if group["ended"] else 0.0
