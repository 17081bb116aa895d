"""``wirelab drive``: the engine as a load generator."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

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


@dataclass(frozen=True)
class ConnectionOptions:
    """How the target is reached."""

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
    ca: Path | None = option(
        "--ca",
        metavar="FILE",
        type=PATH,
        help="Certificate authorities, PEM. [default: the system's]",
    )
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
    poisson: bool = option("--poisson", is_flag=True, help="Exponential gaps at --rate.")
    seed: int | None = option(
        "--seed", type=click.IntRange(0, 2**63), help="Seed of --poisson. [default: 1]"
    )
    duration: str | None = option(
        "--duration", metavar="TIME", help="Length of the window, e.g. 500ms or 3s. [default: 3s]"
    )
    calls: int | None = option(
        "--calls", type=click.IntRange(1, 2**63), help="Calls to make, instead of a duration."
    )
    max_time: str | None = option(
        "--max-time", metavar="TIME", help="Time limit of --calls. [default: 10min]"
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
class MessageOptions:
    """What is called and with which message."""

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
        "--data", metavar="TEXT", help="HTTP body as text, or gRPC message as JSON."
    )
    body: Path | None = option(
        "--body", metavar="FILE", type=PATH, help="File with the HTTP body, or with protobuf bytes."
    )
    proto: Path | None = option(
        "--proto", metavar="FILE", type=PATH, help=".proto file of the method."
    )
    imports: Sequence[Path] = option(
        "--import", metavar="DIR", type=PATH, multiple=True, help="Import folder of --proto."
    )
    operation: str | None = option(
        "--operation", metavar="NAME", help="Of any contract, for stacks. [default: Hello]"
    )
    sequence: str | None = option(
        "--sequence", metavar="NAME", help="Function of charging, instead of --operation."
    )
    size: str | None = option(
        "--size", metavar="SIZE", help="Message size, for stacks, e.g. '150 kB'. [default: 14 B]"
    )
    work: str | None = option("--work", metavar="WORK", help="decode, or frame: no full decode.")


@click.command(cls=GroupedCommand)
@click.argument(
    "target",
    metavar="REF|URL",
    help="http://host:port/path, grpc://host:port/package.Service/Method, either with TLS as "
    "https:// and grpcs://, or a stack of the lab such as rest@rust.",
)
@option_group("connection", ConnectionOptions, "Connection")
@option_group("load", LoadOptions, "Load")
@option_group("message", MessageOptions, "Message")
@click.option("--json", "as_json", is_flag=True, help="Print the result as JSON.")
@exit_with_code
def drive(
    target: str,
    connection: ConnectionOptions,
    load: LoadOptions,
    message: MessageOptions,
    as_json: bool,
) -> int:
    """Load one server and report how fast it answers."""
    from wirelab.cli.drive_options import Options, run

    return run(Options(target, connection, load, message), as_json=as_json)
