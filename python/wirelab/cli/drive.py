"""``wirelab drive``: the engine as a load generator."""

from __future__ import annotations

import json
from math import isfinite
from pathlib import Path
from typing import Annotated, Any

import typer
from pydantic import ValidationError

from wirelab import targets
from wirelab.cli import driven
from wirelab.cli.edges import err, told
from wirelab.counting import counted
from wirelab.drive import HELLO, Amount, Call, drive_server, drive_stack, read_message, summary
from wirelab.errors import EXIT_FAILED, EXIT_INTERRUPTED, EXIT_OK, UnitError, UsageError
from wirelab.experiment import Message
from wirelab.hints import hints
from wirelab.interruption import Interruption
from wirelab.operations import OPERATIONS
from wirelab.progress import OneLine
from wirelab.stacks import Stack
from wirelab.targets import Server
from wirelab.units import parse_seconds

Json = dict[str, Any]


@told
def drive(
    target: Annotated[
        str,
        typer.Argument(
            help="http://host:port/path, grpc://host:port/package.Service/Method, either with "
            "TLS as https:// and grpcs://, or a stack of the lab such as rest@rust.",
            metavar="REF|URL",
        ),
    ],
    connections: Annotated[
        int | None,
        typer.Option(min=1, help="Connections kept open. [default: as --users need, or 1]"),
    ] = None,
    in_flight: Annotated[
        int | None,
        typer.Option(
            min=1, help="Calls under way per connection; HTTP/1.1 pipelines them. [default: 1]"
        ),
    ] = None,
    users: Annotated[
        int | None,
        typer.Option(min=1, help="Users of a closed load. [default: connections x in-flight]"),
    ] = None,
    duration: Annotated[
        str | None, typer.Option(help="Length of the window, e.g. 500ms or 3s. [default: 3s]")
    ] = None,
    calls: Annotated[
        int | None, typer.Option(min=1, max=2**63, help="Calls to make, instead of a duration.")
    ] = None,
    rate: Annotated[
        float | None, typer.Option(help="Calls per second: an open load, evenly spaced.")
    ] = None,
    poisson: Annotated[bool, typer.Option("--poisson", help="Exponential gaps at --rate.")] = False,
    seed: Annotated[
        int | None, typer.Option(min=0, max=2**63, help="Seed of --poisson. [default: 1]")
    ] = None,
    warmup: Annotated[str, typer.Option(help="Before the window; its calls do not count.")] = "0s",
    timeout: Annotated[str, typer.Option(help="After which a call is given up.")] = "10s",
    max_time: Annotated[
        str | None, typer.Option(help="Ends --calls anyway. [default: 10min]")
    ] = None,
    method: Annotated[str | None, typer.Option(help="HTTP method. [default: GET, or POST]")] = None,
    header: Annotated[
        list[str] | None, typer.Option(help="'Name: value'; gRPC metadata. May be repeated.")
    ] = None,
    data: Annotated[
        str | None, typer.Option(help="HTTP body as text, or gRPC message as JSON.")
    ] = None,
    body: Annotated[
        Path | None, typer.Option(help="File with the HTTP body, or with protobuf bytes.")
    ] = None,
    proto: Annotated[Path | None, typer.Option(help=".proto file of the method.")] = None,
    imports: Annotated[
        list[Path] | None, typer.Option("--import", help="Import folder of --proto.")
    ] = None,
    http2: Annotated[bool, typer.Option("--http2", help="HTTP/2 by prior knowledge.")] = False,
    close: Annotated[bool, typer.Option("--close", help="One connection per call.")] = False,
    ca: Annotated[
        Path | None, typer.Option(help="Certificate authorities, PEM. [default: the system's]")
    ] = None,
    operation: Annotated[
        str | None, typer.Option(help="Of any contract, for stacks. [default: Hello]")
    ] = None,
    sequence: Annotated[
        str | None, typer.Option(help="Function of charging, instead of --operation.")
    ] = None,
    size: Annotated[
        str | None, typer.Option(help="Message size, for stacks, e.g. '150 kB'. [default: 14 B]")
    ] = None,
    work: Annotated[str | None, typer.Option(help="decode, or frame: no full decode.")] = None,
    any_target: Annotated[
        bool, typer.Option("--any-target", help="Allow a server beyond this machine.")
    ] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print the result as JSON.")] = False,
) -> int:
    """Load one server, and say how fast it answers."""
    _refuse_contradictions(duration, calls, rate, users, poisson)
    if data is not None and body is not None:
        raise UsageError("--data and --body contradict each other", "give one of them")
    if close and (in_flight or 1) > 1:
        raise UsageError(
            f"--close ends a connection after its one call: --in-flight {in_flight} cannot be",
            "leave one of them out",
        )
    _needs("--seed", seed is not None, "--poisson", poisson)
    _needs("--max-time", max_time is not None, "--calls", calls is not None)
    _needs("--import", bool(imports), "--proto", proto is not None)
    found = targets.parse(target)
    given = {
        "--method": method,
        "--header": header,
        "--data": data,
        "--body": body,
        "--proto": proto,
        "--http2": http2,
        "--ca": ca,
        "--any-target": any_target,
        "--operation": operation,
        "--sequence": sequence,
        "--size": size,
    }
    absent: tuple[object, ...] = (None, False, [])
    _refuse_foreign(found, {option for option, value in given.items() if value not in absent})
    amount = Amount(
        connections=connections,
        in_flight=in_flight,
        users=users,
        rate=rate,
        poisson=poisson,
        seed=1 if seed is None else seed,
        duration_s=None if duration is None else _positive("--duration", duration),
        calls=calls,
        max_s=_positive("--max-time", max_time or "10min"),
        warmup_s=_seconds("--warmup", warmup),
        timeout_s=_positive("--timeout", timeout),
    )
    call = Call(
        method=method,
        headers=tuple(_header(text) for text in header or ()),
        body=_body(data if not _is_grpc(found) else None, body),
        message=read_message(data) if data is not None and _is_grpc(found) else None,
        proto=_existing("--proto", proto),
        imports=tuple(imports or ()),
        http2=http2,
        close=close,
        ca=_existing("--ca", ca),
        asked=_asked(operation, sequence, size),
        work=_work(work),
    )
    with Interruption() as interruption:
        outcome = _drive(found, call, amount, any_target, interruption)
    told = hints(
        found,
        outcome,
        in_flight_max=amount.concurrency(),
        keeps=_keeps(found, call),
        authority=ca,
    )
    result = {**summary(outcome, amount.timeout_s), "hints": told}
    if as_json:
        print(json.dumps({"target": target, **result}, indent=1))
    else:
        driven.show(target, result)
    if outcome["interrupted"]:
        return EXIT_INTERRUPTED
    return EXIT_OK if result["ok"] else EXIT_FAILED


