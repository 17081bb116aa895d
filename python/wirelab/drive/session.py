"""The engine alone against a server: plan from options, result as one flat object."""

from __future__ import annotations

import base64
import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import msgspec

from wirelab.documents.event import Outcome, Progress, Sequences, Times
from wirelab.documents.plan import Plan
from wirelab.errors import EngineRefused, LabError, StackError, TrialFailed, UsageError
from wirelab.experiment import placement
from wirelab.process import open_files
from wirelab.process.children import ProcessOptions
from wirelab.process.databases import Stores
from wirelab.process.endpoint import Endpoint, ListenSpec
from wirelab.process.engine import Drive, RunObserver
from wirelab.process.interruption import Interruption
from wirelab.process.scratch import Scratch
from wirelab.process.services import Programs, Service, Settings
from wirelab.stack import manifests, operations
from wirelab.stack import rules as legality
from wirelab.stack.axes import ENGINE
from wirelab.stack.link_names import LOOPBACK
from wirelab.stack.operations import Message
from wirelab.stack.reference import Stack
from wirelab.stack.targets import Server

Json = dict[str, Any]
OnProgress = Callable[[Progress], None]

HELLO = Message(operation="Hello", bytes=14)
"""The default request to a service."""


@dataclass(frozen=True)
class Amount:
    """How many calls, how fast."""

    connections: int | None = None
    in_flight: int | None = None
    """Per connection."""
    users: int | None = None
    """Of a closed load; default: connections x in_flight."""
    rate: float | None = None
    """Calls per second; makes the load an open one."""
    poisson: bool = False
    seed: int = 1
    duration_s: float | None = None
    calls: int | None = None
    max_s: float = 600.0
    """Ends a number of calls anyway."""
    warmup_s: float = 0.0
    timeout_s: float = 10.0

    def concurrency(self) -> int:
        """Calls under way at most."""
        return self.users or (self.connections or 1) * (self.in_flight or 1)

    def load(self) -> Json:
        """The plan's ``load``."""
        if self.rate is None:
            return {"kind": "closed", "users": self.concurrency(), "think_s": 0.0}
        load: Json = {"rate": self.rate, "in_flight_max": self.concurrency()}
        if self.poisson:
            return {"kind": "poisson", **load, "seed": self.seed}
        return {"kind": "constant", **load}

    def window(self) -> Json:
        """The plan's ``window``."""
        if self.calls is not None:
            return {"calls": {"calls": self.calls, "max_s": self.max_s}}
        return {"duration_s": 3.0 if self.duration_s is None else self.duration_s}

    def group(self) -> Json:
        """The part of the plan's group that says when calls are made."""
        return {
            "name": "drive",
            "load": self.load(),
            "window": self.window(),
            "warmup": {"min_s": self.warmup_s, "max_s": self.warmup_s},
            "timeout_s": self.timeout_s,
            "drain_s": self.timeout_s,
        }


@dataclass(frozen=True)
class Call:
    """What is called, beyond what the target says."""

    method: str | None = None
    headers: tuple[tuple[str, str], ...] = ()
    body: bytes | None = None
    """Body of HTTP, or protobuf bytes of gRPC."""
    message: Any = None
    """gRPC request as proto3 JSON."""
    proto: Path | None = None
    imports: tuple[Path, ...] = ()
    http2: bool = False
    close: bool = False
    """One connection per call."""
    ca: Path | None = None
    """Certificates of authorities, PEM; None: the system's."""
    request: Message = HELLO
    """To services of the lab."""
    work: str | None = None


def drive_server(
    server: Server,
    call: Call,
    amount: Amount,
    *,
    any_target: bool,
    interruption: Interruption,
    on_progress: OnProgress,
) -> Outcome:
    """Drives somebody's server. Raises :class:`UsageError`, :class:`LabError`."""
    if not server.local and not any_target:
        raise UsageError(
            f"{server.authority} is not on this machine",
            "give --any-target if you may load that server",
        )
    stack = _server_stack(server, call, amount)
    _accept_files(stack, amount)
    group = {
        **amount.group(),
        "target": server.address,
        "authority": server.authority,
        "stack": stack,
        "workload": _grpc(server, call) if server.kind == "grpc" else _http(server, call),
        **_tls(server, call),
    }
    plan = {"threads": 1, "allow_any_target": any_target, "groups": [group]}
    return _run_plan(plan, (), interruption, on_progress)


