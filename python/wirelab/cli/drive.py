"""``wirelab drive``: the engine as a load generator."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import click

from wirelab.cli.error_handling import exit_with_code
from wirelab.cli.options import (
    COUNT,
    PATH,
    POSTGRES_HELP,
    GroupedCommand,
    option,
    option_group,
    postgres_url,
)
from wirelab.cli.thresholds import THRESHOLDS, DriveThresholdOptions


@dataclass(frozen=True)
class ConnectionOptions:
    """How the target is reached, and how its replies are read."""

    connections: int | None = option(
        "--connections", type=COUNT, help="Connections kept open. [default: as --users need, or 1]"
    )
    in_flight: int | None = option(
        "--in-flight",
        type=COUNT,
        help="Calls in flight per connection; HTTP/1.1 pipelines them. [default: 1]",
    )
    http2: bool = option("--http2", is_flag=True, help="HTTP/2 by prior knowledge.")
    close: bool = option("--close", is_flag=True, help="One connection per call.")
    work: str | None = option(
        "--work", metavar="WORK", help="Of replies: decode, or frame, no full decode."
    )
    ca: Path | None = option(
        "--ca",
        metavar="FILE",
        type=PATH,
        help="Certificate authorities, or the server's own certificate, PEM. "
        "[default: the system's]",
    )
    insecure: bool = option("--insecure", is_flag=True, help="Accept any certificate for any name.")
    any_target: bool = option(
        "--any-target", is_flag=True, help="Allow a server beyond this machine."
    )
    postgres: str = option(
        "--postgres",
        metavar="URL",
        callback=postgres_url,
        default="",
        help=f"{POSTGRES_HELP} For stacks with store=postgres.",
    )


@dataclass(frozen=True)
class LoadOptions:
    """How many calls, how fast, for how long."""

    users: int | None = option(
        "--users", type=COUNT, help="Users of a closed load. [default: connections x in-flight]"
    )
    rate: float | None = option(
        "--rate",
        metavar="PER_SECOND",
        type=float,
        help="Calls per second: an open load, evenly spaced.",
    )
    poisson: bool = option(
        "--poisson", is_flag=True, help="Exponential gaps at --rate, or at a --stage of a rate."
    )
    seed: int | None = option(
        "--seed",
        type=click.IntRange(0, 2**63),
        help="Seed of all that is random: arrivals, pauses, gaps, mix, data. [default: 1]",
    )
    duration: str | None = option(
        "--duration", metavar="TIME", help="Length of the window, e.g. 500ms or 3s. [default: 3s]"
    )
    calls: int | None = option(
        "--calls", type=click.IntRange(1, 2**63), help="Calls to make, instead of a duration."
    )
    max_time: str | None = option(
        "--max-time",
        metavar="TIME",
        help="Time limit of --calls and --iterations. [default: 10min]",
    )
    warmup: str = option(
        "--warmup",
        metavar="TIME",
        default="0s",
        show_default=True,
        help="Time before the window; its calls do not count.",
    )
    timeout: str = option(
        "--timeout",
        metavar="TIME",
        default="10s",
        show_default=True,
        help="Time limit of one call.",
    )


@dataclass(frozen=True)
class PatternOptions:
    """How the load changes over time, and when users pause and end."""

    stages: Sequence[str] = option(
        "--stage",
        metavar="TIME:LEVEL",
        multiple=True,
        help="Reach that many users in that time, e.g. 30s:100, or calls per second, 30s:500/s; "
        "0s at once. Repeated: one after another, from 0.",
    )
    start_rate: float | None = option(
        "--start-rate",
        metavar="PER_SECOND",
        type=float,
        help="Where stages of a rate begin. [default: 0]",
    )
    burst: str | None = option(
        "--burst",
        metavar="CALLS|TIME",
        help="Calls that arrive at once, or at --rate; a time at --rate, e.g. 200ms.",
    )
    gap: str | None = option(
        "--gap",
        metavar="[DIST:]TIME",
        help="From the last call of a --burst to the first of the next, e.g. 1s or uniform:1s.",
    )
    think: str | None = option(
        "--think",
        metavar="[DIST:]TIME",
        help="Pause of a user between calls, e.g. 100ms, exponential:2s or uniform:2s, which is "
        "1s to 3s. [default: none]",
    )
    calls_per_pause: int | None = option(
        "--calls-per-pause", type=COUNT, help="Calls before each pause of --think. [default: 1]"
    )
    iterations: int | None = option(
        "--iterations",
        type=click.IntRange(1, 1_000_000_000),
        help="Calls of each user, after which it ends, instead of a duration.",
    )


@dataclass(frozen=True)
class MessageOptions:
    """What is called and with which message: of URLs."""

    method: str | None = option(
        "--method", metavar="METHOD", help="HTTP method. [default: GET, or POST]"
    )
    headers: Sequence[str] = option(
        "--header",
        metavar="HEADER",
        multiple=True,
        help="'Name: value'; gRPC metadata. May be repeated.",
    )
    data: str | None = option(
        "--data",
        metavar="TEXT",
        help="HTTP body as text, or gRPC message as JSON. JSON is sent to HTTP as "
        "content-type: application/json, unless a --header says otherwise.",
    )
    body: Path | None = option(
        "--body", metavar="FILE", type=PATH, help="File with the HTTP body, or with protobuf bytes."
    )
    follow: bool = option(
        "--follow",
        is_flag=True,
        help="Ask once, follow redirections, and drive the URL where they end.",
    )
    cookies: bool = option(
        "--cookies", is_flag=True, help="Ask once, and send the cookies that came in every call."
    )
    proto: Path | None = option(
        "--proto",
        metavar="FILE",
        type=PATH,
        help=".proto file of the method. [default: the server describes itself by reflection]",
    )
    imports: Sequence[Path] = option(
        "--import", metavar="DIR", type=PATH, multiple=True, help="Import folder of --proto."
    )


@dataclass(frozen=True)
class ContractOptions:
    """What is called and with which message: of services of the lab."""

    operation: str | None = option(
        "--operation", metavar="NAME", help="Of any contract. [default: Hello]"
    )
    sequence: str | None = option(
        "--sequence", metavar="NAME", help="Function of charging, instead of --operation."
    )
    size: str | None = option(
        "--size", metavar="SIZE", help="Message size, e.g. '150 kB'. [default: 14 B]"
    )
    mix: Sequence[str] = option(
        "--mix",
        metavar="NAME[:SIZE][@WEIGHT]",
        multiple=True,
        help="An operation with its weight, e.g. Submit:1kB@3. Repeated: each arrival is one of "
        "them.",
    )
    steps: Sequence[str] = option(
        "--step",
        metavar="NAME[:SIZE][:FIELD=REPLY_FIELD]",
        multiple=True,
        help="An operation that fills a field from the reply before, or from that of step N, "
        "counted from 0, by @N; e.g. GetOwner:id=id. Repeated: one after another.",
    )
    data_file: Path | None = option(
        "--data-file",
        metavar="FILE",
        type=PATH,
        help="CSV (.csv) or JSON lines (.jsonl), whose columns replace fields of the request.",
    )
    data_random: Sequence[str] = option(
        "--data-random",
        metavar="FIELD=VALUES",
        multiple=True,
        help="A field with random values instead: id=integer:1:100, name=text:8 (letters) or "
        "city=choice:Oslo,Bergen. May be repeated.",
    )
    data_rows: int | None = option(
        "--data-rows",
        type=click.IntRange(1, 1_000_000),
        help="Rows of --data-random. [default: 1000]",
    )
    data_per: str | None = option(
        "--data-per",
        metavar="call|user",
        type=click.Choice(["call", "user"]),
        help="Who takes the next row. [default: call]",
    )


@dataclass(frozen=True)
class OutputOptions:
    """What is shown and written."""

    tui: bool = option("--tui", is_flag=True, help="Draw the last seconds meanwhile.")
    report: Path | None = option(
        "--report", metavar="FILE", type=PATH, help="Write a page with charts (HTML, one file)."
    )
    as_json: bool = option(
        "--json",
        is_flag=True,
        help="Print the result as JSON; see `wirelab schema drive`.",
    )


@click.command(cls=GroupedCommand)
@click.argument(
    "target",
    metavar="REF|URL",
    help="http://host:port/path, grpc://host:port/package.Service/Method, either with TLS as "
    "https:// and grpcs://, or a stack of the lab such as rest@rust.",
)
@option_group("connection", ConnectionOptions, "Connection")
@option_group("load", LoadOptions, "Load")
@option_group("pattern", PatternOptions, "Load over time")
@option_group("message", MessageOptions, "Message to a URL")
@option_group("contract", ContractOptions, "Message to a service of the lab")
@option_group("thresholds", DriveThresholdOptions, THRESHOLDS)
@option_group("output", OutputOptions, "Output")
@exit_with_code
def drive(target: str, **groups: Any) -> int:
    """Load one server and report how fast it answers."""
    from wirelab.cli.drive_options import Options, run

    return run(Options(target, **groups))
