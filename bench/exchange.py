"""One call over one stack: the service that answers it and the plan that makes it."""

from __future__ import annotations

import json
from dataclasses import dataclass, replace
from typing import Any

from bench import engine
from bench.engine import Load
from bench.process import BenchError, run_on_core
from bench.servers import Running
from wirelab.process.services import Settings
from wirelab.stack.reference import Stack

PROBE_CALLS = 100
PROBES_MAX = 12
EQUAL = 0.02
"""How far apart two sizes may be that are called equal: half of what is promised, as
replies of a longer run differ a little."""


@dataclass(frozen=True)
class Exchange:
    """An operation called over a stack of the embedded service."""

    stack: Stack
    contract: str
    operation: str
    bytes: int = 0
    """Size of the operation's large part; 0 for those that have none."""

    def configuration(self) -> dict[str, Any]:
        """Of a service that answers it."""
        return Settings().configuration(self.stack, self.contract)

    def given(
        self,
        service: Running,
        load: Load,
        work: str,
        window: dict[str, Any],
        *,
        wait: str = engine.ADAPTIVE,
    ) -> str:
        """The engine's plan, one line of JSON; `wait` is how its threads wait."""
        stack = {**self.stack.engine_stack(), "work": work}
        workload = {
            "kind": "contract",
            "contract": self.contract,
            "operation": self.operation,
            "bytes": self.bytes,
        }
        where = {"target": service.address}
        if service.ior is not None:
            where["object"] = service.ior
        plan = engine.one_group(where, stack, workload, load, window)
        return json.dumps({**plan, "wait": wait}) + "\n"


def moved(exchange: Exchange, service: Running, core: int) -> float:
    """Bytes sent and received per call, of a few calls on one connection.

    Raises:
        BenchError: the engine gave no result, or a call failed.
    """
    window = {"calls": {"calls": PROBE_CALLS, "max_s": 10.0}}
    given = exchange.given(service, Load(1), "frame", window)
    group = engine.outcome(run_on_core(core, engine.COMMAND, given))
    if group["errors"] or not group["calls"]:
        raise BenchError(f"{exchange.stack} {exchange.operation}: {group['error_examples']}")
    return engine.bytes_per_call(group)


def of_as_many_bytes(exchange: Exchange, wanted: float, service: Running, core: int) -> Exchange:
    """The same call with the size at which it moves `wanted` bytes.

    Raises:
        BenchError: no size does, within EQUAL.
    """
    slope = 1.0
    for _ in range(PROBES_MAX):
        found = moved(exchange, service, core)
        if abs(found / wanted - 1) <= EQUAL:
            return exchange
        size = max(round(exchange.bytes + (wanted - found) * slope), 1)
        further = replace(exchange, bytes=size)
        grown = moved(further, service, core) - found
        if grown:
            slope = (further.bytes - exchange.bytes) / grown
        exchange = further
    raise BenchError(f"{exchange.stack}: no size of {exchange.operation} moves {wanted:.0f} B")
