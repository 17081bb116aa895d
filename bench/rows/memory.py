"""What the engine holds in memory: per connection, and per call (nothing)."""

from __future__ import annotations

from dataclasses import dataclass

from bench import engine
from bench.bounds import Ratio
from bench.engine import Load
from bench.process import LIMIT_S, BenchError, run_on_core
from bench.races import CLIENT_CORE, SERVER_CORE
from bench.servers import REST_SMALL, Running, run_service

FEW, MANY = 50, 10_000
KB_PER_CONNECTION_MAX = 16
# Pages that the allocator and the kernel round up to: what "equal" means here.
SAME_MEMORY = 1.05


@dataclass(frozen=True)
class Held:
    """Peak memory of one run of the engine."""

    what: str
    command: tuple[str, ...]
    connections: int
    calls: int
    errors: int
    rss_peak_bytes: int


@dataclass(frozen=True)
class Weighed:
    """The runs of a memory row, and the figures that follow from them."""

    key: str
    title: str
    runs: list[Held]
    figures: list[Ratio]


def connections(pairs: int, seconds: int) -> Weighed:
    """10,000 connections in one process, less what the process weighs with 50.

    Raises:
        BenchError: a call failed, or not all connections were open at one time.
    """
    few: list[Held] = []
    many: list[Held] = []
    with run_service(REST_SMALL, SERVER_CORE) as service:
        for _ in range(pairs):
            few.append(_weigh(service, FEW, {"duration_s": float(seconds)}))
            many.append(_weigh(service, MANY, {"duration_s": float(seconds)}))
    each_kb = tuple(
        (more.rss_peak_bytes - less.rss_peak_bytes) / (MANY - FEW) / 1000
        for less, more in zip(few, many, strict=True)
    )
    figure = Ratio(
        "kB per connection", f"{MANY:,} less {FEW}", each_kb, at_most=KB_PER_CONNECTION_MAX
    )
    return Weighed("connections", "10,000 connections, no error", few + many, [figure])


def calls(pairs: int, fewer: int, more: int) -> Weighed:
    """Peak memory after many calls over peak memory after few."""
    short: list[Held] = []
    long: list[Held] = []
    with run_service(REST_SMALL, SERVER_CORE) as service:
        for _ in range(pairs):
            short.append(_weigh(service, FEW, _window(fewer)))
            long.append(_weigh(service, FEW, _window(more)))
    grown = tuple(
        many.rss_peak_bytes / few.rss_peak_bytes for few, many in zip(short, long, strict=True)
    )
    figure = Ratio("peak memory", f"{more:,} calls over {fewer:,}", grown, at_most=SAME_MEMORY)
    return Weighed("calls", "memory does not grow with calls", short + long, [figure])


def _window(calls: int) -> dict[str, object]:
    return {"calls": {"calls": calls, "max_s": LIMIT_S - 30}}


def _weigh(service: Running, count: int, window: dict[str, object]) -> Held:
    load = Load(count)
    given = engine.write_plan(REST_SMALL, service.address, load, "frame", window)
    finished = run_on_core(CLIENT_CORE, engine.COMMAND, given, memory=True)
    outcome = engine.outcome(finished)
    if outcome["errors"] or outcome["connections_peak"] != count:
        raise BenchError(
            f"{count} connections: {outcome['connections_peak']} were open, "
            f"{outcome['errors']} calls failed: {outcome['errors_by_kind']}"
        )
    planned = window.get("calls")
    if isinstance(planned, dict) and outcome["calls"] < planned["calls"]:
        raise BenchError(f"{outcome['calls']} of {planned['calls']} calls in {planned['max_s']} s")
    return Held(
        f"{count} connections",
        finished.command,
        count,
        outcome["calls_whole_run"],
        outcome["errors"],
        finished.rss_peak_bytes,
    )
