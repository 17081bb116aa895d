"""The theory that the known capacities rest on."""

from __future__ import annotations

import socket
import subprocess
import sys
from contextlib import suppress
from pathlib import Path
from time import sleep

import numpy as np
import pytest

from tests.python.spun_server import FLUSHED_EVERY
from tools.queueing import rate_at, rate_of_log, wait_at_most


def test_an_idle_single_worker_serves_at_once() -> None:
    assert wait_at_most(0.0, 50.0, 1, 0.01) == pytest.approx(0.5, rel=1e-9)
    assert wait_at_most(-1e-9, 50.0, 1, 0.01) == 0.0


def test_one_worker_agrees_with_erlang() -> None:
    """Erlang 1909: P(W <= t) = (1 - rho) exp(rho t / D) below one service time."""
    rho, service = 0.6, 0.01
    by_hand = (1 - rho) * np.exp(rho)
    assert wait_at_most(service - 1e-12, rho / service, 1, service) == pytest.approx(by_hand)


@pytest.mark.parametrize(("workers", "load"), [(1, 0.8), (2, 0.85), (4, 0.9)])
def test_it_agrees_with_a_simulated_queue(workers: int, load: float) -> None:
    service, rate = 1.0, load * workers
    random = np.random.default_rng(workers)
    arrivals = np.cumsum(random.exponential(1.0 / rate, 200_000))
    free = np.zeros(workers)
    waits = np.empty(arrivals.size)
    for place, at in enumerate(arrivals):
        worker = int(free.argmin())
        begun = max(at, free[worker])
        waits[place] = begun - at
        free[worker] = begun + service
    for time in (0.0, 0.7, 2.0, 4.5):
        seen = float(np.mean(waits[2_000:] <= time))
        assert wait_at_most(time, rate, workers, service) == pytest.approx(seen, abs=0.015)


def test_the_rate_of_an_objective_is_below_the_capacity() -> None:
    rate = rate_at(0.9, 0.06, 2, 0.01)
    assert 150.0 < rate < 200.0
    assert wait_at_most(0.05, rate, 2, 0.01) == pytest.approx(0.9, abs=1e-6)


def test_the_rate_of_a_log_is_that_of_theory() -> None:
    """M/M/1 answers within t with the probability 1 - exp(-(mu - rate) t); M/D/1 by Crommelin."""
    random = np.random.default_rng(5)
    mean, within = 0.0015, 0.012
    exponential = random.exponential(mean, 50_000)
    theory = 1.0 / float(exponential.mean()) - np.log(10.0) / within
    found = rate_of_log(0.9, within, exponential, calls=200_000)
    assert found == pytest.approx(theory, rel=0.02)
    fixed = rate_of_log(0.9, within, np.full(10, mean), calls=200_000)
    assert fixed == pytest.approx(rate_at(0.9, within, 1, mean), rel=0.02)


def test_the_spun_server_logs_what_each_call_took(tmp_path: Path) -> None:
    log = tmp_path / "busy.log"
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    script = Path(__file__).parents[1] / "spun_server.py"
    words = [sys.executable, str(script), str(port), "0.2", "fixed", str(log)]
    with subprocess.Popen(words) as server:
        try:
            for _ in range(100):
                with suppress(OSError), socket.create_connection(("127.0.0.1", port)) as client:
                    for _ in range(FLUSHED_EVERY + 1):
                        client.sendall(b"GET / HTTP/1.1\r\n\r\n")
                        assert client.recv(100).startswith(b"HTTP/1.1 200")
                    break
                sleep(0.1)
        finally:
            server.kill()
    busy = np.fromfile(log)
    assert busy.size == FLUSHED_EVERY
    assert float(busy.min()) >= 0.0002
