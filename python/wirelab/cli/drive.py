"""``wirelab drive``: the engine as a load generator."""

from __future__ import annotations

import ipaddress
import json
import re
import sys
from collections.abc import Mapping
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

import click

from wirelab.cli.error_handling import err, exit_with_code, out
from wirelab.cli.options.clients import ClientsOptions
from wirelab.cli.options.common import (
    GroupedCommand,
    accept_folder,
    option_group,
    values_by_option,
)
from wirelab.cli.options.drive import (
    ConnectionOptions,
    ContractOptions,
    LoadOptions,
    MessageOptions,
    Options,
    OutputOptions,
    PatternOptions,
    refuse_contradictions,
)
from wirelab.cli.options.stream import BYTES_MAX, StreamOptions
from wirelab.cli.options.thresholds import THRESHOLDS, DriveThresholdOptions
from wirelab.errors import UnitError, UsageError

if TYPE_CHECKING:
    from wirelab.drive.amount import Amount
    from wirelab.drive.measurement import Display, DriveSpec, MeasuredDrive
    from wirelab.drive.request import Request
    from wirelab.drive.session import Call
    from wirelab.drive.stream import Chat, StreamSpec
    from wirelab.secrets.known import KnownSecrets
    from wirelab.stack.reference import Stack
    from wirelab.stack.targets import Server

OF_URLS = {
    "expect-status": "the contract defines the replies",
    "method": "the contract defines how operations are called",
    "header": "the contract defines the headers of calls",
    "data": "the contract defines the message: use --operation and --size",
    "body": "the contract defines the message: use --operation and --size",
    "proto": "the contract is known: use --operation",
    "follow": "it never redirects",
    "cookies": "it sets no cookies",
    "http2": "write the axis, e.g. rest@rust?transport=http/2",
    "wait-settings": "write the axis, e.g. grpc@rust?client.h2_wait_settings=on",
    "ca": "wirelab creates its certificate: write ?security=tls",
    "insecure": "wirelab creates its certificate: write ?security=tls",
    "sni": "wirelab creates its certificate: write ?security=tls",
    "resolve": "wirelab starts it on this machine",
    "any-target": "wirelab starts it on this machine",
}
"""Options that do not apply to wirelab's own services, with the reason."""
OF_STACKS = {"ready-timeout": "leave it out: a server at a URL is running already"}
"""What to do about options that do not apply to URLs, if it is not about the content."""


@click.command(cls=GroupedCommand)
@click.argument(
    "target",
    metavar="REF|URL",
    help="http://host:port/path, ws://host:port/path or grpc://host:port/package.Service/Method "
    "(with TLS: https://, wss://, grpcs://), or a stack of wirelab such as rest@rust.",
)
@option_group("connection", ConnectionOptions, "Connection")
@option_group("load", LoadOptions, "Load")
@option_group("pattern", PatternOptions, "Load over time")
@option_group("message", MessageOptions, "Message to a URL")
@option_group("stream", StreamOptions, "Stream of messages from a URL")
@option_group("contract", ContractOptions, "Message to a service of wirelab")
@option_group("clients", ClientsOptions, "Several clients")
@option_group("thresholds", DriveThresholdOptions, THRESHOLDS)
@option_group("output", OutputOptions, "Output")
@exit_with_code
def drive(target: str, **groups: Any) -> int:
    """Load one server and report how fast it answers."""
    return run(Options(target, **groups))


def run(options: Options) -> int:
    """Returns the exit code. Raises :class:`WirelabError`."""
    from wirelab.cli.output import drive as output
    from wirelab.cli.output.thresholds import show_verdicts, write_junit

    made = measure(options, lambda: output.show_progress(tui=options.output.tui))
    if options.output.as_json:
        print(json.dumps(made.document(), indent=1))
    else:
        output.show(made.target, made.result)
        show_verdicts(made.judged, min(out.width, output.WIDTH))
    # Written after the result is printed, so that a full disk does not lose the result.
    if options.output.report is not None:
        output.write_report(made, options.output.report)
    write_junit(made.target, made.judged, options.thresholds.junit)
    return made.exit_code


def measure(options: Options, display: Display) -> MeasuredDrive:
    """Makes the calls. The result has no secrets of the options. Raises :class:`WirelabError`,
    also without them."""
    from wirelab.drive import measurement
    from wirelab.format.console import Ticker

    known = _find_secrets(options)
    with known.hide_in_errors():
        spec = read_spec(options)
        for line in _describe_size(options.contract.size, spec):
            err.print(line)
        made = measurement.measure(spec, display, Ticker(err).show)
    return replace(made, result=known.hide_json(made.result))