def drive_stack(
    stack: Stack,
    call: Call,
    amount: Amount,
    *,
    interruption: Interruption,
    on_progress: OnProgress,
    faults: Json | None = None,
    postgres: str = "",
) -> Outcome:
    """Starts a service of the lab and drives it; ``postgres`` is the URL of a server that
    already runs. Raises as :func:`drive_server` does."""
    stack = _amounted(stack, call, amount)
    message = call.request
    refusal = operations.refusal(message.name, stack.axes)
    if refusal:
        raise StackError(f"{stack}: {refusal}", "choose another --operation or stack")
    if stack.axes["caller"] != ENGINE:
        raise StackError(
            f"{stack}: `wirelab drive` is the engine and starts no other caller",
            f"leave caller out, or measure {stack.axes['caller']} by `wirelab run`",
        )
    rule = legality.link_rule(LOOPBACK, stack.axes)
    if rule:
        raise StackError(f"{stack}: {rule.reason}", f"use {stack.near(rule.repair)}")
    _accept_files(stack.axes, amount)
    table = placement.choose("pinned")
    program = Programs(manifests.load()).program(stack, interruption, message.contract)
    settings = Settings(
        hello_bytes=message.bytes if message.name.startswith("Hello") else 14,
        processors=table.processors(),
        collector=program.manifest.collector,
        faults=faults or {},
    )
    with Scratch() as scratch, Stores(interruption, postgres) as stores:
        listen = ListenSpec.of(stack, scratch)
        try:
            with (
                stores.opened(stack, scratch.folder, cores=table.service) as store,
                Service(
                    program,
                    replace(settings, store=store.configuration()).configuration(
                        stack, message.contract, listen
                    ),
                    ProcessOptions(log=scratch.folder / "service.log", cores=table.service),
                    interruption=interruption,
                ) as service,
            ):
                plan = _stack_plan(stack, call, amount, table, service.contact(listen))
                return _run_plan(plan, table.engine, interruption, on_progress)
        except TrialFailed as failure:
            raise LabError(failure.reason, "see the message of the service above") from failure


def summary(outcome: Outcome, timeout_s: float) -> Json:
    """The outcome as one flat object; times in milliseconds, none where no call was answered.
    ``latency_ms`` is of all calls, failed ones with the time until they failed,
    ``latency_good_ms`` of good ones: the same where none failed."""
    group, process = outcome.groups[0], outcome.process
    cpu = process.cpu_user_s + process.cpu_system_s
    ended, spin_s = group.ended, process.spin_s
    answered = group.ok or group.errors_by_kind.get("application")
    return {
        "calls": group.calls,
        "ok": group.ok,
        "errors": group.errors,
        "ended_in_window": ended,
        "errors_by_kind": group.errors_by_kind,
        "error_examples": group.error_examples,
        "rate_per_s": group.rate_per_s,
        "rate_planned_per_s": group.rate_planned_per_s,
        "load": group.load,
        "window_s": group.window_s,
        "timeout_s": timeout_s,
        "latency_ms": _milliseconds(group.times.get("response")) if answered else {},
        "latency_good_ms": _milliseconds(
            group.times.get("response_good" if group.errors else "response")
        ),
        "service_time_ms": _milliseconds(group.times.get("service")) if group.ok else {},
        "schedule_lag_ms": _milliseconds(group.times.get("lag")) if group.ok else {},
        "sequences": _sequences(group.sequences),
        "client_cpu_s": cpu,
        "client_spin_s": spin_s,
        "client_cpu_us_per_call": max(0.0, cpu - spin_s) / ended * 1e6 if ended else None,
        "client_rss_max_bytes": process.rss_max_bytes,
        "concurrency": group.concurrency,
        "connections_opened": group.connections_opened,
        "connections_peak": group.connections_peak,
        "bytes_sent": group.bytes_sent,
        "bytes_received": group.bytes_received,
        "queue_max": group.queue_max,
        "interrupted": outcome.interrupted,
        "engine": {"version": outcome.engine, "profile": outcome.profile},
    }


def _accept_files(axes: Mapping[str, str], amount: Amount) -> None:
    """Raises :class:`UsageError` where the load has more connections than a process may
    open files."""
    wanted = open_files.connections(axes, amount.concurrency())
    refused = open_files.refusal(wanted)
    if refused:
        raise UsageError(refused, open_files.remedy(wanted))


def _sequences(sequences: Sequences | None) -> Json | None:
    if sequences is None:
        return None
    good = sequences.response_good if sequences.errors else sequences.response
    return {
        "count": sequences.count,
        "errors": sequences.errors,
        "latency_ms": _milliseconds(sequences.response),
        "latency_good_ms": _milliseconds(good),
    }


def _milliseconds(times: Times | None) -> dict[str, float]:
    if times is None or not times.count:
        return {}
    named = {
        "mean": times.mean_ns / 1e6,
        "min": times.min_ns / 1e6,
        "max": times.max_ns / 1e6,
    }
    return {**named, **{name: ns / 1e6 for name, ns in times.percentiles_ns.items()}}


