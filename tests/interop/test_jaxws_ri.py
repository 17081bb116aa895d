"""The engine calls an endpoint of the JAX-WS reference implementation, whose interfaces were
made from the committed WSDLs, in both versions of SOAP."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from tests.interop import driving, hosting
from tests.interop.driving import CALLS, Engine, Json, all_good, some_failed

VERSIONS = ["1.1", "1.2"]
DOCUMENT_BYTES = 1_048_576
"""The largest document that the contract allows."""


@contextmanager
def _endpoint(contract: str, version: str, folder: Path) -> Iterator[str]:
    hosting.engine()
    out = driving.build_java()
    port = driving.free_port()
    url = f"http://127.0.0.1:{port}/{contract}/soap"
    where = f"{out}/classes:{out}/lib/*"
    # Without it the JDK's server sends header and body apart under Nagle's algorithm, and
    # each call waits 44 ms for the engine's delayed acknowledgement.
    options = ["-XX:+UseSerialGC", "-Dsun.net.httpserver.nodelay=true", "-cp", where]
    command = ["java", *options, "interop.Serve", contract, version, url]
    with driving.run_server(command, folder / "server.log", port):
        yield f"127.0.0.1:{port}"


@pytest.mark.parametrize("version", VERSIONS)
def test_calls_of_charging(version: str, tmp_path: Path) -> None:
    """A thousand calls on one connection; sequences with numbers of its own; a fault,
    counted and reported."""
    stack = f"soap@rust?soap={version}"
    with _endpoint("charging", version, tmp_path) as target:
        driver = Engine(tmp_path / "log")
        one: Json = {"kind": "contract", "contract": "charging", "operation": "CreditControl"}
        all_good(driver.drive(stack, {**one, "accounts": 1}, target=target))

        sequence: Json = {"kind": "sequence", "contract": "charging", "accounts": 1}
        debit = {**sequence, "function": "ReservationDebit"}
        outcome = driver.drive(stack, debit, 250, target=target)
        all_good(outcome, CALLS)
        assert outcome["sequences"]["count"] == 250

        outcome = driver.drive(stack, {**one, "accounts": 2}, 50, users=2, target=target)
        some_failed(outcome, "no such account")


@pytest.mark.parametrize("version", VERSIONS)
def test_large_messages(version: str, tmp_path: Path) -> None:
    """Documents of 1 MiB."""
    with _endpoint("calendar", version, tmp_path) as target:
        deploy: Json = {"kind": "contract", "contract": "calendar", "operation": "Deploy"}
        workload = {**deploy, "bytes": DOCUMENT_BYTES}
        outcome = Engine(tmp_path / "log").drive(
            f"soap@rust?soap={version}", workload, 10, target=target
        )
        all_good(outcome, 10)
        assert outcome["bytes_sent"] > 10 * DOCUMENT_BYTES