def _describe_size(given: str | None, spec: DriveSpec) -> tuple[str, ...]:
    """What a size that was given is in the codec of the stack."""
    from wirelab.contracts import message_sizes
    from wirelab.stack.reference import Stack

    called, target = spec.call.request.workload, spec.target
    if given is None or not isinstance(target, Stack) or called["kind"] != "contract":
        return ()
    size = called["bytes"]
    assert isinstance(size, int)
    return message_sizes.sentences(str(called["operation"]), size, [target.axes.codec], given)


def read_spec(options: Options) -> DriveSpec:
    """What the options name. Raises :class:`UsageError`."""
    from wirelab.drive.measurement import DriveSpec
    from wirelab.stack import targets

    if options.target.lower().startswith(("ws://", "wss://")):
        options = replace(options, stream=replace(options.stream, websocket=True))
    connection, message = options.connection, options.message
    refuse_contradictions(options)
    conditions = options.thresholds.conditions()
    if options.output.report is not None:
        accept_folder("--report", options.output.report)
    target = targets.parse(options.target, _resolve_address(options))
    _refuse_foreign(target, options)
    stream = read_stream(options)
    if isinstance(target, targets.Server):
        from wirelab.drive.stream import accept_server

        target = accept_server(target, stream)
    return DriveSpec(
        options.target,
        target,
        amount=read_amount(options),
        call=replace(read_call(options, target), stream=stream),
        conditions=conditions,
        follow=message.follow,
        cookies=message.cookies,
        any_target=connection.any_target,
        postgres=connection.postgres,
        ready_timeout_s=connection.ready_timeout_s,
        clients=options.clients.spec(),
    )


def _find_secrets(options: Options) -> KnownSecrets:
    """What the target, the headers and the content hold."""
    from wirelab.secrets import given

    message = options.message
    pairs = (header.partition(":") for header in message.headers)
    headers = [(name.strip(), value.strip()) for name, _, value in pairs]
    content = message.data or ""
    if str(message.body) == "-":
        content = _read_stdin().decode("utf-8", "replace")
    elif message.body is not None and message.body.is_file():
        content = message.body.read_bytes().decode("utf-8", "replace")
    return given.of_request(options.target, headers, content)


def read_amount(options: Options) -> Amount:
    """How many calls to make, and how fast. Raises :class:`UsageError`."""
    from wirelab.drive import load_values
    from wirelab.drive.amount import Amount, Spread

    load, pattern, connection = options.load, options.pattern, options.connection
    positive = load_values.positive
    start_rate = load_values.rate("--start-rate", pattern.start_rate or 0.0, zero=True)
    stages = load_values.stages("--stage", tuple(pattern.stages), start_rate)
    users = [int(stage.to) for stage in stages if not stage.of_rate]
    return Amount(
        connections=connection.connections,
        in_flight=connection.in_flight,
        users=max(users) if users else load.users,
        think=load_values.spread("--think", pattern.think) if pattern.think else Spread(0.0),
        calls_per_pause=pattern.calls_per_pause or 1,
        iterations=pattern.iterations,
        rate=None if load.rate is None else load_values.rate("--rate", load.rate),
        poisson=load.poisson,
        stages=stages,
        start_rate=start_rate,
        bursts=load_values.bursts(pattern.burst, pattern.gap or "", load.rate)
        if pattern.burst is not None
        else None,
        seed=options.seed,
        duration_s=None if load.duration is None else positive("--duration", load.duration),
        calls=load.calls,
        max_s=positive("--max-time", load.max_time or "10min"),
        warmup_s=load_values.seconds("--warmup", load.warmup),
        timeout_s=positive("--timeout", load.timeout),
        reconnect_delay_s=load_values.seconds("--reconnect-delay", connection.reconnect_delay),
        head_bytes=connection.head_bytes,
        head_fields=connection.head_fields,
        slowest=options.output.slowest or 0,
    )


