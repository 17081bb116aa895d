"""Options of `wirelab choose`."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import click

from wirelab.cli.options.common import (
    PATH,
    RATE,
    USERS,
    Duration,
    Share,
    option,
)

OBJECTIVES = ("p50", "p99", "rate", "cpu", "bytes")


class PriceType(click.ParamType[tuple[float, float]]):
    """Prices as ``core_hour=0.04,gb=0.05``; the value is (core hour, gigabyte)."""

    name = "prices"

    def convert(
        self, value: Any, param: click.Parameter | None, ctx: click.Context | None
    ) -> tuple[float, float]:
        """Raises :class:`click.BadParameter`."""
        if isinstance(value, tuple):
            return value
        prices = {"core_hour": 0.0, "gb": 0.0}
        for part in str(value).split(","):
            key, _, text = part.strip().partition("=")
            try:
                price = float(text)
            except ValueError:
                price = -1.0
            if key not in prices or not 0.0 <= price < 1e9:
                self.fail(f"{part!r}: write for example core_hour=0.04,gb=0.05", param, ctx)
            prices[key] = price
        return prices["core_hour"], prices["gb"]


@dataclass(frozen=True)
class MessageOptions:
    """The message."""

    reply: Path | None = option(
        "--reply", type=PATH, metavar="FILE", help="JSON document of the reply, if it differs."
    )
    kind: str | None = option(
        "--from",
        type=click.Choice(("openapi", "har", "postman", "curl")),
        help="Take the request of such a document, as `wirelab import` reads it; curl: FILE is the "
        "command, in quotes.",
    )
    only: str | None = option(
        "--only",
        metavar="PATTERN",
        help="With --from: the request, by name or METHOD path; with a .proto: the method.",
    )
    more: tuple[Path, ...] = option(
        "--sample",
        type=PATH,
        multiple=True,
        metavar="FILE",
        help="Further JSON document of the same kind, for optional fields and types; with a "
        ".proto, a request. Repeatable.",
    )
    scale: int = option(
        "--scale",
        type=click.IntRange(1, 10_000),
        default=1,
        show_default=True,
        help="Repeat the items of every list this many times.",
    )


@dataclass(frozen=True)
class StackOptions:
    """The stacks."""

    languages: str = option(
        "--language",
        metavar="LIST",
        default="go,java",
        show_default=True,
        help="Languages of the generated services: go, java, rust; rust alone also without a "
        "compiler, with dynamic code.",
    )
    patterns: tuple[str, ...] = option(
        "--stacks",
        multiple=True,
        metavar="PATTERN",
        help="Only these stacks, e.g. 'rest*', 'grpc', '*@go'; repeatable. [default: all]",
    )
    compression: str = option(
        "--compression",
        metavar="LIST",
        default="none",
        show_default=True,
        help="none, gzip, zstd: the best stacks of a first look are measured with each.",
    )
    http2: bool = option("--http2", is_flag=True, help="Also measure REST over HTTP/2.")
    today: str | None = option(
        "--today",
        metavar="STACK",
        help="Stack that you use today, e.g. rest@go: what each change away from it gains.",
    )


@dataclass(frozen=True)
class CallOptions:
    """How the stacks are called, and what decides."""

    rate: float | None = option(
        "--rate", type=RATE, metavar="N", help="Your calls per second, evenly spaced."
    )
    users: int = option(
        "--users",
        type=USERS,
        default=8,
        show_default=True,
        help="Users of the closed load that shows the highest rate.",
    )
    link: str = option(
        "--link", metavar="PROFILE", default="loopback", show_default=True, help="Network link."
    )
    by: str | None = option(
        "--by",
        type=click.Choice(OBJECTIVES),
        help="What decides. [default: p50 with --rate, else rate]",
    )
    threshold: float = option(
        "--threshold",
        type=Share(),
        metavar="SHARE",
        default=0.05,
        show_default=True,
        help="Stacks that differ by less share first place.",
    )
    budget_s: float = option(
        "--budget",
        type=Duration(),
        metavar="TIME",
        default="5min",
        show_default=True,
        help="Longest time of all measurements, after the builds.",
    )
    price: tuple[float, float] = option(
        "--price",
        type=PriceType(),
        metavar="PRICES",
        default=(0.0, 0.0),
        help="core_hour=0.04,gb=0.05: shows the cost of a million calls.",
    )
    maps: tuple[str, ...] = option(
        "--map",
        type=click.Choice(("size", "link")),
        multiple=True,
        help="Also find where the answer changes: with larger messages, or on other links (needs "
        "root). About 2 min for each of 3 to 9 places.",
    )
    limit: str | None = option(
        "--limit",
        metavar="CONDITIONS",
        help="Also find the highest rate at which each stack of the table meets this objective, "
        "e.g. 'p99<50ms'. About 2 min for each of them.",
    )
    seed: int = option(
        "--vary",
        type=click.IntRange(0, 2**63 - 1),
        default=1,
        show_default=True,
        help="Seed of the varied requests.",
    )
    share: bool = option(
        "--share", is_flag=True, help="Measure next to other work, without waiting for other runs."
    )
