"""Options of `wirelab wrap`."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import click

from wirelab.cli.options.common import (
    PATH,
    READY_TIMEOUT_OPTION,
    option,
)
from wirelab.stack.link_names import LOOPBACK


@dataclass(frozen=True)
class ServiceOptions:
    """The wirelab service that COMMAND loads, if any, and the network to it."""

    serve: str | None = option(
        "--serve", metavar="REF", help="Start this service of wirelab, e.g. rest@go."
    )
    contract: str = option(
        "--contract", default="transfer", show_default=True, help="Contract of the service."
    )
    hello_bytes: int = option(
        "--hello-bytes",
        type=click.IntRange(0, 2**31 - 1),
        default=14,
        show_default=True,
        help="Length of the text that Hello returns, in bytes.",
    )
    link: str = option(
        "--link",
        metavar="PROFILE",
        default=LOOPBACK,
        show_default=True,
        help="Network link between COMMAND and the service.",
    )
    ready_timeout_s: float | None = option("--ready-timeout", **READY_TIMEOUT_OPTION)


@dataclass(frozen=True)
class CaptureOptions:
    """What to capture, and for how long."""

    interface: str = option(
        "--interface", default="lo", show_default=True, help="Network interface to capture on."
    )
    port: int | None = option(
        "--port",
        type=click.IntRange(1, 65535),
        help="TCP port of the server. [default: as in COMMAND]",
    )
    timeout: str | None = option("--timeout", help="Stop COMMAND after this time, e.g. 30s.")
    no_keylog: bool = option(
        "--no-keylog",
        is_flag=True,
        help="Do not ask COMMAND for its secrets of TLS (SSLKEYLOGFILE).",
    )


@dataclass(frozen=True)
class OutputOptions:
    """What to print and keep."""

    as_json: bool = option(
        "--json",
        is_flag=True,
        help="Print the result as JSON; COMMAND's output goes to standard error.",
    )
    folder: Path | None = option(
        "--out",
        type=PATH,
        metavar="DIR",
        help="Keep the report and COMMAND's output in this folder.",
    )
    report: Path | None = option(
        "--report",
        type=PATH,
        metavar="FILE",
        help="Write the report as an HTML page that opens offline.",
    )
    keep_capture: bool = option(
        "--keep-capture", is_flag=True, help="Also keep the captured packets."
    )