def read_call(options: Options, target: Stack | Server) -> Call:
    """What to call. Raises :class:`UsageError`."""
    from wirelab.drive.session import Call, read_message
    from wirelab.stack.targets import Server

    connection, message = options.connection, options.message
    data, is_grpc = message.data, isinstance(target, Server) and target.kind == "grpc"
    headers = _read_headers(message, is_grpc=is_grpc)
    return Call(
        method=message.method,
        headers=tuple(pair for pair in headers if pair[0] != "host"),
        host=next((value for name, value in headers if name == "host"), ""),
        sni=connection.sni or "",
        status=message.expect_status,
        body=_read_body(data if not is_grpc else None, message.body),
        message=read_message(data) if data is not None and is_grpc else None,
        proto=_accept_file("--proto", message.proto),
        message_type=message.message_type,
        imports=tuple(message.imports),
        http2=connection.http2,
        close=connection.close,
        wait_settings=connection.wait_settings,
        ca=_accept_file("--ca", connection.ca),
        insecure=connection.insecure,
        request=_read_request(options.contract, target, options.seed),
        work=_accept_work(connection.work),
    )


def read_stream(options: Options) -> StreamSpec:
    """How replies that are streams are read. Raises :class:`UsageError`."""
    from wirelab.drive import load_values
    from wirelab.drive.stream import StreamSpec

    given, message = options.stream, options.message
    is_chat = given.openai and message.data is None and message.body is None
    stop_time = given.stop_time
    return StreamSpec(
        format=given.format,
        chat=_read_chat(given) if is_chat else None,
        messages=_accept_file("--messages", given.messages),
        expect_text=given.expect_text,
        expect_messages=given.expect_messages,
        stop_messages=given.stop_messages,
        stop_bytes=_read_size("--stop-bytes", given.stop_bytes),
        stop_s=None if stop_time is None else load_values.positive("--stop-time", stop_time),
        message_bytes_max=_read_size("--message-max", given.message_max, BYTES_MAX),
        is_deflate_offered=given.permessage_deflate,
    )


def _read_chat(given: StreamOptions) -> Chat:
    from wirelab.drive.stream import MODEL, PROMPT, Chat

    return Chat(
        model=MODEL if given.model is None else given.model,
        prompt=PROMPT if given.prompt is None else given.prompt,
        max_tokens=given.max_tokens,
    )


def _read_size(option: str, text: str | None, most: int = 2**63) -> int | None:
    from wirelab.format.units import parse_bytes

    if text is None:
        return None
    try:
        size = parse_bytes(text)
    except UnitError as error:
        raise UsageError(f"{option}: {error.message}") from None
    if not 1 <= size <= most:
        raise UsageError(f"{option} {text} is not a size of 1 B to {most:,} B", "correct the size")
    return size


def _refuse_foreign(target: Stack | Server, options: Options) -> None:
    """Refuses, by name, options that do not apply to the target."""
    from wirelab.secrets.finding import hide_target
    from wirelab.stack.reference import Stack

    is_stack = isinstance(target, Stack)
    connection, message, contract = options.connection, options.message, options.contract
    of_urls = {
        "expect-status": message.expect_status,
        "method": message.method,
        "header": message.headers,
        "data": message.data,
        "body": message.body,
        "proto": message.proto,
        "message-type": message.message_type,
        "follow": message.follow,
        "cookies": message.cookies,
        "http2": connection.http2,
        "wait-settings": connection.wait_settings,
        "ca": connection.ca,
        "insecure": connection.insecure,
        "sni": connection.sni,
        "resolve": connection.resolve,
        "any-target": connection.any_target,
    }
    of_stacks = {
        "operation": contract.operation,
        "sequence": contract.sequence,
        "size": contract.size,
        "items": contract.items,
        "item-gap": contract.item_gap,
        "item-pattern": contract.item_pattern,
        "mix": contract.mix,
        "step": contract.steps,
        "data-file": contract.data_file,
        "data-random": contract.data_random,
        "ready-timeout": connection.ready_timeout_s,
    }
    has_postgres = isinstance(target, Stack) and target.axes.store == "postgres"
    if connection.postgres and not has_postgres:
        raise UsageError(
            f"--postgres needs store=postgres, but {hide_target(options.target)} has another store",
            "use a stack such as rest@rust?store=postgres, or leave --postgres out",
        )
    for option in _find_given(values_by_option(options.stream)) if is_stack else ():
        raise UsageError(
            f"{option} applies to URLs only, and {target} is a service of wirelab",
            "use a URL, or leave the options about streams out",
        )
    for option in _find_given(of_urls) if is_stack else ():
        raise UsageError(
            f"--{option} applies to URLs only, and {target} is a service of wirelab",
            OF_URLS[option],
        )
    for option in () if is_stack else _find_given(of_stacks):
        raise UsageError(
            f"--{option} applies only to services of wirelab, such as rest@rust",
            OF_STACKS.get(option, "use --data or --body to send content to a URL"),
        )


