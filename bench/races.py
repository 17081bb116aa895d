"""A race: contenders that take turns on one running service."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from statistics import median

from bench import engine
from bench.bounds import Bound, Ratio, Round
from bench.engine import Load
from bench.peers import Peer
from bench.process import BenchError, Count, Finished, Reading, busy_s, run_on_core
from bench.servers import Running, Service, run_service

SERVER_CORE, CLIENT_CORE = 0, 1
OURS, OURS_DECODE = "ours", "ours, decode"


@dataclass(frozen=True)
class Race:
    """One service, one load, and who is compared under it."""

    key: str
    title: str
    service: Service
    load: Load
    peers: tuple[Peer, ...]
    bounds: tuple[Bound, ...]


@dataclass(frozen=True)
class Raced:
    """Every reading of a race, and the ratios that follow from them."""

    race: Race
    rounds: list[Round]
    ratios: list[Ratio]

    @property
    def megabytes(self) -> float:
        """Size of a reply's text, MB."""
        return self.race.service.hello_bytes / 1e6

    @property
    def others_share(self) -> float:
        """Median share of the two cores that went to neither side."""
        return median(reading.others_share for rnd in self.rounds for reading in rnd.values())


@dataclass(frozen=True)
class Contender:
    """How one side is started, and how its answer is read."""

    name: str
    command: tuple[str, ...]
    given: str
    count: Callable[[Finished], Count]


def run_race(
    race: Race, programs: dict[str, str], rounds: int, rounds_max: int, seconds: int
) -> Raced:
    """`rounds`, each with every contender once, in the order of :func:`turns`.
    When a bound is missed and yet not shown to be broken, there are `rounds_max` in all.

    `programs` maps a peer's program to its path; peers that are not in it are left out.
    """
    with run_service(race.service, SERVER_CORE) as service:
        field = contenders(race, programs, service.address, seconds)
        warm_up(race, service)
        taken = [one_round(field, number, service) for number in range(rounds)]
        if any(ratio.missed and not ratio.broken for ratio in ratios(race, taken)):
            more = range(rounds, rounds_max)
            taken += [one_round(field, number, service) for number in more]
    return Raced(race, taken, ratios(race, taken))


def one_round(field: list[Contender], number: int, service: Running) -> Round:
    """Every contender once."""
    readings = {place: measure(field[place], service) for place in turns(len(field), number)}
    return {one.name: readings[place] for place, one in enumerate(field)}


def turns(contenders: int, number: int) -> list[int]:
    """Who comes when in round `number`, so that nobody has a better place or neighbour.

    In 2 x `contenders` rounds each is in every place twice, and follows each other one
    equally often (Williams 1949, Experimental designs balanced for the estimation of
    residual effects of treatments).
    """
    zigzag = [(k + 1) // 2 if k % 2 else -(k // 2) for k in range(contenders)]
    order = [(place + number // 2) % contenders for place in zigzag]
    return order if number % 2 == 0 else order[::-1]


def ratios(race: Race, rounds: list[Round]) -> list[Ratio]:
    """Those whose peers could be had."""
    found = [bound.ratio(rounds) for bound in race.bounds]
    return [ratio for ratio in found if ratio is not None]


def contenders(race: Race, programs: dict[str, str], address: str, seconds: int) -> list[Contender]:
    """Ours with work=frame and work=decode, then the peers that could be had."""
    field = [
        _ours(race, address, work, {"duration_s": float(seconds)}) for work in ("frame", "decode")
    ]
    for peer in race.peers:
        if peer.program in programs:
            arguments = peer.command(address, race.load, seconds)
            field.append(Contender(peer.name, (programs[peer.program], *arguments), "", peer.count))
    return field


def warm_up(race: Race, service: Running) -> None:
    """Half a second that is not counted, so that the first contender meets a warm service."""
    measure(_ours(race, service.address, "frame", {"duration_s": 0.5}), service)


def measure(contender: Contender, service: Running, namespace: str | None = None) -> Reading:
    """One run of one contender, in the network namespace of that name.

    Raises:
        BenchError: it made no call, or some of its calls failed.
    """
    before, busy_before = service.cpu_s(), busy_s((SERVER_CORE, CLIENT_CORE))
    finished = run_on_core(CLIENT_CORE, contender.command, contender.given, namespace=namespace)
    server_cpu_s = service.cpu_s() - before
    both_s = busy_s((SERVER_CORE, CLIENT_CORE)) - busy_before
    count = contender.count(finished)
    if count.calls == 0 or count.errors:
        raise BenchError(
            f"{contender.name}: {count.calls} calls ended well, {count.errors} did not"
        )
    return Reading(
        contender.name,
        contender.command,
        count.calls,
        count.errors,
        count.rate_per_s,
        finished.cpu_s,
        server_cpu_s,
        finished.wall_s,
        both_s - finished.cpu_s - server_cpu_s,
        count.bytes_per_call,
        count.p50_us,
        count.spin_s,
    )


def _ours(race: Race, address: str, work: str, window: dict[str, float]) -> Contender:
    given = engine.write_plan(race.service, address, race.load, work, window)
    name = OURS if work == "frame" else OURS_DECODE
    return Contender(name, engine.COMMAND, given, engine.count)
