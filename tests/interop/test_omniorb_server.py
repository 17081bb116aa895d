"""The engine calls a server of omniORB by its IOR, in both byte orders."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from tests.interop import golden, omniorb, omniorb_server
from tests.interop.driving import (
    CALLS,
    HERE,
    READY_S_MAX,
    Engine,
    Json,
    all_failed,
    all_good,
    some_failed,
)
from wirelab.process.children import Child, ProcessOptions

ORDERS = ["little", "big"]


@contextmanager
def _server(contract: str, folder: Path) -> Iterator[str]:
    """The IOR of a server of that contract."""
    omniorb.require()
    omniorb.compile_idl(contract, folder)
    options = [*omniorb.OPTIONS, "-ORBendPoint", "giop:tcp:127.0.0.1:"]
    script = [str(HERE / "omniorb_server.py"), str(folder), contract, *options]
    environment = ["env", f"PYTHONPATH={golden.ROOT}"]
    child = Child(
        [*environment, sys.executable, *script], ProcessOptions(log=folder / "server.log")
    )
    try:
        ior = child.line(READY_S_MAX)
        assert ior, child.log_tail()
        yield ior.decode().strip()
    finally:
        child.kill()


def _call(operation: str, contract: str, **more: int) -> Json:
    return {"kind": "contract", "contract": contract, "operation": operation, **more}


@pytest.mark.parametrize("order", ORDERS)
def test_calls_of_charging(order: str, tmp_path: Path) -> None:
    """A thousand calls on one connection; sequences with numbers of its own; a user
    exception, counted and reported."""
    stack = f"iiop@rust?byte_order={order}"
    with _server("charging", tmp_path) as ior:
        driver = Engine(tmp_path / "log")
        one = _call("CreditControl", "charging", accounts=1)
        all_good(driver.drive(stack, one, object=ior))

        sequence = {"kind": "sequence", "contract": "charging", "accounts": 1}
        outcome = driver.drive(stack, {**sequence, "function": "ReservationDebit"}, 250, object=ior)
        all_good(outcome, CALLS)
        assert outcome["sequences"]["count"] == 250

        missing = _call("DirectDebit", "charging", accounts=2)
        some_failed(driver.drive(stack, missing, 50, users=2, object=ior), "no such account")


@pytest.mark.parametrize("order", ORDERS)
def test_large_messages(order: str, tmp_path: Path) -> None:
    """3 MB each way; omniORB may send them in fragments."""
    stack = f"iiop@rust?byte_order={order}"
    with _server("transfer", tmp_path) as ior:
        driver = Engine(tmp_path / "log")
        size = omniorb_server.HELLO_BYTES
        for operation in ("Hello", "HelloBytes", "Upload"):
            workload = _call(operation, "transfer", bytes=size)
            all_good(driver.drive(stack, workload, 10, object=ior), 10)
        refused = driver.drive(stack, _call("Submit", "transfer", bytes=200), 3, object=ior)
        all_failed(refused, "application", "batch must not be empty")
