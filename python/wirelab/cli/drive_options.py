"""What the options of ``wirelab drive`` ask for: a target, a call, an amount."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import isfinite
from pathlib import Path
from typing import Any

from wirelab.cli import drive_output as driven
from wirelab.cli.error_handling import err
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
from wirelab.stack import message, targets
from wirelab.stack.message import Message
from wirelab.stack.operations import OPERATIONS, SEQUENCES
from wirelab.stack.reference import Stack
from wirelab.stack.targets import Server

Json = dict[str, Any]


@dataclass(frozen=True)
class Options:
    """As they were given; None, empty and False where they were not."""

    target: str
    connections: int | None
    in_flight: int | None
    users: int | None
    duration: str | None
    calls: int | None
    rate: float | None
    poisson: bool
    seed: int | None
    warmup: str
    timeout: str
    max_time: str | None
    method: str | None
    headers: Sequence[str]
    data: str | None
    body: Path | None
    proto: Path | None
    imports: Sequence[Path]
    http2: bool
    close: bool
    ca: Path | None
    operation: str | None
    sequence: str | None
    size: str | None
    work: str | None
    any_target: bool
    as_json: bool

    def amount(self) -> Amount:
        """How many calls, how fast. Raises :class:`UsageError`."""
        return Amount(
            connections=self.connections,
            in_flight=self.in_flight,
            users=self.users,
            rate=self.rate,
            poisson=self.poisson,
            seed=1 if self.seed is None else self.seed,
            duration_s=None if self.duration is None else _positive("--duration", self.duration),
            calls=self.calls,
            max_s=_positive("--max-time", self.max_time or "10min"),
            warmup_s=_seconds("--warmup", self.warmup),
            timeout_s=_positive("--timeout", self.timeout),
        )

    def call(self, target: Stack | Server) -> Call:
        """What is called. Raises :class:`UsageError`."""
        data, is_grpc = self.data, _is_grpc(target)
        return Call(
            method=self.method,
            headers=tuple(map(_header, self.headers)),
            body=_body(data if not is_grpc else None, self.body),
            message=read_message(data) if data is not None and is_grpc else None,
            proto=_existing("--proto", self.proto),
            imports=tuple(self.imports),
            http2=self.http2,
            close=self.close,
            ca=_existing("--ca", self.ca),
            asked=_asked(self.operation, self.sequence, self.size),
            work=_work(self.work),
        )


def run(options: Options) -> int:
    """Returns the exit code. Raises :class:`WirelabError`."""
    _refuse_contradictions(options)
    target = targets.parse(options.target)
    _refuse_foreign(target, options)
    amount, call = options.amount(), options.call(target)
    with Interruption() as interruption:
        outcome = _drive(target, call, amount, options.any_target, interruption)
    told = hints(
        target,
        outcome,
        in_flight_max=amount.concurrency(),
        keeps=_keeps(target, call),
        authority=options.ca,
    )
    result = {**summary(outcome, amount.timeout_s), "hints": told}
    if options.as_json:
        print(json.dumps({"target": options.target, **result}, indent=1))
    else:
        driven.show(options.target, result)
    if outcome["interrupted"]:
        return EXIT_INTERRUPTED
    return EXIT_OK if result["ok"] else EXIT_FAILED


def _drive(
    target: Stack | Server,
    call: Call,
    amount: Amount,
    any_target: bool,
    interruption: Interruption,
) -> Json:
    with StatusLine(err) as line:

        def heard(event: Json) -> None:
            calls = counted(event["calls"], "call")
            line.show(Line(f"{event['phase']}: {calls}, {event['errors']:,} failed"))

        if isinstance(target, Stack):
            return drive_stack(target, call, amount, interruption=interruption, on_progress=heard)
        return drive_server(
            target,
            call,
            amount,
            any_target=any_target,
            interruption=interruption,
            on_progress=heard,
        )


def _refuse_contradictions(options: Options) -> None:
    if options.duration is not None and options.calls is not None:
        raise UsageError("--duration and --calls contradict each other", "give one of them")
    _refuse_loads(options)
    if options.data is not None and options.body is not None:
        raise UsageError("--data and --body contradict each other", "give one of them")
    if options.close and (options.in_flight or 1) > 1:
        raise UsageError(
            f"--close ends a connection after its one call: --in-flight {options.in_flight} cannot "
            "be",
            "leave one of them out",
        )
    for option, has, other, has_other in (
        ("--seed", options.seed is not None, "--poisson", options.poisson),
        ("--max-time", options.max_time is not None, "--calls", options.calls is not None),
        ("--import", bool(options.imports), "--proto", options.proto is not None),
    ):
        if has and not has_other:
            remedy = f"give {other} too, or leave {option} out"
            raise UsageError(f"{option} belongs to {other}", remedy)


def _refuse_loads(options: Options) -> None:
    """What is of closed and of open loads."""
    rate = options.rate
    if rate is None and options.poisson:
        raise UsageError("--poisson needs --rate", "give --rate CALLS_PER_SECOND")
    if rate is not None and not (isfinite(rate) and rate > 0):
        raise UsageError(
            f"--rate {rate:g} is no rate", "give calls per second, a number above 0 such as 500"
        )
    if rate is not None and options.users is not None:
        raise UsageError(
            "--users is of a closed load, --rate of an open one",
            "bound an open load by --connections and --in-flight",
        )


OF_URLS = {
    "method": "the contract says how its operations are called",
    "header": "the contract says what its calls carry",
    "data": "its message comes from its contract: use --operation and --size",
    "body": "its message comes from its contract: use --operation and --size",
    "proto": "its contract is known: use --operation",
    "http2": "write it as an axis, such as rest@rust?transport=http/2",
    "ca": "it shows a certificate that the lab makes: write ?security=tls",
    "any-target": "the lab starts it on this machine",
}
"""Options that say nothing of a service of the lab, and why."""


def _refuse_foreign(target: Stack | Server, options: Options) -> None:
    """Options that could not be honoured are refused by name."""
    of_urls = {
        "method": options.method,
        "header": options.headers,
        "data": options.data,
        "body": options.body,
        "proto": options.proto,
        "http2": options.http2,
        "ca": options.ca,
        "any-target": options.any_target,
    }
    of_stacks = {
        "operation": options.operation,
        "sequence": options.sequence,
        "size": options.size,
    }
    for option in _present(of_urls) if isinstance(target, Stack) else ():
        raise UsageError(
            f"--{option} belongs to URLs, and {target} is a service of the lab", OF_URLS[option]
        )
    for option in _present(of_stacks) if isinstance(target, Server) else ():
        raise UsageError(
            f"--{option} belongs to services of the lab, such as rest@rust",
            "say by --data or --body what is sent to a URL",
        )


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
        raise UsageError(f"--header {text!r} is no header", "write 'Name: value'")
    return name.strip().lower(), value.strip()


def _asked(operation: str | None, sequence: str | None, size: str | None) -> Message:
    """What a service of the lab is asked. Raises :class:`UsageError`."""
    if operation is None and sequence is None:
        operation = HELLO.operation
    known = OPERATIONS.get(operation or "")
    if size is None and known and known.is_sized and known.size_default is None:
        size = f"{HELLO.bytes} B"
    asked = Message(operation, sequence, 0 if size is None else _bytes("--size", size))
    problem = (
        (operation and message.unknown("operation", operation, OPERATIONS))
        or (sequence and message.unknown("sequence", sequence, SEQUENCES))
        or message.problem(asked, has_size=size is not None)
    )
    if problem:
        raise UsageError(problem, "see --operation, --sequence and --size")
    return asked


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
