"""Options of ``wirelab drive`` that exclude each other or need another option."""

from __future__ import annotations

from collections.abc import Mapping

from wirelab.cli.options.drive import Options
from wirelab.errors import UsageError

RATE_STAGE = "--stage TIME:RATE/s"
RANDOM_THINK, RANDOM_GAP = "--think exponential:TIME", "--gap exponential:TIME"

_CLOSED = ("--users", "--think", "--calls-per-pause", "--iterations")
"""Options of closed loads: users wait for replies."""
_OPEN = ("--rate", "--burst", RATE_STAGE)
"""Options of open loads: calls arrive whether or not replies come."""
_WHOLE = "is measured from its beginning to its end"
_DATA = ("--data-file", "--data-random")

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
)
"""Option, the options that it excludes, the reason, and the remedy."""

_BELONGING: tuple[tuple[str, tuple[str, ...]], ...] = (
    ("--seed", ("--poisson", "--mix", "--data-random", RANDOM_THINK, RANDOM_GAP)),
    ("--max-time", ("--calls", "--iterations")),
    ("--import", ("--proto",)),
    ("--gap", ("--burst",)),
    ("--calls-per-pause", ("--think",)),
    ("--start-rate", (RATE_STAGE,)),
    ("--data-rows", ("--data-random",)),
    ("--data-per", _DATA),
)
"""Option, and the options of which it needs at least one."""


def refuse_contradictions(options: Options) -> None:
    """Raises :class:`UsageError` for the first contradiction."""
    # Compared by identity: 0 counts as given, although it equals False.
    absent = (None, False)
    given = {
        name
        for name, value in _given(options).items()
        if value != () and not any(value is one for one in absent)
    }
    for opened in filter(given.__contains__, _OPEN):
        for closed in filter(given.__contains__, _CLOSED):
            if (opened, closed) != (RATE_STAGE, "--users"):
                _refuse_closed(opened, closed)
    for option, others, why, remedy in _EXCLUDING:
        for other in others:
            if {option, other} <= given:
                reason = f": {why}" if why else ""
                raise UsageError(f"{option} and {other} exclude each other{reason}", remedy)
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
    for option, owners in _BELONGING:
        if option in given and not given.intersection(owners):
            words = f"{', '.join(owners[:-1])} or {owners[-1]}" if owners[1:] else owners[0]
            raise UsageError(f"{option} needs {words}", f"add {owners[0]}, or leave {option} out")


def _given(options: Options) -> Mapping[str, object]:
    """Option values by option name; None, False or () if not given."""
    load, pattern = options.load, options.pattern
    message, contract = options.message, options.contract
    return {
        "--users": load.users,
        "--rate": load.rate,
        "--poisson": load.poisson,
        "--seed": load.seed,
        "--duration": load.duration,
        "--calls": load.calls,
        "--max-time": load.max_time,
        "--warmup": load.warmup.strip() not in ("0s", "0 s"),
        "--stage": tuple(pattern.stages),
        RATE_STAGE: any(stage.endswith("/s") for stage in pattern.stages),
        "--start-rate": pattern.start_rate,
        "--burst": pattern.burst,
        "--gap": pattern.gap,
        RANDOM_GAP: _is_random(pattern.gap),
        "--think": pattern.think,
        RANDOM_THINK: _is_random(pattern.think),
        "--calls-per-pause": pattern.calls_per_pause,
        "--iterations": pattern.iterations,
        "--insecure": options.connection.insecure,
        "--ca": options.connection.ca,
        "--data": message.data,
        "--body": message.body,
        "--proto": message.proto,
        "--import": tuple(message.imports),
        "--operation": contract.operation,
        "--sequence": contract.sequence,
        "--size": contract.size,
        "--mix": tuple(contract.mix),
        "--step": tuple(contract.steps),
        "--data-file": contract.data_file,
        "--data-random": tuple(contract.data_random),
        "--data-rows": contract.data_rows,
        "--data-per": contract.data_per,
    }


def _is_random(spread: str | None) -> bool:
    return spread is not None and spread.startswith(("exponential", "uniform"))
