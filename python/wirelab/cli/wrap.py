"""``wirelab wrap``."""

from __future__ import annotations

from typing import Any

import click

from wirelab.cli.error_handling import exit_with_code
from wirelab.cli.options import PATH
from wirelab.stack.link_names import LOOPBACK


@click.command()
@click.argument(
    "command",
    nargs=-1,
    required=True,
    metavar="-- COMMAND…",
    help="The tool with its own options. With --serve, {url}, {address}, {host} and {port} in it "
    "are replaced.",
)
@click.option("--serve", metavar="REF", help="Start this service of the lab, e.g. rest@go.")
@click.option("--contract", default="transfer", show_default=True, help="What --serve serves.")
@click.option(
    "--hello-bytes",
    type=click.IntRange(0, 2**31 - 1),
    default=14,
    show_default=True,
    help="Bytes of the text that Hello answers.",
)
@click.option(
    "--link",
    metavar="PROFILE",
    default=LOOPBACK,
    show_default=True,
    help="Network between COMMAND and --serve.",
)
@click.option("--interface", default="lo", show_default=True, help="Where packets are captured.")
@click.option(
    "--port",
    type=click.IntRange(1, 65535),
    help="TCP port of the server. [default: as in COMMAND]",
)
@click.option(
    "--json",
    "as_json",
    is_flag=True,
    help="Print JSON; COMMAND's output goes to standard error.",
)
@click.option(
    "--out",
    "folder",
    type=PATH,
    metavar="DIR",
    help="Keep the report and COMMAND's output here.",
)
@click.option(
    "--report",
    type=PATH,
    metavar="FILE",
    help="Write the report as a page that opens offline.",
)
@click.option("--keep-capture", is_flag=True, help="Keep the packets, too.")
@click.option("--timeout", help="End COMMAND after this time, e.g. 30s.")
@exit_with_code
def wrap(**options: Any) -> int:
    """Run anyone's load tool under capture: what did it do, and can it be trusted?"""
    from wirelab.cli.wrap_output import Options, run

    return run(Options(**options))
