"""The engine alone against a server: plan from options, and its run."""

from __future__ import annotations

import base64
import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import msgspec

from wirelab.documents.axes import Axes
from wirelab.documents.event import Outcome, Progress
from wirelab.documents.plan import Plan
from wirelab.drive.amount import Amount
from wirelab.drive.request import Request
from wirelab.drive.server_noise import ServerNoise
from wirelab.drive.stream import StreamSpec
from wirelab.errors import EngineRefused, LabError, StackError, TrialFailed, UsageError
from wirelab.experiment import placement
from wirelab.process import open_files, proxies
from wirelab.process.build_progress import OnBuild, ignore
from wirelab.process.children import ProcessOptions
from wirelab.process.databases import Stores
from wirelab.process.endpoint import Endpoint, ListenSpec
from wirelab.process.engine import Drive, RunObserver
from wirelab.process.interruption import Interruption
from wirelab.process.listeners import find_listeners
from wirelab.process.proxies import Place
from wirelab.process.scratch import Scratch
from wirelab.process.services import Programs, Service, Settings
from wirelab.stack import manifests, operations
from wirelab.stack import rules as legality
from wirelab.stack.axes import ENGINE
from wirelab.stack.link_names import LOOPBACK
from wirelab.stack.reference import Stack
from wirelab.stack.targets import Server, system_authorities

Json = dict[str, object]
OnProgress = Callable[[Progress], None] | None
"""None: nobody watches."""
Runner = Callable[[Plan, Sequence[int], Interruption, RunObserver], Outcome]
"""Executes a plan, on these cores where it can. Raises as :meth:`Drive.outcome` does."""
PROGRESS_MS = 1000
"""Between two lines of progress for somebody who watches."""


LINE = b"${line}"
"""A body that is the line of a file of messages, as the engine fills it in."""


@dataclass(frozen=True)
class Call:
    """What is called, beyond what the target says."""

    method: str | None = None
    headers: tuple[tuple[str, str], ...] = ()
    host: str = ""
    """``Host`` or ``:authority``; empty: that of the URL."""
    status: int | None = None
    """Status of a correct reply; None: any 2xx."""
    sni: str = ""
    """Name that TLS asks for and the certificate must have; empty: that of the URL."""
    body: bytes | None = None
    """Body of HTTP, or protobuf bytes of gRPC."""
    message: Any = None
    """gRPC request as proto3 JSON."""
    proto: Path | None = None
    message_type: str | None = None
    """The type of ``proto`` as which a body of HTTP, which is proto3 JSON, is sent."""
    imports: tuple[Path, ...] = ()
    http2: bool = False
    close: bool = False
    """One connection per call."""
    wait_settings: bool = False
    """Of HTTP/2: streams are opened only after the server's SETTINGS."""
    ca: Path | None = None
    """Certificates of authorities, PEM; None: the system's."""
    insecure: bool = False
    """Any certificate will do."""
    request: Request = field(default_factory=Request)
    """To services of the lab."""
    work: str | None = None
    stream: StreamSpec = field(default_factory=StreamSpec)
    """Where replies are streams of messages."""

    @property
    def content(self) -> bytes | None:
        """The body, also one that is made for a stream."""
        if self.stream.messages is not None:
            return LINE
        return self.body if self.stream.chat is None else self.stream.chat.body()


def drive_server(
    server: Server,
    call: Call,
    amount: Amount,
    *,
    any_target: bool,
    interruption: Interruption,
    on_progress: OnProgress,
    noise: ServerNoise | None = None,
    runner: Runner | None = None,
) -> Outcome:
    """Drives somebody's server; ``noise`` observes its processes; ``runner`` is by default one
    engine on this machine. Raises :class:`UsageError`,
    :class:`LabError`."""
    if not server.local and not any_target:
        raise UsageError(
            f"{server.authority} is not on this machine",
            "give --any-target if you may load that server",
        )
    stack = _describe_server(server, call, amount)
    group = {
        **amount.group(),
        "target": server.address,
        "authority": call.host or server.authority,
        "stack": stack,
        "workload": _make_grpc_workload(server, call)
        if server.kind == "grpc"
        else _make_http_workload(server, call),
        **_make_tls(server, call),
    }
    plan = {"threads": 1, "allow_any_target": any_target, "groups": [group]}
    noise = noise or ServerNoise()
    if server.local:
        noise.watch(find_listeners(server.address))
    return _run_plan(plan, (), interruption, on_progress, noise, runner)


