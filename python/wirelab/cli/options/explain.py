"""Options of `wirelab explain`."""

from __future__ import annotations

from dataclasses import dataclass

import click

from wirelab.cli.options.common import (
    Share,
    option,
)
from wirelab.cli.options.completion import complete_explained


@dataclass(frozen=True)
class DepthOptions:
    """How detailed the explanation is."""

    repeats: int = option(
        "--repeats",
        type=click.IntRange(2, 1000),
        default=4,
        show_default=True,
        help="Trials per change, each on fresh processes.",
    )
    figure: str = option(
        "--figure",
        metavar="NAME",
        shell_complete=complete_explained,
        default="response_p50",
        show_default=True,
        help="Time to explain: response_p50, response_p99 or service_mean.",
    )
    threshold: float = option(
        "--threshold",
        type=Share(),
        metavar="SHARE",
        default=0.05,
        show_default=True,
        help="Smallest relative change in the time of a call that counts.",
    )