def _run_plan(
    plan: Json, cores: tuple[int, ...], interruption: Interruption, on_progress: OnProgress
) -> Outcome:
    with Scratch() as scratch:
        log = scratch.folder / "engine.log"
        drive = Drive(
            msgspec.convert(plan, Plan),
            ProcessOptions(log=log, cores=cores),
            interruption=interruption,
            observer=RunObserver(on_progress=on_progress),
        )
        try:
            return drive.outcome()
        except EngineRefused as refused:
            raise UsageError(refused.message, refused.remedy) from refused
        except TrialFailed as failure:
            raise LabError(failure.reason, "is the machine short of files or memory?") from failure


def _stack_plan(
    stack: Stack, call: Call, amount: Amount, table: placement.Table, endpoint: Endpoint
) -> Json:
    group = {
        **amount.group(),
        **endpoint.group(),
        "stack": stack.engine_stack(),
        "workload": call.request.workload(),
    }
    return {**table.threading(), "groups": [group]}


def _amounted(stack: Stack, call: Call, amount: Amount) -> Stack:
    """The stack with the connection policy and the work that the options ask for."""
    changes: dict[str, str] = {}
    if amount.connections is not None:
        changes["connection"] = f"pool={amount.connections}"
    if call.close:
        changes["connection"] = "close"
    if amount.in_flight is not None and amount.in_flight > 1:
        axes = stack.axes
        is_numbered = axes["transport"] == "http/2" or axes["binding"] == "iiop"
        word = "multiplex" if is_numbered else "pipeline"
        changes["in_flight"] = f"{word}={amount.in_flight}"
    if call.work is not None:
        changes["work"] = call.work
    return stack.with_axes(changes)


def _tls(server: Server, call: Call) -> Json:
    """The part of the group that TLS needs. Raises :class:`UsageError`."""
    if server.secure_name is None:
        if call.ca is not None:
            raise UsageError("--ca belongs to TLS", "use https:// or grpcs://, or leave --ca out")
        return {}
    import ssl  # OpenSSL, which targets without TLS do not need

    ca = call.ca or ssl.get_default_verify_paths().cafile
    if ca is None:
        raise UsageError(
            "this system has no file of certificate authorities", "name one: --ca FILE"
        )
    return {"tls": {"ca": str(ca), "server_name": server.secure_name}}


def _server_stack(server: Server, call: Call, amount: Amount) -> dict[str, str]:
    is_grpc = server.kind == "grpc"
    transport = "http/2" if is_grpc or call.http2 else "http/1.1"
    word = "multiplex" if transport == "http/2" else "pipeline"
    in_flight = amount.in_flight or 1
    return {
        "binding": "grpc" if is_grpc else "rest",
        "codec": "protobuf" if is_grpc else "text",
        "transport": transport,
        "connection": _connection(call, amount),
        "in_flight": f"{word}={in_flight}" if in_flight > 1 else "1",
        "security": "none" if server.secure_name is None else "tls",
        "work": call.work or "decode",
    }


def _connection(call: Call, amount: Amount) -> str:
    """As many as the users need, as with services of the lab, where only those were named."""
    if call.close:
        return "close"
    if amount.connections is None and amount.users is not None:
        return "keep"
    return f"pool={amount.connections or 1}"


def _http(server: Server, call: Call) -> Json:
    if call.proto or call.message is not None:
        raise UsageError(
            "--proto belongs to grpc:// and grpcs:// targets", "give the body with --body or --data"
        )
    return {
        "kind": "http",
        "method": call.method or ("GET" if call.body is None else "POST"),
        "path": server.path,
        "headers": [list(header) for header in call.headers],
        "body_base64": base64.b64encode(call.body or b"").decode(),
    }


def _grpc(server: Server, call: Call) -> Json:
    if call.method is not None:
        raise UsageError(
            "--method belongs to http:// and https:// targets", "gRPC's method is in the URL"
        )
    if call.body is None and call.proto is None:
        raise UsageError(
            "a gRPC call needs its message",
            "give --proto FILE with --data JSON, or the protobuf bytes with --body FILE",
        )
    workload: Json = {
        "kind": "grpc",
        "method": server.path,
        "metadata": [list(header) for header in call.headers],
    }
    if call.proto is not None:
        workload["proto"] = str(call.proto.resolve())
        workload["include"] = [str(folder.resolve()) for folder in call.imports]
    if call.body is not None:
        workload["body_base64"] = base64.b64encode(call.body).decode()
    else:
        workload["message"] = {} if call.message is None else call.message
    return workload


def read_message(text: str) -> Any:
    """``--data`` of a gRPC call. Raises :class:`UsageError`."""
    try:
        return json.loads(text)
    except ValueError as error:
        raise UsageError(
            f"--data is not JSON: {error}", """write for example '{"id": 1}'"""
        ) from None