def drive_stack(
    stack: Stack,
    call: Call,
    amount: Amount,
    *,
    interruption: Interruption,
    on_progress: OnProgress,
    faults: Json | None = None,
    postgres: str = "",
    ready_timeout_s: float | None = None,
    on_build: OnBuild = ignore,
    noise: ServerNoise | None = None,
    runner: Runner | None = None,
) -> Outcome:
    """Starts a service of the lab and drives it; ``postgres`` is the URL of a server that
    already runs, ``ready_timeout_s`` the time without progress in which the service must become
    ready, ``noise`` observes its processes. Raises as :func:`drive_server` does."""
    stack, request = _set_axes(stack, call, amount), call.request
    _refuse_stack(stack, request)
    _accept_files(stack.axes, amount)
    table = placement.choose("pinned")
    program = Programs(manifests.load(), on_build).program(stack, interruption, request.contract)
    settings = Settings(
        hello_bytes=request.hello_bytes,
        processors=table.processors(),
        collector=program.manifest.collector,
        faults=faults or {},
    )
    with Scratch() as scratch, Stores(interruption, postgres) as stores:
        listen = ListenSpec.of(stack, scratch)
        try:
            with (
                stores.open(stack, scratch.folder, cores=table.service) as store,
                Service(
                    program,
                    replace(settings, store=store.configuration()).configuration(
                        stack, request.contract, listen
                    ),
                    ProcessOptions(
                        log=scratch.folder / "service.log",
                        cores=table.service,
                        ready_timeout_s=ready_timeout_s,
                    ),
                    interruption=interruption,
                ) as service,
                proxies.start_proxy(
                    stack.axes,
                    service.endpoint(listen),
                    Place(scratch.folder, cores=table.proxy, connections=amount.concurrency()),
                    interruption,
                ) as (_, endpoint),
            ):
                plan = _make_stack_plan(stack, call, amount, table, endpoint)
                noise = noise or ServerNoise()
                noise.watch(service.pids())
                return _run_plan(plan, table.engine, interruption, on_progress, noise, runner)
        except TrialFailed as failure:
            raise LabError(failure.reason, "see the message of the service above") from failure


def _refuse_stack(stack: Stack, request: Request) -> None:
    """Raises :class:`StackError` for a stack that cannot be driven, or not with this request."""
    refusals = (operations.refusal(name, stack.axes) for name in request.called)
    if refusal := next(filter(None, refusals), ""):
        raise StackError(f"{stack}: {refusal}", "choose another --operation or stack")
    if stack.axes.caller != ENGINE:
        raise StackError(
            f"{stack}: `wirelab drive` is the engine and starts no other caller",
            f"leave caller out, or measure {stack.axes.caller} by `wirelab run`",
        )
    rule = legality.link_rule(LOOPBACK, stack.axes)
    if rule:
        raise StackError(f"{stack}: {rule.reason}", f"use {stack.find_nearest(rule.repair)}")


def _accept_files(axes: Axes, amount: Amount) -> None:
    """Raises :class:`UsageError` where the load has more connections than a service that the
    lab starts may open files."""
    needed = open_files.connections(axes, amount.concurrency())
    refused = open_files.refusal(needed)
    if refused:
        raise UsageError(refused, open_files.remedy(needed))


def _run_plan(
    plan: Json,
    cores: tuple[int, ...],
    interruption: Interruption,
    on_progress: OnProgress,
    noise: ServerNoise,
    runner: Runner | None,
) -> Outcome:
    if on_progress is not None:
        plan = {**plan, "progress_ms": PROGRESS_MS, "progress_times": True}

    def observe(progress: Progress) -> None:
        noise.progress(progress)
        if on_progress is not None:
            on_progress(progress)

    try:
        outcome = (runner or run_here)(
            msgspec.convert(plan, Plan), cores, interruption, RunObserver(observe, noise.tick)
        )
        noise.end()
        return outcome
    except EngineRefused as refused:
        raise UsageError(refused.message, refused.remedy) from refused
    except TrialFailed as failure:
        raise LabError(failure.reason, "is the machine short of files or memory?") from failure


def run_here(
    plan: Plan, cores: Sequence[int], interruption: Interruption, observer: RunObserver
) -> Outcome:
    """One engine on this machine: a :data:`Runner`."""
    with Scratch() as scratch:
        options = ProcessOptions(log=scratch.folder / "engine.log", cores=cores)
        return Drive(plan, options, interruption=interruption, observer=observer).outcome()


def _make_stack_plan(
    stack: Stack, call: Call, amount: Amount, table: placement.Table, endpoint: Endpoint
) -> Json:
    group = {
        **amount.group(),
        **endpoint.group(),
        "stack": stack.engine_stack(),
        **stack.login(),
        "workload": call.request.workload,
    }
    return {**table.thread_options(), "groups": [group]}


def _set_axes(stack: Stack, call: Call, amount: Amount) -> Stack:
    """The stack with the connection policy and the work that the options ask for."""
    changes: dict[str, str] = {}
    if amount.connections is not None:
        changes["connection"] = f"pool={amount.connections}"
    if call.close:
        changes["connection"] = "close"
    if amount.in_flight is not None and amount.in_flight > 1:
        axes = stack.axes
        is_numbered = axes.transport == "http/2" or axes.binding == "iiop"
        word = "multiplex" if is_numbered else "pipeline"
        changes["in_flight"] = f"{word}={amount.in_flight}"
    if call.work is not None:
        changes["work"] = call.work
    return stack.with_axes(changes)


