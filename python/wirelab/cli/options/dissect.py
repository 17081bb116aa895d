"""Options of `wirelab dissect`."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import click

from wirelab.cli.options.common import (
    PATH,
    READY_TIMEOUT_OPTION,
    SHARE_OPTION,
    option,
)


@dataclass(frozen=True)
class ViewOptions:
    """What is read, and what of it is shown."""

    port: int | None = option(
        "--port", type=click.IntRange(1, 65535), help="Only connections of that TCP port."
    )
    timeline: int | None = option(
        "--timeline",
        type=click.IntRange(1),
        help="The exchange to show packet by packet, from 1.",
    )
    slowest: int | None = option(
        "--slowest",
        type=click.IntRange(1, 1000),
        help="List the N slowest exchanges, and compare the slowest 1 % with those around the "
        "median.",
    )
    messages: int | None = option(
        "--messages",
        type=click.IntRange(1, 1000),
        metavar="N",
        help="Follow messages inside streams (server-sent events, WebSocket, gRPC, Connect, lines "
        "of JSON), and list the N with the longest times before them.",
    )
    calls: Path | None = option(
        "--calls",
        type=PATH,
        metavar="LOG",
        help="The engine's log of calls, to be matched with the packets of a FILE; a RUN has its "
        "own.",
    )
    keylog: Path | None = option(
        "--keylog",
        type=PATH,
        metavar="FILE",
        help="Secrets to decrypt TLS with: what a program writes where SSLKEYLOGFILE names a file.",
    )
    host_records: Path | None = option(
        "--host-records",
        type=PATH,
        metavar="FILE",
        help="What the server's processes did meanwhile (`wirelab-engine host`), to divide the "
        "server's time in a FILE; a RUN has its own.",
    )
    svg: Path | None = option(
        "--svg", type=PATH, metavar="FILE", help="Write that exchange as a drawing."
    )
    report: Path | None = option(
        "--report",
        type=PATH,
        metavar="FILE",
        help="Write a page: where the time went, connections, throughput and windows over time.",
    )
    as_json: bool = option("--json", is_flag=True, help="Print the whole document.")


@dataclass(frozen=True)
class LiveOptions:
    """Packets that pass now."""

    live: bool = option(
        "--live",
        is_flag=True,
        help="Dissect packets while they pass (root); Ctrl-C ends it and prints the account.",
    )
    interfaces: Sequence[str] = option(
        "--interface",
        multiple=True,
        metavar="NAME",
        help="Only this interface. May be repeated. [default: any]",
    )
    pid: int | None = option(
        "--pid",
        type=click.IntRange(1),
        help="Only connections of this process and its children.",
    )
    host: bool = option(
        "--host",
        is_flag=True,
        help="Also record what that process does, to divide the server's time (needs --pid).",
    )
    duration: str | None = option("--for", metavar="TIME", help="End after that time, e.g. 30s.")
    write: Path | None = option(
        "--write", type=PATH, metavar="FILE", help="Keep the packets (pcapng; one interface)."
    )


@dataclass(frozen=True)
class TestOptions:
    """The test of findings by further trials."""

    test: bool = option(
        "--test",
        is_flag=True,
        help="Flip the switch that each finding of a RUN blames, and run again. Exit code 0: "
        "all hold, 1: one does not, 5: undecided.",
    )
    repeats: int | None = option(
        "--repeats", type=click.IntRange(2, 1000), help="Trials per cell. [default: 4]"
    )
    causes: Sequence[str] = option(
        "--cause", multiple=True, help="Only that finding, however small. May be repeated."
    )
    directory: Path | None = option(
        "--out",
        type=PATH,
        metavar="DIR",
        help="Run directory of the test; an unfinished test in it continues. [default: RUN/tests]",
    )
    unverified: bool = option(
        "--unverified", is_flag=True, help="Also run services that did not pass `verify`."
    )
    ready_timeout_s: float | None = option("--ready-timeout", **READY_TIMEOUT_OPTION)
    share: bool = option("--share", **SHARE_OPTION)
