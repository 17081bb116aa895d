"""The callers in Go and Java send what the engine sends, and get the replies that it gets: each
runs the same plans against a fresh service, through a relay that keeps requests and replies."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import msgspec
import pytest

from tests.interop.hosting import Host, Hosted, engine
from tests.interop.recording import (
    Exchange,
    GrpcRecorder,
    Recorder,
    digest,
    parse_giop,
    parse_http,
    read_envelope,
)
from wirelab.documents import to_json
from wirelab.documents.plan import Plan
from wirelab.process.callers import CallerPrograms
from wirelab.process.interruption import Interruption

Json = dict[str, Any]

CALLS = 5
"""Of each workload, or sequences."""
END_S_MAX = 120.0
"""Time limit of a plan."""


def operation(contract: str, name: str, size: int = 0) -> Json:
    """The workload of an operation."""
    return {"kind": "contract", "contract": contract, "operation": name, "bytes": size}


def function(name: str) -> Json:
    """The workload of a function of charging."""
    return {"kind": "sequence", "contract": "charging", "function": name}


FUNCTIONS = ("CreditControl", "DirectDebit", "Credit", "ReservationRelease", "ReservationDebit")
FOUND = {
    "kind": "steps",
    "contract": "records",
    "steps": [
        {"operation": "Allocate"},
        {"operation": "CountAllocations"},
        {
            "operation": "FindAllocation",
            "carry": [{"step": 0, "from": "teamDetails.groupId", "to": "groupId"}],
        },
    ],
}
WORKLOADS: dict[str, list[Json]] = {
    "transfer": [
        operation("transfer", "Hello", 14),
        operation("transfer", "HelloBytes", 14),
        operation("transfer", "Submit", 100),
        operation("transfer", "Submit", 5_000),
        operation("transfer", "Upload", 1_000),
    ],
    "charging": [
        *(operation("charging", name) for name in ("Credit", "DirectDebit", "Reserve")),
        operation("charging", "CreditControl"),
        *(function(name) for name in FUNCTIONS),
    ],
    "calendar": [
        operation("calendar", "Deploy"),
        operation("calendar", "Deploy", 5_000),
        operation("calendar", "Book"),
        operation("calendar", "Entries"),
    ],
    "records": [
        *(operation("records", name) for name in ("Allocate", "FindAllocation")),
        operation("records", "CountAllocations"),
        FOUND,
    ],
}


def run_plan(command: list[str], plan: Json) -> Json:
    """The result of the plan's group, whose calls all went well."""
    document = to_json(msgspec.convert(plan, Plan))
    ended = subprocess.run(
        command,
        input=json.dumps(document) + "\n",
        capture_output=True,
        text=True,
        timeout=END_S_MAX,
    )
    assert ended.returncode == 0, ended.stdout + ended.stderr
    group: Json = json.loads(ended.stdout.splitlines()[-1])["groups"][0]
    return group


def command_of(caller: str) -> list[str]:
    """The command of the engine or of a caller."""
    if caller == "engine":
        return [str(engine()), "drive"]
    return list(CallerPrograms().program(caller, Interruption()).command)


@contextmanager
def recorder_of(hosted: Hosted) -> Iterator[Recorder | GrpcRecorder]:
    """What keeps the calls of a service."""
    kind = GrpcRecorder if hosted.stack.axes.binding == "grpc" else Recorder
    with kind(hosted.address) as recorder:
        yield recorder


def move_reference(ior: str, old: str, new: str) -> str:
    """The reference of an object, with another port of the same host."""
    host, _, port = old.rpartition(":")
    moved = bytes.fromhex(ior.removeprefix("IOR:"))
    for order in ("big", "little"):
        was, then = (
            host.encode() + b"\0" + int(one).to_bytes(2, order)
            for one in (port, new.rpartition(":")[2])
        )
        moved = moved.replace(was, then)
    return f"IOR:{moved.hex()}"


def group_of(hosted: Hosted, address: str, workload: Json) -> Json:
    """The plan's group of one user."""
    axes = hosted.stack.axes
    reference = (
        {"object": move_reference(hosted.ior, hosted.address, address)}
        if axes.binding == "iiop"
        else {}
    )
    return {
        "name": "main",
        "target": address,
        **reference,
        "stack": hosted.stack.engine_stack(),
        "workload": workload,
        "load": {"kind": "closed", "users": 1},
        "window": {"calls": {"calls": CALLS, "max_s": 60.0}},
        "warmup": {"min_s": 0.0, "max_s": 0.0},
    }


def read_calls(hosted: Hosted, recorder: Recorder | GrpcRecorder) -> list[Exchange]:
    """The calls that were kept."""
    if isinstance(recorder, GrpcRecorder):
        return recorder.kept
    parsers = {
        "rest": parse_http(read_json),
        "soap": parse_http(read_envelope),
        "iiop": parse_giop,
    }
    return recorder.exchanges(parsers[hosted.stack.axes.binding])


def read_json(body: bytes) -> Any:
    """A message, with fields in the order of their names."""
    return json.loads(json.dumps(json.loads(body), sort_keys=True))


COUNTS = ("calls", "ok", "errors", "calls_whole_run")


def counts(group: Json) -> Json:
    """What must be the same for every caller."""
    sequences = group.get("sequences") or {}
    return {
        **{name: group[name] for name in COUNTS},
        "operations": [[each["operation"], each["calls"]] for each in group.get("operations", ())],
        "sequences": [sequences.get("count", 0), sequences.get("errors", 0)],
        "examples": group["error_examples"],
    }


def run_workloads(host: Host, stack: str, contract: str, caller: str) -> tuple[list[Json], str]:
    """Counts of every workload, and the digest of all calls, on a fresh service."""
    command = command_of(caller)
    with host.start(stack, contract) as hosted, recorder_of(hosted) as recorder:
        before = hosted.calls()
        found = [
            counts(run_plan(command, {"groups": [group_of(hosted, recorder.address, workload)]}))
            for workload in WORKLOADS[contract]
            # Axis names the items of arrays in its own way, so that the caller refuses it.
            if "soap-encoded" not in stack or workload.get("operation") != "Submit"
        ]
        assert hosted.calls() - before == sum(each["calls_whole_run"] for each in found)
        return found, digest(read_calls(hosted, recorder))


BY_GO = ("rest@{}", "grpc@{}")
BY_JAVA = (
    *BY_GO,
    "soap@{}",
    "soap@{}?codec=soap-rpc",
    "soap@{}?codec=soap-encoded",
    "iiop@{}?byte_order=big",
)
SERVED_NOT = {"go": ("soap-encoded", "iiop")}
"""By language, what its service does not serve."""
CELLS = [
    (caller, stack.format(language), contract)
    for caller, stacks in (("go", BY_GO), ("java", BY_JAVA))
    for language in ("rust", "go", "java")
    for stack in stacks
    if not any(lacking in stack for lacking in SERVED_NOT.get(language, ()))
    for contract in WORKLOADS
    if (language, contract) != ("java", "records") or "iiop" not in stack
]


@pytest.mark.parametrize(
    ("caller", "stack", "contract"), CELLS, ids=["-".join(cell) for cell in CELLS]
)
def test_calls_and_replies_are_those_of_the_engine(
    host: Host, caller: str, stack: str, contract: str
) -> None:
    """Counts of calls, operations and sequences, and a digest over all requests and replies."""
    ours = run_workloads(host, stack, contract, "engine")
    assert run_workloads(host, stack, contract, caller) == ours
    assert all(each["errors"] == 0 and each["ok"] == each["calls"] for each in ours[0])
