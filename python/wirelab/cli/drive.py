"""``wirelab drive``: the engine as a load generator."""

from __future__ import annotations

from typing import Any

import click

from wirelab.cli.error_handling import exit_with_code
from wirelab.cli.options import PATH

COUNT = click.IntRange(min=1)


@click.command()
@click.argument(
    "target",
    metavar="REF|URL",
    help="http://host:port/path, grpc://host:port/package.Service/Method, either with TLS as "
    "https:// and grpcs://, or a stack of the lab such as rest@rust.",
)
@click.option(
    "--connections", type=COUNT, help="Connections kept open. [default: as --users need, or 1]"
)
@click.option(
    "--in-flight",
    type=COUNT,
    help="Calls under way per connection; HTTP/1.1 pipelines them. [default: 1]",
)
@click.option(
    "--users", type=COUNT, help="Users of a closed load. [default: connections x in-flight]"
)
@click.option("--duration", help="Length of the window, e.g. 500ms or 3s. [default: 3s]")
@click.option(
    "--calls", type=click.IntRange(1, 2**63), help="Calls to make, instead of a duration."
)
@click.option("--rate", type=float, help="Calls per second: an open load, evenly spaced.")
@click.option("--poisson", is_flag=True, help="Exponential gaps at --rate.")
@click.option("--seed", type=click.IntRange(0, 2**63), help="Seed of --poisson. [default: 1]")
@click.option(
    "--warmup",
    default="0s",
    show_default=True,
    help="Before the window; its calls do not count.",
)
@click.option("--timeout", default="10s", show_default=True, help="After which a call is given up.")
@click.option("--max-time", help="Ends --calls anyway. [default: 10min]")
@click.option("--method", help="HTTP method. [default: GET, or POST]")
@click.option(
    "--header",
    "headers",
    multiple=True,
    help="'Name: value'; gRPC metadata. May be repeated.",
)
@click.option("--data", help="HTTP body as text, or gRPC message as JSON.")
@click.option("--body", type=PATH, help="File with the HTTP body, or with protobuf bytes.")
@click.option("--proto", type=PATH, help=".proto file of the method.")
@click.option("--import", "imports", type=PATH, multiple=True, help="Import folder of --proto.")
@click.option("--http2", is_flag=True, help="HTTP/2 by prior knowledge.")
@click.option("--close", is_flag=True, help="One connection per call.")
@click.option("--ca", type=PATH, help="Certificate authorities, PEM. [default: the system's]")
@click.option("--operation", help="Of any contract, for stacks. [default: Hello]")
@click.option("--sequence", help="Function of charging, instead of --operation.")
@click.option("--size", help="Message size, for stacks, e.g. '150 kB'. [default: 14 B]")
@click.option("--work", help="decode, or frame: no full decode.")
@click.option("--any-target", is_flag=True, help="Allow a server beyond this machine.")
@click.option("--json", "as_json", is_flag=True, help="Print the result as JSON.")
@exit_with_code
def drive(**options: Any) -> int:
    """Load one server, and say how fast it answers."""
    from wirelab.cli.drive_options import Options, run

    return run(Options(**options))
