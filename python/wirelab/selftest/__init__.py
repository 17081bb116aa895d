"""Tests of truth on the real engine and the embedded services.

``wirelab doctor --self-test`` runs them on the user's machine, and the test suite runs
the same functions. Each returns a :class:`Truth`: what was found, and whether it holds.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial

from wirelab.selftest.bed import Bed, Truth, bed
from wirelab.selftest.freeze import freeze
from wirelab.selftest.known_answer import known_answer
from wirelab.selftest.rates import (
    achieved_rate,
    concurrency,
    poisson_calls,
    poisson_gaps,
    schedule_lag,
)
from wirelab.selftest.same_services import same_services
from wirelab.selftest.seeded_worlds import seeded_worlds
from wirelab.selftest.wrong_replies import KINDS, wrong_replies

STACKS = ("rest@rust", "grpc@rust")
Test = Callable[[], Truth]

__all__ = [
    "KINDS",
    "STACKS",
    "Bed",
    "Test",
    "Truth",
    "achieved_rate",
    "bed",
    "concurrency",
    "freeze",
    "known_answer",
    "name",
    "poisson_calls",
    "poisson_gaps",
    "same_services",
    "schedule_lag",
    "seeded_worlds",
    "truths",
    "wrong_replies",
]


def truths(where: Bed) -> Iterator[Test]:
    """All tests, ready to be called one after the other."""
    for test in (known_answer, freeze, concurrency, achieved_rate, schedule_lag, poisson_calls):
        for stack in STACKS:
            yield partial(test, where, stack)
    yield poisson_gaps
    for stack, kinds in KINDS.items():
        for kind in kinds:
            yield partial(wrong_replies, where, stack, kind)
    for stack in STACKS:
        yield partial(same_services, where, stack)
    yield partial(seeded_worlds, where)


def name(test: Test) -> str:
    """What a test is called before it has run."""
    if isinstance(test, partial):
        return ", ".join([test.func.__name__, *(str(part) for part in test.args[1:])])
    return getattr(test, "__name__", "test")
