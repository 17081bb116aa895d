"""Engine overhead: the CPU cost of a call in the engine itself.

The embedded Rust service of the stack serves as a null service: it has a core
of its own, and only the engine's CPU is read. Every stack also meets REST in JSON
at equal bytes: the side that moves fewer bytes per call gets a larger message.
"""

from __future__ import annotations

import json
from contextlib import ExitStack
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

from bench import engine
from bench.bounds import Bound, Ratio, Round
from bench.engine import Load
from bench.process import BenchError, run_on_core
from bench.races import CLIENT_CORE, SERVER_CORE, Contender, measure
from bench.servers import Running, run_service
from tools.stack_table import offers
from wirelab.process.services import Settings
from wirelab.stack import manifests
from wirelab.stack.reference import Stack

REST = "rest@rust"
UNTAXED = {
    "text": "without Submit",
    "cbor": "timed in memory by the row `codecs`",
    "msgpack": "timed in memory by the row `codecs`",
    "avro": "timed in memory by the row `codecs`",
}
"""Codecs and bindings without a row, with the reasons, which the page prints."""


def _row_name(stack: Stack) -> str:
    """Binding and codec, of which one is left out where the other implies it."""
    binding, codec = stack.axes.binding, stack.axes.codec
    if binding == "rest":
        return f"tax-rest-{codec}"
    is_default = stack.reference == f"{binding}@rust" and not codec.startswith(binding)
    return f"tax-{binding if is_default else codec}"


STACKS = {
    _row_name(offer.stack): offer.stack.reference
    for offer in offers(manifests.load())
    if offer.language == "rust" and not {offer.codec, offer.stack.axes.binding} & UNTAXED.keys()
    if "transfer" in offer.served.contracts
}
"""Every stack of the Rust service that has the contract transfer and a row, by the row's key."""
BOUND_BINDINGS = ("soap", "iiop", "raw")
"""Those that are promised to cost what REST costs at equal bytes."""
AT_LEAST, AT_MOST = 0.8, 1.2
SUBMIT_BYTES = 200
LOAD = Load(50)

FRAME, DECODE, SMALL = "Submit, frame", "Submit, decode", "CreditControl, decode"
EQUAL, REST_EQUAL = "equal bytes", "REST json, equal bytes"


@dataclass(frozen=True)
class Entrant:
    """A contender, and the service that it calls."""

    contender: Contender
    service: Running


@dataclass(frozen=True)
class Taxed:
    """Every reading of one stack's row, and the ratio to REST."""

    key: str
    stack: Stack
    rounds: list[Round]
    ratios: list[Ratio]


def run(key: str, pairs: int, seconds: float) -> Taxed:
    """`pairs` rounds, each with every contender once; every second round in reverse order.

    Raises:
        BenchError: a service did not start, a call failed, or the bytes cannot be made equal.
    """
    stack = Stack.parse(STACKS[key])
    with ExitStack() as running_now:
        field = _field(stack, running_now, {"duration_s": seconds})
        for entrant in field:
            measure(entrant.contender, entrant.service)
        rounds = [_round(field, number) for number in range(pairs)]
    found = _find_bound(stack).ratio(rounds)
    return Taxed(key, stack, rounds, [] if found is None else [found])


def _find_bound(stack: Stack) -> Bound:
    promised = stack.axes.binding in BOUND_BINDINGS
    return Bound(
        "cpu",
        EQUAL,
        (REST_EQUAL,),
        at_most=AT_MOST if promised else None,
        at_least=AT_LEAST if promised else None,
        aim=True,
    )


def _field(stack: Stack, started: ExitStack, window: dict[str, float]) -> list[Entrant]:
    """The stack's own contenders, and, unless it is REST in JSON itself, the two that
    meet at equal bytes."""
    start = partial(_start, started)
    submit = Exchange(stack, "transfer", "Submit", SUBMIT_BYTES)
    small = Exchange(stack, "charging", "CreditControl")
    own = start(submit)
    field = [
        _entrant(FRAME, submit, own, "frame", window),
        _entrant(DECODE, submit, own, "decode", window),
        _entrant(SMALL, small, start(small), "decode", window),
    ]
    rest = Exchange(Stack.parse(REST), "transfer", "Submit", SUBMIT_BYTES)
    if stack == rest.stack:
        return field
    beside = start(rest)
    target_bytes = max(
        measure_bytes(submit, own, CLIENT_CORE), measure_bytes(rest, beside, CLIENT_CORE)
    )
    for name, exchange, service in ((EQUAL, submit, own), (REST_EQUAL, rest, beside)):
        equal = of_as_many_bytes(exchange, target_bytes, service, CLIENT_CORE)
        field.append(_entrant(name, equal, service, "frame", window))
    return field


def _start(started: ExitStack, exchange: Exchange) -> Running:
    return started.enter_context(run_service(exchange, SERVER_CORE))


def _entrant(
    name: str, exchange: Exchange, service: Running, work: str, window: dict[str, float]
) -> Entrant:
    given = exchange.write_plan(service, LOAD, work, window, wait=engine.SPIN)
    return Entrant(Contender(name, engine.COMMAND, given, engine.count), service)


def _round(field: list[Entrant], number: int) -> Round:
    order = field if number % 2 == 0 else field[::-1]
    return {
        one.contender.name: measure(one.contender, one.service).subtract_spinning() for one in order
    }


PROBE_CALLS = 100
PROBES_MAX = 12
EQUAL_SHARE = 0.02
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

    def write_plan(
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


def measure_bytes(exchange: Exchange, service: Running, core: int) -> float:
    """Bytes sent and received per call, of a few calls on one connection.

    Raises:
        BenchError: the engine gave no result, or a call failed.
    """
    window = {"calls": {"calls": PROBE_CALLS, "max_s": 10.0}}
    given = exchange.write_plan(service, Load(1), "frame", window)
    group = engine.outcome(run_on_core(core, engine.COMMAND, given))
    if group["errors"] or not group["calls"]:
        raise BenchError(f"{exchange.stack} {exchange.operation}: {group['error_examples']}")
    return engine.bytes_per_call(group)


def of_as_many_bytes(
    exchange: Exchange, target_bytes: float, service: Running, core: int
) -> Exchange:
    """The same call with the size at which it moves `target_bytes` bytes.

    Raises:
        BenchError: no size does, within EQUAL_SHARE.
    """
    slope = 1.0
    for _ in range(PROBES_MAX):
        found = measure_bytes(exchange, service, core)
        if abs(found / target_bytes - 1) <= EQUAL_SHARE:
            return exchange
        size = max(round(exchange.bytes + (target_bytes - found) * slope), 1)
        further = replace(exchange, bytes=size)
        grown = measure_bytes(further, service, core) - found
        if grown:
            slope = (further.bytes - exchange.bytes) / grown
        exchange = further
    raise BenchError(
        f"{exchange.stack}: no size of {exchange.operation} moves {target_bytes:.0f} B"
    )