def _drive(
    found: Stack | Server,
    call: Call,
    amount: Amount,
    any_target: bool,
    interruption: Interruption,
) -> Json:
    with OneLine(err) as line:

        def heard(event: Json) -> None:
            calls = counted(event["calls"], "call")
            line.show(f"{event['phase']}: {calls}, {event['errors']:,} failed")

        if isinstance(found, Stack):
            return drive_stack(found, call, amount, interruption=interruption, on_progress=heard)
        return drive_server(
            found,
            call,
            amount,
            any_target=any_target,
            interruption=interruption,
            on_progress=heard,
        )


def _refuse_contradictions(
    duration: str | None, calls: int | None, rate: float | None, users: int | None, poisson: bool
) -> None:
    if duration is not None and calls is not None:
        raise UsageError("--duration and --calls contradict each other", "give one of them")
    if rate is None and poisson:
        raise UsageError("--poisson needs --rate", "give --rate CALLS_PER_SECOND")
    if rate is not None and not (isfinite(rate) and rate > 0):
        raise UsageError(
            f"--rate {rate:g} is no rate", "give calls per second, a number above 0 such as 500"
        )
    if rate is not None and users is not None:
        raise UsageError(
            "--users is of a closed load, --rate of an open one",
            "bound an open load by --connections and --in-flight",
        )


def _needs(option: str, given: bool, other: str, other_given: bool) -> None:
    if given and not other_given:
        raise UsageError(f"{option} belongs to {other}", f"give {other} too, or leave {option} out")


OF_URLS = {
    "--method": "the contract says how its operations are called",
    "--header": "the contract says what its calls carry",
    "--data": "its message comes from its contract: use --operation and --size",
    "--body": "its message comes from its contract: use --operation and --size",
    "--proto": "its contract is known: use --operation",
    "--http2": "write it as an axis, such as rest@rust?transport=http/2",
    "--ca": "it shows a certificate that the lab makes: write ?security=tls",
    "--any-target": "the lab starts it on this machine",
}
"""Options that say nothing of a service of the lab, and why."""
OF_STACKS = ("--operation", "--sequence", "--size")
"""Options of services of the lab."""


def _refuse_foreign(found: Stack | Server, given: set[str]) -> None:
    """Options that could not be honoured are refused by name."""
    if isinstance(found, Stack):
        for option in OF_URLS:
            if option in given:
                raise UsageError(
                    f"{option} belongs to URLs, and {found} is a service of the lab",
                    OF_URLS[option],
                )
    for option in OF_STACKS:
        if isinstance(found, Server) and option in given:
            raise UsageError(
                f"{option} belongs to services of the lab, such as rest@rust",
                "say by --data or --body what is sent to a URL",
            )


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
    """What a service of the lab is asked."""
    if operation is None and sequence is None:
        operation = HELLO.operation
    known = OPERATIONS.get(operation or "")
    if size is None and known and known.is_sized and known.size_default is None:
        size = f"{HELLO.bytes} B"
    named: Json = {"operation": operation, "sequence": sequence, "bytes": size}
    given = {name: value for name, value in named.items() if value is not None}
    try:
        return Message.model_validate(given)
    except ValidationError as error:
        reasons = (problem["msg"].removeprefix("Value error, ") for problem in error.errors())
        raise UsageError("; ".join(reasons), "see --operation, --sequence and --size") from None


def _is_grpc(found: Stack | Server) -> bool:
    return isinstance(found, Server) and found.kind == "grpc"


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