def _make_tls(server: Server, call: Call) -> Json:
    """The part of the group that TLS needs. Raises :class:`UsageError`."""
    if server.secure_name is None:
        if call.ca is not None:
            raise UsageError("--ca needs TLS", "use https://, wss:// or grpcs://, or remove --ca")
        if call.sni:
            raise UsageError("--sni needs TLS", "use https://, wss:// or grpcs://, or remove --sni")
        if call.insecure:
            raise UsageError(
                "--insecure needs TLS", "use https:// or grpcs://, or remove --insecure"
            )
        return {}
    if call.insecure:
        return {"tls": {"insecure": True, "server_name": call.sni or server.secure_name}}
    ca = call.ca or system_authorities()
    if not ca:
        raise UsageError(
            "this system has no file of certificate authorities", "name one: --ca FILE"
        )
    return {"tls": {"ca": str(ca), "server_name": call.sni or server.secure_name}}


def _describe_server(server: Server, call: Call, amount: Amount) -> dict[str, str]:
    is_grpc = server.kind == "grpc"
    is_websocket = call.stream.format == "websocket"
    transport = "http/2" if is_grpc or call.http2 else "http/1.1"
    word = "multiplex" if transport == "http/2" else "pipeline"
    in_flight = amount.in_flight or 1
    return {
        "binding": "grpc" if is_grpc else "websocket" if is_websocket else "rest",
        "codec": "protobuf" if is_grpc else "json" if is_websocket else "text",
        "transport": transport,
        "connection": _choose_connection(call, amount),
        "in_flight": f"{word}={in_flight}" if in_flight > 1 else "1",
        "security": "none" if server.secure_name is None else "tls",
        "work": call.work or "decode",
        **({"client.h2_wait_settings": "on"} if call.wait_settings else {}),
        **({"compression": "permessage-deflate"} if call.stream.is_deflate_offered else {}),
    }


def _choose_connection(call: Call, amount: Amount) -> str:
    """As many as the users need, as with services of the lab, where only those were named."""
    if call.close:
        return "close"
    if amount.connections is None and amount.users is not None:
        return "keep"
    return f"pool={amount.connections or 1}"


def _make_http_workload(server: Server, call: Call) -> Json:
    if (call.proto or call.message is not None) and call.message_type is None:
        raise UsageError(
            "--proto without --message-type belongs to grpc:// and grpcs:// targets",
            "give the body with --body or --data, and --message-type to send it as Protobuf",
        )
    body, stream = call.content, call.stream
    if stream.format == "websocket" and body is None:
        raise UsageError(
            "a call over WebSocket needs its message", "give it with --data, --body or --messages"
        )
    workload: Json = {
        "kind": "http",
        "method": call.method or ("GET" if body is None else "POST"),
        "path": server.path,
        "headers": [list(header) for header in stream.headers(call.headers)],
        "body_base64": base64.b64encode(body or b"").decode(),
        **({"expect": {"status": call.status}} if call.status else {"count_replies": True}),
    }
    if call.message_type is not None:
        if body is None:
            raise UsageError(
                "--message-type needs the message", "give it as JSON with --data or --body"
            )
        workload["protobuf"] = {**_describe_proto(call), "name": call.message_type}
    if stream.format is not None:
        workload["stream"] = stream.workload(stream.format)
    if stream.messages is not None:
        rows = {"kind": "lines", "path": str(stream.messages.absolute())}
        workload["data"] = {"rows": rows}
    return workload


def _make_grpc_workload(server: Server, call: Call) -> Json:
    if call.status is not None:
        raise UsageError(
            "--expect-status belongs to http:// and https:// targets",
            "a correct reply of gRPC has status 0",
        )
    if call.method is not None:
        raise UsageError(
            "--method belongs to http:// and https:// targets", "gRPC's method is in the URL"
        )
    if call.body is None and call.message is None and call.proto is None:
        raise UsageError(
            "a gRPC call needs its message",
            "give it as --data JSON, with --proto FILE where the server does not describe itself, "
            "or as protobuf bytes with --body FILE",
        )
    workload: Json = {
        "kind": "grpc",
        "method": server.path,
        "metadata": [list(header) for header in call.headers],
        "count_replies": True,
    }
    if call.stream.is_given:
        workload["stream"] = call.stream.workload("grpc")
    if call.message_type is not None:
        raise UsageError(
            "--message-type belongs to http:// and https:// targets",
            "the method of gRPC has its type from --proto",
        )
    if call.proto is not None:
        workload |= _describe_proto(call)
    elif call.body is None:
        workload["reflect"] = True
    if call.body is not None:
        workload["body_base64"] = base64.b64encode(call.body).decode()
    else:
        workload["message"] = {} if call.message is None else call.message
    return workload


def _describe_proto(call: Call) -> Json:
    """Keys of the engine's plan for a .proto and its imports."""
    return {
        "proto": str(call.proto.resolve() if call.proto else ""),
        "include": [str(folder.resolve()) for folder in call.imports],
    }


def read_message(text: str) -> Any:
    """``--data`` of a gRPC call. Raises :class:`UsageError`."""
    try:
        return json.loads(text)
    except (ValueError, RecursionError) as error:
        deep = isinstance(error, RecursionError)
        raise UsageError(
            f"--data is not JSON: {'it is nested too deeply' if deep else error}",
            """write for example '{"id": 1}'""",
        ) from None
