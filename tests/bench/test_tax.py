"""Engine overhead: real calls over real services, and bytes that are made equal."""

from __future__ import annotations

import json

import pytest

from bench.process import BenchError
from bench.races import CLIENT_CORE, SERVER_CORE
from bench.rows import tax
from bench.rows.tax import Exchange, measure_bytes, of_as_many_bytes
from bench.servers import ENGINE, run_service
from wirelab.stack.reference import Stack

pytestmark = pytest.mark.skipif(not ENGINE.exists(), reason="make setup builds the engine")


def submit(reference: str, size: int = 200) -> Exchange:
    """Submit over a stack."""
    return Exchange(Stack.parse(reference), "transfer", "Submit", size)


@pytest.mark.parametrize("reference", sorted(tax.STACKS.values()))
def test_bytes_are_made_equal_over_every_stack(reference: str) -> None:
    """A larger message is found that moves twice the bytes, whatever the stack adds to it."""
    exchange = submit(reference)
    with run_service(exchange, SERVER_CORE) as service:
        bound_text = 2 * measure_bytes(exchange, service, CLIENT_CORE)
        found = of_as_many_bytes(exchange, bound_text, service, CLIENT_CORE)
        assert found.bytes > exchange.bytes
        assert measure_bytes(found, service, CLIENT_CORE) == pytest.approx(bound_text, rel=0.05)


def test_bytes_that_no_size_can_reach_are_an_error() -> None:
    """SOAP cannot move 50 B per call: its envelope alone is longer."""
    exchange = submit("soap@rust")
    with run_service(exchange, SERVER_CORE) as service, pytest.raises(BenchError):
        of_as_many_bytes(exchange, 50.0, service, CLIENT_CORE)


def test_a_row_has_every_contender_in_every_round() -> None:
    """CPU and bytes of each, and one ratio to REST with both sides of its bound."""
    taxed = tax.run("tax-iiop", pairs=2, seconds=0.5)
    names = {tax.FRAME, tax.DECODE, tax.SMALL, tax.EQUAL, tax.REST_EQUAL}
    assert [set(rnd) for rnd in taxed.rounds] == [names, names]
    for reading in (reading for rnd in taxed.rounds for reading in rnd.values()):
        assert reading.calls > 0
        assert reading.client_cpu_s > 0
        assert reading.bytes_per_call
    (ratio,) = taxed.ratios
    assert (ratio.at_least, ratio.at_most, ratio.format_bound()) == (0.8, 1.2, "0.8 to 1.2")


def test_rest_in_json_is_not_compared_with_itself() -> None:
    """The stack that all others are compared with has no ratio."""
    assert tax.run("tax-rest-json", pairs=1, seconds=0.5).ratios == []


def test_the_plan_names_the_object_of_iiop() -> None:
    """Its address alone does not tell which object is called."""
    exchange = submit("iiop@rust")
    with run_service(exchange, SERVER_CORE) as service:
        group = json.loads(exchange.write_plan(service, tax.LOAD, "frame", {"duration_s": 1.0}))
    assert group["groups"][0]["object"].startswith("IOR:")
