"""Self-tests with the real engine and the services in Rust.

``wirelab doctor --self-test`` runs them on the user's machine, and the test suite runs the same
functions. Each returns a :class:`SelfTestResult`: the measurements, and whether the test holds.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial

from wirelab.selftest.known_answers import (
    KINDS,
    check_known_answer,
    freeze,
    same_services,
    wrong_replies,
)
from wirelab.selftest.rates import (
    check_rate,
    concurrency,
    poisson_calls,
    poisson_gaps,
    schedule_lag,
)
from wirelab.selftest.scenarios import check_scenarios
from wirelab.selftest.testbed import SelfTestResult, Testbed, open_testbed

STACKS = ("rest@rust", "grpc@rust")
Test = Callable[[], SelfTestResult]

__all__ = [
    "KINDS",
    "STACKS",
    "SelfTestResult",
    "Test",
    "Testbed",
    "check_known_answer",
    "check_rate",
    "check_scenarios",
    "concurrency",
    "freeze",
    "name",
    "open_testbed",
    "poisson_calls",
    "poisson_gaps",
    "same_services",
    "schedule_lag",
    "self_tests",
    "wrong_replies",
]


def self_tests(bench: Testbed) -> Iterator[Test]:
    """All tests, ready to be called one after the other."""
    for test in (check_known_answer, freeze, concurrency, check_rate, schedule_lag, poisson_calls):
        for stack in STACKS:
            yield partial(test, bench, stack)
    yield poisson_gaps
    for stack, kinds in KINDS.items():
        for kind in kinds:
            yield partial(wrong_replies, bench, stack, kind)
    for stack in STACKS:
        yield partial(same_services, bench, stack)
    yield partial(check_scenarios, bench)


def name(test: Test) -> str:
    """Name of a test before it has run."""
    if isinstance(test, partial):
        return ", ".join([test.func.__name__, *(str(part) for part in test.args[1:])])
    return getattr(test, "__name__", "test")
