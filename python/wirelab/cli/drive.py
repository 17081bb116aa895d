"""``wirelab drive``: the engine as a load generator."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Annotated, Any

import typer
from pydantic import ValidationError

from wirelab import targets
from wirelab.cli.edges import err, out, told
from wirelab.drive import HELLO, Amount, Call, drive_server, drive_stack, read_message, summary
from wirelab.errors import EXIT_FAILED, EXIT_INTERRUPTED, EXIT_OK, UsageError
from wirelab.experiment import Message
from wirelab.interruption import Interruption
from wirelab.operations import OPERATIONS
from wirelab.progress import OneLine
from wirelab.stacks import Stack
from wirelab.targets import Server
from wirelab.units import format_bytes, format_seconds, parse_seconds

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
        int | None, typer.Option(min=1, help="Connections kept open. [default: 1]")
    ] = None,
    in_flight: Annotated[
        int | None, typer.Option(min=1, help="Calls under way per connection. [default: 1]")
    ] = None,
    users: Annotated[
        int | None,
        typer.Option(min=1, help="Users of a closed load. [default: connections x in-flight]"),
    ] = None,
    duration: Annotated[
        str | None, typer.Option(help="Length of the window, e.g. 500ms or 3s. [default: 3s]")
    ] = None,
    calls: Annotated[
        int | None, typer.Option(min=1, help="Calls to make, instead of a duration.")
    ] = None,
    rate: Annotated[
        float | None, typer.Option(help="Calls per second: an open load, evenly spaced.")
    ] = None,
    poisson: Annotated[bool, typer.Option("--poisson", help="Exponential gaps at --rate.")] = False,
    seed: Annotated[int, typer.Option(min=0, help="Seed of the gaps.")] = 1,
    warmup: Annotated[str, typer.Option(help="Before the window; its calls do not count.")] = "0s",
    timeout: Annotated[str, typer.Option(help="After which a call is given up.")] = "10s",
    max_time: Annotated[str, typer.Option(help="Ends --calls anyway.")] = "10min",
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
    amount = Amount(
        connections=connections,
        in_flight=in_flight,
        users=users,
        rate=rate,
        poisson=poisson,
        seed=seed,
        duration_s=None if duration is None else _positive("--duration", duration),
        calls=calls,
        max_s=_positive("--max-time", max_time),
        warmup_s=parse_seconds(warmup),
        timeout_s=_positive("--timeout", timeout),
    )
    found = targets.parse(target)
    call = Call(
        method=method,
        headers=tuple(_header(text) for text in header or ()),
        body=_body(found, data, body),
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
    result = summary(outcome)
    if as_json:
        print(json.dumps({"target": target, **result}, indent=1))
    else:
        _show(target, result)
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
            line.show(f"{event['phase']}: {event['calls']:,} calls, {event['errors']:,} failed")

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
    if rate is not None and rate <= 0:
        raise UsageError(f"--rate {rate:g} is not above 0", "give calls per second")
    if rate is not None and users is not None:
        raise UsageError(
            "--users is of a closed load, --rate of an open one",
            "bound an open load by --connections and --in-flight",
        )


def _positive(option: str, text: str) -> float:
    seconds = parse_seconds(text)
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


def _body(found: Stack | Server, data: str | None, body: Path | None) -> bytes | None:
    if data is not None and body is not None:
        raise UsageError("--data and --body contradict each other", "give one of them")
    if isinstance(found, Stack) and (data is not None or body is not None):
        raise UsageError("a stack's message comes from its contract", "use --operation and --size")
    if body is not None:
        try:
            return body.read_bytes()
        except OSError as error:
            raise UsageError(f"--body {body} cannot be read: {error.strerror}") from None
    return data.encode() if data is not None and not _is_grpc(found) else None


def _existing(option: str, path: Path | None) -> Path | None:
    if path is not None and not path.is_file():
        raise UsageError(f"{option} {path} is not a file", "is the path right?")
    return path


def _work(work: str | None) -> str | None:
    if work not in (None, "decode", "frame"):
        raise UsageError(f"--work {work} is not possible", "give decode or frame")
    return work


def _show(target: str, result: Json) -> None:
    """The result in 80 columns."""
    planned = result["rate_planned_per_s"]
    asked = f" (asked for {planned:,.6g})" if planned else ""
    seconds = format_seconds(result["window_s"])
    out.print(target, style="bold", markup=False, soft_wrap=True)
    out.print(f"  {result['calls']:,} calls in {seconds}, {result['errors']:,} failed")
    out.print(f"  {result['rate_per_s']:,.6g} good calls/s{asked}")
    for kind, count in result["errors_by_kind"].items():
        if count:
            out.print(f"    {kind}: {count:,}", style="red")
    for example in result["error_examples"][:3]:
        out.print(f"    e.g. {example}", style="red", markup=False)
    _show_times("response time", result["latency_ms"])
    if result["load"] == "open":
        _show_times("service time", result["service_time_ms"])
    if result["sequences"]:
        _show_sequences(result["sequences"])
    _show_client(result)
    out.print(f"  {NOTES[result['load']]}", style="dim")


NOTES = {
    "closed": "closed load: callers wait for replies, so a slow server is asked less often;\n"
    "  its times say nothing about a server under a given rate (--rate).",
    "open": "open load: response time counts from when a call was due, queueing included;\n"
    "  service time only from when it was sent. Never compare with a closed load.",
}


def _show_times(title: str, times: Json) -> None:
    if times:
        parts = [
            f"{name} {format_seconds(ms / 1e3)}" for name, ms in times.items() if name != "min"
        ]
        out.print(f"  {title}: {', '.join(parts)}")


def _show_sequences(sequences: Json) -> None:
    out.print(f"  {sequences['count']:,} sequences, {sequences['errors']:,} ended by a failed call")
    _show_times("response time of a sequence", sequences["latency_ms"])


def _show_client(result: Json) -> None:
    per_call = result["client_cpu_us_per_call"]
    cpu = "" if per_call is None else f", {per_call:.2f} us per call"
    out.print(
        f"  client: {result['client_cpu_s']:.3g} s CPU{cpu}, "
        f"{format_bytes(result['client_rss_max_bytes'] // 100_000 * 100_000)} memory, "
        f"{result['connections_opened']:,} connections opened"
    )
