"""Options of `wirelab drive`, and which of them exclude each other or need another option."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import click

from wirelab.cli.options import stream as of_streams
from wirelab.cli.options.clients import ClientsOptions
from wirelab.cli.options.common import (
    COUNT,
    PATH,
    POSTGRES_HELP,
    READY_TIMEOUT_OPTION,
    option,
    postgres_url,
    values_by_option,
)
from wirelab.cli.options.stream import StreamOptions
from wirelab.cli.options.thresholds import DriveThresholdOptions
from wirelab.errors import UsageError


@dataclass(frozen=True)
class ConnectionOptions:
    """How to connect to the target, and how to read its replies."""

    connections: int | None = option(
        "--connections",
        type=COUNT,
        help="Persistent connections. [default: enough for --users, or 1]",
    )
    in_flight: int | None = option(
        "--in-flight",
        type=COUNT,
        help="Calls in flight per connection (pipelined with HTTP/1.1). [default: 1]",
    )
    http2: bool = option("--http2", is_flag=True, help="Use HTTP/2 with prior knowledge.")
    wait_settings: bool = option(
        "--wait-settings",
        is_flag=True,
        help="Open HTTP/2 streams only after the server's SETTINGS, so that none exceeds its limit "
        "of streams.",
    )
    close: bool = option("--close", is_flag=True, help="Open a new connection for each call.")
    work: str | None = option(
        "--work",
        metavar="WORK",
        help="How to read replies: decode (fully), or frame (no full decode).",
    )
    ca: Path | None = option(
        "--ca",
        metavar="FILE",
        type=PATH,
        help="PEM file with certificate authorities or the server's own certificate. "
        "[default: the system's authorities]",
    )
    insecure: bool = option(
        "--insecure", is_flag=True, help="Do not verify the server's certificate."
    )
    sni: str | None = option(
        "--sni",
        metavar="NAME",
        help="Server name for TLS, also for the certificate. [default: the host of the URL]",
    )
    resolve: str | None = option(
        "--resolve",
        metavar="HOST:PORT:ADDRESS",
        help="Connect to this IP address for that host and port, as in curl.",
    )
    any_target: bool = option(
        "--any-target", is_flag=True, help="Allow a server on another machine."
    )
    postgres: str = option(
        "--postgres",
        metavar="URL",
        callback=postgres_url,
        default="",
        help=f"{POSTGRES_HELP} Needs a stack with store=postgres.",
    )
    ready_timeout_s: float | None = option("--ready-timeout", **READY_TIMEOUT_OPTION)
    reconnect_delay: str = option(
        "--reconnect-delay",
        metavar="TIME",
        default="128ms",
        show_default=True,
        help="Longest pause before the next attempt to connect after failures in a row. Pauses "
        "begin at 1ms and double; 0s: none.",
    )
    head_bytes: int = option(
        "--head-bytes",
        type=click.IntRange(1_024, 16 << 20),
        default=256 << 10,
        show_default=True,
        help="Size of the largest head of a reply that is accepted.",
    )
    head_fields: int = option(
        "--head-fields",
        type=click.IntRange(16, 65_536),
        default=256,
        show_default=True,
        help="Number of header fields that a reply of HTTP/1.x may have.",
    )


@dataclass(frozen=True)
class LoadOptions:
    """How many calls, how fast, and for how long."""

    users: int | None = option(
        "--users",
        type=COUNT,
        help="Number of users of a closed load. [default: connections x in-flight]",
    )
    rate: float | None = option(
        "--rate",
        metavar="PER_SECOND",
        type=float,
        help="Calls per second, evenly spaced (open load).",
    )
    poisson: bool = option(
        "--poisson",
        is_flag=True,
        help="Random (Poisson) arrivals at --rate, or at the rates of --stage.",
    )
    seed: int | None = option(
        "--seed",
        type=click.IntRange(0, 2**63),
        help="Random seed for arrivals, pauses, gaps, mix and data. [default: 1]",
    )
    duration: str | None = option(
        "--duration",
        metavar="TIME",
        help="Length of the measurement window, e.g. 500ms or 3s. [default: 3s]",
    )
    calls: int | None = option(
        "--calls",
        type=click.IntRange(1, 2**63),
        help="Number of calls to make, instead of --duration.",
    )
    max_time: str | None = option(
        "--max-time",
        metavar="TIME",
        help="Time limit for --calls and --iterations. [default: 10min]",
    )
    warmup: str = option(
        "--warmup",
        metavar="TIME",
        default="0s",
        show_default=True,
        help="Warm-up before the window; its calls are not counted.",
    )
    timeout: str = option(
        "--timeout",
        metavar="TIME",
        default="10s",
        show_default=True,
        help="Time limit for one call.",
    )


@dataclass(frozen=True)
class PatternOptions:
    """How the load changes over time, and when users pause and stop."""

    stages: Sequence[str] = option(
        "--stage",
        metavar="TIME:LEVEL",
        multiple=True,
        help="Reach this level in this time, linearly from 0: users, e.g. 30s:100, or calls per "
        "second, e.g. 30s:500/s. 0s is a step. May be repeated; stages follow one another.",
    )
    start_rate: float | None = option(
        "--start-rate",
        metavar="PER_SECOND",
        type=float,
        help="Initial rate of the stages. [default: 0]",
    )
    burst: str | None = option(
        "--burst",
        metavar="CALLS|TIME",
        help="Calls per burst, at once or at --rate; or a length at --rate, e.g. 200ms.",
    )
    gap: str | None = option(
        "--gap",
        metavar="[DIST:]TIME",
        help="Time from the end of a --burst to the next, e.g. 1s or uniform:1s.",
    )
    think: str | None = option(
        "--think",
        metavar="[DIST:]TIME",
        help="Pause of a user between calls, e.g. 100ms, exponential:2s or uniform:2s (1s to 3s). "
        "[default: none]",
    )
    calls_per_pause: int | None = option(
        "--calls-per-pause", type=COUNT, help="Calls between two pauses of --think. [default: 1]"
    )
    iterations: int | None = option(
        "--iterations",
        type=click.IntRange(1, 1_000_000_000),
        help="Number of calls that each user makes, instead of --duration.",
    )


@dataclass(frozen=True)
class MessageOptions:
    """What to call, and with which message: URLs."""

    method: str | None = option(
        "--method", metavar="METHOD", help="HTTP method. [default: GET, or POST]"
    )
    headers: Sequence[str] = option(
        "--header",
        metavar="HEADER",
        multiple=True,
        help="Header or gRPC metadata as 'Name: value'. May be repeated, also for one name; Host "
        "replaces the host of the URL.",
    )
    data: str | None = option(
        "--data",
        metavar="TEXT",
        help="HTTP body as text, or gRPC message as JSON. A JSON body is sent as application/json, "
        "unless --header sets another content-type.",
    )
    body: Path | None = option(
        "--body",
        metavar="FILE",
        type=PATH,
        help="File with the HTTP body, or with the encoded protobuf message; - is standard input.",
    )
    expect_status: int | None = option(
        "--expect-status",
        metavar="CODE",
        type=click.IntRange(200, 599),
        help="HTTP status of a correct reply, e.g. 304. [default: any 2xx]",
    )
    follow: bool = option(
        "--follow",
        is_flag=True,
        help="Follow redirects once before the load, and load the final URL.",
    )
    cookies: bool = option(
        "--cookies",
        is_flag=True,
        help="Fetch cookies once before the load, and send them in every call.",
    )
    proto: Path | None = option(
        "--proto",
        metavar="FILE",
        type=PATH,
        help=".proto file of the method or of --message-type. [default: server reflection]",
    )
    message_type: str | None = option(
        "--message-type",
        metavar="NAME",
        help="Send the JSON of --data or --body over HTTP as Protobuf of this type of --proto, "
        "e.g. shop.Order.",
    )
    imports: Sequence[Path] = option(
        "--import",
        metavar="DIR",
        type=PATH,
        multiple=True,
        help="Import folder for --proto. May be repeated.",
    )


@dataclass(frozen=True)
class ContractOptions:
    """What to call, and with which message: services of wirelab."""

    operation: str | None = option(
        "--operation",
        metavar="NAME",
        help="Operation of any contract. [default: Hello; with sse: Feed]",
    )
    sequence: str | None = option(
        "--sequence",
        metavar="NAME",
        help="Sequence of the charging contract, instead of --operation.",
    )
    size: str | None = option(
        "--size",
        metavar="SIZE",
        help="Message size, e.g. '150 kB', or '2 kB of json'. [default: 14 B]",
    )
    items: int | None = option(
        "--items",
        type=click.IntRange(1, 1_000_000),
        help="Number of items per stream, for --operation Feed, Push and Chat. [default: 100]",
    )
    item_gap: str | None = option(
        "--item-gap", metavar="TIME", help="Mean gap between two items. [default: 10ms]"
    )
    item_pattern: str | None = option(
        "--item-pattern",
        type=click.Choice(["constant", "bursts", "pause", "tokens"]),
        help="How items are spread over time. [default: constant]",
    )
    mix: Sequence[str] = option(
        "--mix",
        metavar="NAME[:SIZE][@WEIGHT]",
        multiple=True,
        help="Weighted operation, e.g. Submit:1kB@3. Repeat it for a mix: each arrival is one of "
        "them.",
    )
    steps: Sequence[str] = option(
        "--step",
        metavar="NAME[:SIZE][:FIELD=REPLY_FIELD]",
        multiple=True,
        help="One call of a sequence, e.g. GetOwner:id=id, which copies a field of the previous "
        "reply into the request. @N takes the reply of step N, counted from 0. Repeat it for each "
        "step.",
    )
    data_file: Path | None = option(
        "--data-file",
        metavar="FILE",
        type=PATH,
        help="CSV (.csv) or JSON lines (.jsonl); columns replace request fields by name.",
    )
    data_random: Sequence[str] = option(
        "--data-random",
        metavar="FIELD=VALUES",
        multiple=True,
        help="Request field with random values, e.g. id=integer:1:100, name=text:8 (letters) or "
        "city=choice:Oslo,Bergen. May be repeated.",
    )
    data_rows: int | None = option(
        "--data-rows",
        type=click.IntRange(1, 1_000_000),
        help="Number of rows for --data-random. [default: 1000]",
    )
    data_per: str | None = option(
        "--data-per",
        metavar="call|user",
        type=click.Choice(["call", "user"]),
        help="Take the next row for each call, or one row per user. [default: call]",
    )


@dataclass(frozen=True)
class OutputOptions:
    """What to show and write."""

    slowest: int | None = option(
        "--slowest",
        type=click.IntRange(1, 1000),
        help="List the N slowest calls, and compare the slowest 1 % with those around the median.",
    )
    tui: bool = option("--tui", is_flag=True, help="Draw live charts of the last seconds.")
    report: Path | None = option(
        "--report", metavar="FILE", type=PATH, help="Write an HTML page with charts (one file)."
    )
    as_json: bool = option(
        "--json",
        is_flag=True,
        help="Print the result as JSON; see `wirelab schema drive`.",
    )


@dataclass(frozen=True)
class Options:
    """Options as given; None, empty or False if not given."""

    target: str
    connection: ConnectionOptions
    load: LoadOptions
    pattern: PatternOptions
    message: MessageOptions
    stream: StreamOptions
    contract: ContractOptions
    thresholds: DriveThresholdOptions
    output: OutputOptions
    clients: ClientsOptions

    @property
    def seed(self) -> int:
        """Seed for everything random."""
        return 1 if self.load.seed is None else self.load.seed


RATE_STAGE = "--stage TIME:RATE/s"
RANDOM_THINK, RANDOM_GAP = "--think exponential:TIME", "--gap exponential:TIME"

_CLOSED = ("--users", "--think", "--calls-per-pause", "--iterations")
"""Options of closed loads: users wait for replies."""
_OPEN = ("--rate", "--burst", RATE_STAGE)
"""Options of open loads: calls arrive whether or not replies come."""
_WHOLE = "is measured from its beginning to its end"
_DATA = ("--data-file", "--data-random")
_ITEMS = ("--items", "--item-gap", "--item-pattern")

_EXCLUDING: tuple[tuple[str, tuple[str, ...], str, str], ...] = (
    ("--duration", ("--calls",), "", "give only one of them"),
    ("--iterations", ("--stage",), "each decides when users stop", "give only one of them"),
    ("--stage", ("--burst",), "each is a load of its own", "give only one of them"),
    (
        *("--stage", ("--users", "--rate"), "stages set the level"),
        "write it in the stages, e.g. --stage 30s:100 (users) or 30s:500/s (calls per second)",
    ),
    (
        *("--stage", ("--duration", "--calls", "--warmup"), f"a load with stages {_WHOLE}"),
        "add a stage that lasts as long, e.g. --stage 0s:100 --stage 5s:100",
    ),
    (
        *(
            "--iterations",
            ("--duration", "--calls", "--warmup"),
            f"a load with iterations {_WHOLE}",
        ),
        "give only one of them; --max-time limits iterations",
    ),
    (
        *("--burst", ("--poisson",), "calls within a burst are evenly spaced"),
        "for random gaps between bursts give --gap exponential:1s",
    ),
    ("--data", ("--body",), "", "give only one of them"),
    ("--insecure", ("--ca",), "", "give only one of them"),
    ("--mix", ("--step", "--operation", "--sequence"), "each selects the calls", "give only one"),
    ("--step", ("--operation", "--sequence"), "each selects the calls", "give only one of them"),
    (
        *("--size", ("--mix", "--step"), "each operation in it has its own size"),
        "write the size after the operation, e.g. Submit:1kB",
    ),
    ("--data-file", ("--data-random",), "each is a source of rows", "give only one of them"),
    *(
        (
            *(option, ("--mix", "--sequence"), "rows replace fields of --operation or --step"),
            "give only one of them; in an experiment file each part of a mix may have data",
        )
        for option in _DATA
    ),
    *(
        (
            *(option, ("--mix", "--step", "--sequence", *_DATA), "items belong to one operation"),
            "use --operation Feed, Push or Chat",
        )
        for option in _ITEMS
    ),
    *of_streams.EXCLUDING,
)
"""Option, the options that it excludes, the reason, and the remedy."""

_BELONGING: tuple[tuple[str, tuple[str, ...]], ...] = (
    ("--seed", ("--poisson", "--mix", "--data-random", RANDOM_THINK, RANDOM_GAP)),
    ("--max-time", ("--calls", "--iterations")),
    ("--import", ("--proto",)),
    ("--message-type", ("--proto",)),
    ("--gap", ("--burst",)),
    ("--calls-per-pause", ("--think",)),
    ("--start-rate", (RATE_STAGE,)),
    ("--data-rows", ("--data-random",)),
    ("--data-per", _DATA),
    ("--hosts", ("--clients",)),
    ("--insecure-ray", ("--hosts",)),
    *of_streams.BELONGING,
)
"""Option, and the options of which it needs at least one."""


def refuse_contradictions(options: Options) -> None:
    """Raises :class:`UsageError` for the first contradiction."""
    # Compared by identity: 0 counts as given, although it equals False.
    absent = (None, False)
    given = {
        name
        for name, value in _list_given(options).items()
        if value != () and not any(value is one for one in absent)
    }
    for opened in filter(given.__contains__, _OPEN):
        for closed in filter(given.__contains__, _CLOSED):
            if (opened, closed) != (RATE_STAGE, "--users"):
                _refuse_closed(opened, closed)
    for name, others, why, remedy in _EXCLUDING:
        for other in others:
            if {name, other} <= given:
                reason = f": {why}" if why else ""
                raise UsageError(f"{name} and {other} exclude each other{reason}", remedy)
    _refuse_alone(given)
    in_flight = options.connection.in_flight or 1
    if options.connection.close and in_flight > 1:
        raise UsageError(
            f"--close uses one connection per call, so --in-flight {in_flight} is not possible",
            "give only one of them",
        )


def _refuse_closed(opened: str, closed: str) -> None:
    raise UsageError(
        f"{closed} is for closed loads, but {opened} makes an open load",
        "limit an open load with --connections and --in-flight",
    )


def _refuse_alone(given: set[str]) -> None:
    """Refuses options without the option that they need."""
    if "--poisson" in given and not given & {"--rate", RATE_STAGE}:
        raise UsageError(f"--poisson needs --rate or {RATE_STAGE}", "give --rate CALLS_PER_SECOND")
    if "--burst" in given and "--gap" not in given:
        raise UsageError(
            "--burst needs --gap, the time between two bursts", "add it, e.g. --gap 1s"
        )
    for name, owners in _BELONGING:
        if name in given and not given.intersection(owners):
            words = f"{', '.join(owners[:-1])} or {owners[-1]}" if owners[1:] else owners[0]
            raise UsageError(f"{name} needs {words}", f"add {owners[0]}, or leave {name} out")


def _list_given(options: Options) -> Mapping[str, object]:
    """Option values by option name; None, False or () if not given."""
    load, pattern = options.load, options.pattern
    groups = (
        *(options.connection, load, pattern, options.message, options.stream),
        *(options.contract, options.clients),
    )
    return {
        **{name: value for group in groups for name, value in values_by_option(group).items()},
        "--warmup": load.warmup.strip() not in ("0s", "0 s"),
        RATE_STAGE: any(stage.endswith("/s") for stage in pattern.stages),
        RANDOM_GAP: _is_random(pattern.gap),
        RANDOM_THINK: _is_random(pattern.think),
    }


def _is_random(spread: str | None) -> bool:
    return spread is not None and spread.startswith(("exponential", "uniform"))
