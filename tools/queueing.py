"""Queues with random arrivals: M/D/c by theory, and one worker with logged service times."""

from __future__ import annotations

from math import exp, floor

import numpy as np

from wirelab.statistics.sample import Floats


def queue_lengths(load: float, workers: int) -> Floats:
    """P(queue <= m), m = 0, 1, …; ``load`` is arrivals per service time, below ``workers``.

    The number in the system at multiples of the service time is a Markov chain: those who are in
    service leave, and Poisson many arrive (Crommelin 1932, Post Office Electrical Engineers'
    Journal 25).
    """
    # Beyond a queue of this length the chance falls below 1e-12: it decays by exp(-2 (1 - rho))
    # per customer, about.
    size = min(4_000, workers + 40 + int(14.0 / (1.0 - load / workers)))
    arrivals = _poisson(load, size)
    moves = np.zeros((size, size))
    for state in range(size):
        stay = max(0, state - workers)
        moves[state, stay:] = arrivals[: size - stay]
    moves[:, -1] += 1.0 - moves.sum(axis=1)
    balance = moves.T - np.eye(size)
    balance[-1] = 1.0
    states = np.linalg.solve(balance, np.eye(size)[-1])
    return np.asarray(np.cumsum(states)[workers:])


def wait_at_most(time: float, rate: float, workers: int, service: float) -> float:
    """P(wait <= time); Franx 2001, Operations Research Letters 29(5), equation 1."""
    if time < 0.0:
        return 0.0
    queue = queue_lengths(rate * service, workers)
    k = floor(time / service + 1e-12) + 1
    mean = rate * (k * service - time)
    total, term = 0.0, exp(-mean)
    for j in range(k * workers):
        at = min(k * workers - j - 1, queue.size - 1)
        total += float(queue[at]) * term
        term *= mean / (j + 1)
    return total


def rate_at(share: float, response: float, workers: int, service: float) -> float:
    """The rate at which ``share`` of all calls are answered within ``response``."""
    low, high = 0.0, workers / service * 0.9999
    for _ in range(30):
        middle = 0.5 * (low + high)
        within = wait_at_most(response - service, middle, workers, service)
        low, high = (middle, high) if within > share else (low, middle)
    return 0.5 * (low + high)


def rate_of_log(
    share: float, response: float, busy_s: Floats, *, calls: int = 400_000, seed: int = 1
) -> float:
    """The rate at which ``share`` of all random calls to one worker are answered within
    ``response``, if it is busy for such times: simulated by Lindley's equation, with the same
    random numbers at every rate."""
    rng = np.random.default_rng(seed)
    busy = rng.choice(busy_s, calls)
    gaps = rng.exponential(1.0, calls)
    low, high = 0.0, 1.0 / float(busy.mean())
    for _ in range(25):
        middle = 0.5 * (low + high)
        # The wait is the walk of busy time less gaps, above its lowest point so far.
        walk = np.concatenate([[0.0], np.cumsum(busy[:-1] - gaps[1:] / middle)])
        waits = walk - np.minimum.accumulate(walk)
        within = float(np.mean(waits + busy <= response))
        low, high = (middle, high) if within > share else (low, middle)
    return 0.5 * (low + high)


def _poisson(mean: float, size: int) -> Floats:
    found = np.empty(size)
    found[0] = exp(-mean)
    for k in range(1, size):
        found[k] = found[k - 1] * mean / k
    return found