def _resolve_address(options: Options) -> str:
    """IP address of the target by ``--resolve``; empty without it. Raises :class:`UsageError`."""
    from wirelab.stack import targets

    given = options.connection.resolve
    if given is None or "://" not in options.target:
        return ""
    if options.message.follow or options.message.cookies:
        raise UsageError("--resolve excludes --follow and --cookies", "name the final URL")
    found = re.fullmatch(r"([^:]+):(\d+):\[?([0-9A-Fa-f.:]+)\]?", given)
    try:
        url = urlsplit(options.target)
        named = (url.hostname, url.port or targets.PORTS.get(url.scheme))
        address = str(ipaddress.ip_address(found[3])) if found else ""
    except ValueError as error:
        raise UsageError(f"--resolve {given}: {error}", "write HOST:PORT:ADDRESS") from None
    if found is None or (found[1].lower(), int(found[2])) != named:
        raise UsageError(
            f"--resolve {given} does not name the host and port of the URL",
            "write HOST:PORT:ADDRESS, e.g. api.test:80:127.0.0.1",
        )
    return address


def _find_given(values: Mapping[str, object]) -> list[str]:
    """Names of the options that were given; an empty text counts as given."""
    return [name for name, value in values.items() if value not in (None, False, ())]


def _read_headers(message: MessageOptions, *, is_grpc: bool) -> tuple[tuple[str, str], ...]:
    """The given headers, plus a content-type if ``--data`` is JSON or the body is Protobuf."""
    from wirelab.format import media_types

    headers = tuple(map(_read_header, message.headers))
    if is_grpc or any(name == "content-type" for name, _ in headers):
        return headers
    if message.message_type is not None:
        return (*headers, ("content-type", media_types.PROTOBUF))
    if message.data is None:
        return headers
    try:
        json.loads(message.data)
    except (ValueError, RecursionError):
        return headers
    return (*headers, ("content-type", media_types.JSON))


def _read_header(text: str) -> tuple[str, str]:
    from wirelab.secrets.finding import hide_target

    name, colon, value = text.partition(":")
    if not colon or not name.strip():
        raise UsageError(
            f"--header {hide_target(text)!r} is not a header", "write it as 'Name: value'"
        )
    return name.strip().lower(), value.strip()


def _read_request(contract: ContractOptions, target: Stack | Server, seed: int) -> Request:
    """The request to one of wirelab's services. Raises :class:`UsageError`."""
    from wirelab.drive import request
    from wirelab.stack.operations import FEED, STREAM_BINDINGS
    from wirelab.stack.reference import Stack

    data = request.Data(
        _accept_file("--data-file", contract.data_file),
        tuple(contract.data_random),
        contract.data_rows,
        contract.data_per,
    ).describe()
    if contract.mix:
        return request.mix(contract.mix, seed)
    if contract.steps:
        return request.steps(contract.steps, data, seed)
    operation = contract.operation
    if operation is None and isinstance(target, Stack) and target.axes.binding in STREAM_BINDINGS:
        operation = FEED
    items = request.items(contract.items, contract.item_gap, contract.item_pattern)
    message = request.single(operation, contract.sequence, contract.size, items)
    return request.with_data(message, data, seed) if data else request.Request.of(message)


def _read_body(data: str | None, body: Path | None) -> bytes | None:
    if body is not None:
        try:
            return _read_stdin() if str(body) == "-" else body.read_bytes()
        except OSError as error:
            raise UsageError(f"--body {body} cannot be read: {error.strerror}") from None
    return data.encode() if data is not None else None


@cache
def _read_stdin() -> bytes:
    """Standard input, which can be read once."""
    return sys.stdin.buffer.read()


def _accept_file(option: str, path: Path | None) -> Path | None:
    if path is not None and not path.is_file():
        raise UsageError(f"{option} {path} is not a file", "check the path")
    return path


def _accept_work(work: str | None) -> str | None:
    if work not in (None, "decode", "frame"):
        raise UsageError(f"--work {work} is unknown", "give decode or frame")
    return work
