"""Simulated loads of known kind: when requests began, and how long they took.

Calls at a server do not queue. Its latencies have a lognormal body, on request a tail of 200 ms,
and freezes during which nothing ends. Pools need no model: a request is not assigned to a user.
"""

from __future__ import annotations

import heapq
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from wirelab.statistics.sample import Floats

Random = np.random.Generator
Times = tuple[Floats, Floats]
"""Begins and durations of requests, seconds, in the order of begins."""


@dataclass(frozen=True)
class Server:
    """Latencies of a server."""

    base_s: float
    spread: float
    tail_share: float
    freezes: tuple[tuple[float, float], ...]
    """Begin and length, seconds."""

    def end(self, began_s: float, random: Random) -> float:
        """When a call ends that begins then."""
        took = self.base_s * random.lognormal(0.0, self.spread)
        if random.random() < self.tail_share:
            took += random.uniform(0.1, 0.3)
        end = began_s + took
        for start, length in self.freezes:
            if began_s < start + length and end > start:
                end = max(end, start + length + took * random.random())
        return float(end)


def draw_server(random: Random, seconds: float) -> Server:
    """Two of five have a freeze, two of three a tail."""
    frozen = random.random() < 0.4
    freeze = (random.uniform(0.2, 0.8) * seconds, float(random.choice([0.2, 1.0])))
    return Server(
        base_s=float(random.choice([0.0005, 0.002, 0.005, 0.02])),
        spread=float(random.choice([0.02, 0.2, 0.5])),
        tail_share=float(random.choice([0.0, 0.01, 0.05])),
        freezes=(freeze,) if frozen else (),
    )


def run_open(server: Server, began_s: Floats, random: Random) -> Times:
    """A request at each of these times."""
    return began_s, np.array([server.end(at, random) for at in began_s]) - began_s


def draw_constant(rate: float, count: int, random: Random) -> Floats:
    """Times of a clock, with lateness, and up to three pauses of the tool after which it sends what
    was due."""
    times = np.arange(count) / rate
    times = times + np.abs(random.normal(0.0, random.choice([20e-6, 200e-6]), count))
    for at in random.uniform(0.0, count / rate, int(random.integers(0, 4))):
        late = (times > at) & (times < at + 0.02)
        times[late] = at + 0.02 + np.arange(late.sum()) * 30e-6
    return np.sort(times)


def draw_poisson(rate: float, count: int, random: Random) -> Floats:
    """Times of a Poisson process."""
    return np.asarray(np.cumsum(random.exponential(1.0 / rate, count)))


def run_closed(
    server: Server,
    users: int,
    think: Callable[[Random], float],
    count: int,
    random: Random,
    turn_s: float = 0.0,
) -> Times:
    """Users of which each waits for its reply, and thinks, before its next request. One program
    that acts for all of them needs ``turn_s`` for each."""
    due = [(random.uniform(0.0, 1e-3), user) for user in range(users)]
    heapq.heapify(due)
    began: list[float] = []
    took: list[float] = []
    while len(began) < count:
        at, user = heapq.heappop(due)
        at = max(at, began[-1] + turn_s) if began else at
        end = server.end(at, random)
        began.append(at)
        took.append(end - at)
        heapq.heappush(due, (end + think(random), user))
    return np.array(began), np.array(took)


def draw_think(mean_s: float, random: Random) -> Callable[[Random], float]:
    """A distribution of think times: constant, uniform or exponential."""
    return [
        lambda r: mean_s + abs(r.normal(0.0, 1e-4)),
        lambda r: mean_s * r.uniform(0.5, 1.5),
        lambda r: r.exponential(mean_s),
    ][int(random.integers(3))]
