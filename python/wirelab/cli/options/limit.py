"""Options of `wirelab limit`."""

from __future__ import annotations

from dataclasses import dataclass

import click

from wirelab.cli.options.common import (
    Duration,
    RequestOptions,
    option,
)


@dataclass(frozen=True)
class ServiceOptions(RequestOptions):
    """A command in place of a service, and how to call it."""

    command: str | None = option(
        "--command", metavar="COMMAND", help="Command that starts the service; {port} is replaced."
    )


@dataclass(frozen=True)
class SearchOptions:
    """How to search for the limit."""

    duration: str | None = option(
        "--duration", metavar="TIME", help="Length of a window. [default: 3s, or that of FILE]"
    )
    link: str | None = option("--link", metavar="PROFILE", help="Network link. [default: loopback]")
    warmup: str | None = option(
        "--warmup",
        metavar="TIME",
        help="Minimum warm-up before a window; a JVM needs 20s. [default: 200ms]",
    )
    probes_max: int = option(
        "--probes",
        type=click.IntRange(6, 200),
        default=40,
        show_default=True,
        help="Maximum number of trials of the search; each longer window adds up to half of it, "
        "and the end up to 4.",
    )
    window_max_s: float | None = option(
        "--window-max",
        type=Duration(),
        metavar="TIME",
        help="Longest window. Close to saturation windows are doubled until the limit no longer "
        "moves. [default: 8 times --duration]",
    )
    no_curve: bool = option(
        "--no-curve", is_flag=True, help="Do not measure the curve from 0.5 to 1.5 times the limit."
    )
