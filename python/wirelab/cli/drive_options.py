"""The options of ``wirelab drive`` as a target, a call and an amount, and its run."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from math import isfinite
from pathlib import Path

from wirelab.cli.drive import ConnectionOptions, LoadOptions, MessageOptions
from wirelab.cli.error_handling import err
from wirelab.cli.output import drive as drive_output
from wirelab.documents.event import Outcome, Progress
from wirelab.drive.advice import hints
from wirelab.drive.session import (
    HELLO,
    Amount,
    Call,
    drive_server,
    drive_stack,
    read_message,
    summary,
)
from wirelab.errors import EXIT_FAILED, EXIT_INTERRUPTED, EXIT_OK, UnitError, UsageError
from wirelab.format.console import Line, StatusLine
from wirelab.format.counting import counted
from wirelab.format.units import parse_bytes, parse_seconds
from wirelab.process.interruption import Interruption
from wirelab.stack import operations, targets
from wirelab.stack.operations import OPERATIONS, SEQUENCES, Message
from wirelab.stack.reference import Stack
from wirelab.stack.targets import Server
from wirelab.trial.record import GroupResult


@dataclass(frozen=True)
class Options:
    """As they were given; None, empty and False where they were not."""

    target: str
    connection: ConnectionOptions
    load: LoadOptions
    message: MessageOptions

    def amount(self) -> Amount:
        """How many calls, how fast. Raises :class:`UsageError`."""
        load = self.load
        return Amount(
            connections=self.connection.connections,
            in_flight=self.connection.in_flight,
            users=load.users,
            rate=load.rate,
            poisson=load.poisson,
            seed=1 if load.seed is None else load.seed,
            duration_s=None if load.duration is None else _positive("--duration", load.duration),
            calls=load.calls,
            max_s=_positive("--max-time", load.max_time or "10min"),
            warmup_s=_seconds("--warmup", load.warmup),
            timeout_s=_positive("--timeout", load.timeout),
        )

    def call(self, target: Stack | Server) -> Call:
        """What is called. Raises :class:`UsageError`."""
        connection, message = self.connection, self.message
        data, is_grpc = message.data, _is_grpc(target)
        return Call(
            method=message.method,
            headers=tuple(map(_header, message.headers)),
            body=_body(data if not is_grpc else None, message.body),
            message=read_message(data) if data is not None and is_grpc else None,
            proto=_existing("--proto", message.proto),
            imports=tuple(message.imports),
            http2=connection.http2,
            close=connection.close,
            ca=_existing("--ca", connection.ca),
            request=_request(message.operation, message.sequence, message.size),
            work=_work(message.work),
        )


def run(options: Options, *, as_json: bool) -> int:
    """Returns the exit code. Raises :class:`WirelabError`."""
    _refuse_contradictions(options)
    target = targets.parse(options.target)
    _refuse_foreign(target, options)
    amount, call = options.amount(), options.call(target)
    with Interruption() as interruption:
        outcome = _drive(target, call, amount, options.connection, interruption)
    notes = hints(
        target,
        GroupResult.of(outcome.groups[0]),
        in_flight_max=amount.concurrency(),
        interrupted=outcome.interrupted,
        keeps=_keeps(target, call),
        authority=options.connection.ca,
    )
    result = {**summary(outcome, amount.timeout_s), "hints": notes}
    if as_json:
        print(json.dumps({"target": options.target, **result}, indent=1))
    else:
        drive_output.show(options.target, result)
    if outcome.interrupted:
        return EXIT_INTERRUPTED
    return EXIT_OK if result["ok"] else EXIT_FAILED


def _drive(
    target: Stack | Server,
    call: Call,
    amount: Amount,
    connection: ConnectionOptions,
    interruption: Interruption,
) -> Outcome:
    with StatusLine(err) as line:

        def show_progress(progress: Progress) -> None:
            calls = counted(progress.calls, "call")
            line.show(Line(f"{progress.phase}: {calls}, {progress.errors:,} failed"))

        if isinstance(target, Stack):
            return drive_stack(
                target,
                call,
                amount,
                interruption=interruption,
                on_progress=show_progress,
                postgres=connection.postgres,
            )
        return drive_server(
            target,
            call,
            amount,
            any_target=connection.any_target,
            interruption=interruption,
            on_progress=show_progress,
        )


def _refuse_contradictions(options: Options) -> None:
    connection, load, message = options.connection, options.load, options.message
    if load.duration is not None and load.calls is not None:
        raise UsageError("--duration and --calls contradict each other", "give one of them")
    _refuse_loads(load)
    if message.data is not None and message.body is not None:
        raise UsageError("--data and --body contradict each other", "give one of them")
    if connection.close and (connection.in_flight or 1) > 1:
        raise UsageError(
            f"--close ends a connection after its one call, so --in-flight {connection.in_flight} "
            "is not possible",
            "leave one of them out",
        )
    for option, has, other, has_other in (
        ("--seed", load.seed is not None, "--poisson", load.poisson),
        ("--max-time", load.max_time is not None, "--calls", load.calls is not None),
        ("--import", bool(message.imports), "--proto", message.proto is not None),
    ):
        if has and not has_other:
            remedy = f"give {other} too, or leave {option} out"
            raise UsageError(f"{option} belongs to {other}", remedy)


def _refuse_loads(load: LoadOptions) -> None:
    """Options of closed loads with those of open ones."""
    if load.rate is None and load.poisson:
        raise UsageError("--poisson needs --rate", "give --rate CALLS_PER_SECOND")
    if load.rate is not None and not (isfinite(load.rate) and load.rate > 0):
        raise UsageError(
            f"--rate {load.rate:g} is not a rate",
            "give calls per second, a number above 0 such as 500",
        )
    if load.rate is not None and load.users is not None:
        raise UsageError(
            "--users belongs to a closed load, --rate to an open one",
            "limit an open load by --connections and --in-flight",
        )


OF_URLS = {
    "method": "the contract says how its operations are called",
    "header": "the contract says what its calls carry",
    "data": "its message comes from its contract: use --operation and --size",
    "body": "its message comes from its contract: use --operation and --size",
    "proto": "its contract is known: use --operation",
    "http2": "write it as an axis, such as rest@rust?transport=http/2",
    "ca": "its certificate is made by the lab: write ?security=tls",
    "any-target": "the lab starts it on this machine",
}
"""Options that do not apply to a service of the lab, and why."""


def _refuse_foreign(target: Stack | Server, options: Options) -> None:
    """Options that could not be honoured are refused by name."""
    connection, message = options.connection, options.message
    of_urls = {
        "method": message.method,
        "header": message.headers,
        "data": message.data,
        "body": message.body,
        "proto": message.proto,
        "http2": connection.http2,
        "ca": connection.ca,
        "any-target": connection.any_target,
    }
    of_stacks = {
        "operation": message.operation,
        "sequence": message.sequence,
        "size": message.size,
    }
    if connection.postgres and not _is_on_postgres(target):
        raise UsageError(
            f"--postgres belongs to store=postgres, and {options.target} has another store",
            "write a stack such as rest@rust?store=postgres, or leave --postgres out",
        )
    for option in _present(of_urls) if isinstance(target, Stack) else ():
        raise UsageError(
            f"--{option} belongs to URLs, and {target} is a service of the lab", OF_URLS[option]
        )
    for option in _present(of_stacks) if isinstance(target, Server) else ():
        raise UsageError(
            f"--{option} belongs to services of the lab, such as rest@rust",
            "give --data or --body for what is sent to a URL",
        )


def _is_on_postgres(target: Stack | Server) -> bool:
    return isinstance(target, Stack) and target.axes["store"] == "postgres"


def _present(values: Mapping[str, object]) -> list[str]:
    """Those that were given; an empty text counts."""
    return [name for name, value in values.items() if value not in (None, False, ())]


def _seconds(option: str, text: str) -> float:
    try:
        return parse_seconds(text)
    except UnitError as error:
        raise UsageError(f"{option}: {error.message}") from None


def _positive(option: str, text: str) -> float:
    seconds = _seconds(option, text)
    if seconds <= 0:
        raise UsageError(f"{option} {text} is not above 0", "give a time such as 3s")
    return seconds


def _header(text: str) -> tuple[str, str]:
    name, colon, value = text.partition(":")
    if not colon or not name.strip():
        raise UsageError(f"--header {text!r} is not a header", "write 'Name: value'")
    return name.strip().lower(), value.strip()


def _request(operation: str | None, sequence: str | None, size: str | None) -> Message:
    """The request to a service of the lab. Raises :class:`UsageError`."""
    if operation is None and sequence is None:
        operation = HELLO.operation
    known = OPERATIONS.get(operation or "")
    if size is None and known and known.is_sized and known.size_default is None:
        size = f"{HELLO.bytes} B"
    request = Message(operation, sequence, 0 if size is None else _bytes("--size", size))
    problem = (
        (operation and operations.unknown("operation", operation, OPERATIONS))
        or (sequence and operations.unknown("sequence", sequence, SEQUENCES))
        or operations.problem(request, has_size=size is not None)
    )
    if problem:
        raise UsageError(problem, "see --operation, --sequence and --size")
    return request


def _bytes(option: str, text: str) -> int:
    try:
        return parse_bytes(text)
    except UnitError as error:
        raise UsageError(f"{option}: {error.message}") from None


def _is_grpc(target: Stack | Server) -> bool:
    return isinstance(target, Server) and target.kind == "grpc"


def _body(data: str | None, body: Path | None) -> bytes | None:
    if body is not None:
        try:
            return body.read_bytes()
        except OSError as error:
            raise UsageError(f"--body {body} cannot be read: {error.strerror}") from None
    return data.encode() if data is not None else None


def _existing(option: str, path: Path | None) -> Path | None:
    if path is not None and not path.is_file():
        raise UsageError(f"{option} {path} is not a file", "is the path right?")
    return path


def _work(work: str | None) -> str | None:
    if work not in (None, "decode", "frame"):
        raise UsageError(f"--work {work} is not possible", "give decode or frame")
    return work


def _keeps(target: Stack | Server, call: Call) -> bool:
    """Whether connections were to be kept."""
    if isinstance(target, Stack):
        return target.axes["connection"] != "close"
    return not call.close
