"""Options of `wirelab mcp`."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import click

from wirelab.cli.options.common import (
    PATH,
    RATE,
    USERS,
    option,
)


@dataclass(frozen=True)
class PermissionOptions:
    """What the client may reach."""

    root: Path = option(
        "--root",
        type=PATH,
        metavar="DIR",
        default=Path(),
        help="The only folder for files and runs. [default: working directory]",
    )
    hosts: Sequence[str] = option(
        "--allow-host",
        metavar="HOST",
        multiple=True,
        help="Host name or address that the client may load, besides loopback. May be repeated.",
    )


@dataclass(frozen=True)
class LimitOptions:
    """How much load one call may make, and how long it may take."""

    duration: str = option(
        "--duration",
        metavar="TIME",
        default="60s",
        show_default=True,
        help="Maximum length of a measurement window or a warm-up.",
    )
    users: int = option(
        "--users",
        type=USERS,
        default=1_000,
        show_default=True,
        help="Maximum number of users and of connections.",
    )
    calls: int = option(
        "--calls",
        type=click.IntRange(1, 1_000_000_000),
        default=1_000_000,
        show_default=True,
        help="Maximum number of calls, where a number is given in place of a duration.",
    )
    rate: float = option(
        "--rate",
        metavar="PER_SECOND",
        type=RATE,
        default=100_000.0,
        show_default=True,
        help="Maximum rate of an open load.",
    )
    time: str = option(
        "--time",
        metavar="TIME",
        default="10min",
        show_default=True,
        help="Maximum time of a whole tool call, after which it is ended.",
    )
