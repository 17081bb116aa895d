"""Parts of one load: how it is divided, clocks, differences between clients, and a silent front."""

from __future__ import annotations

import json
import random
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import msgspec
import numpy as np
import pytest
import scipy.stats

from tests.python.truth_server import run_server
from wirelab.checks import clients as client_checks
from wirelab.clients import clock, parts
from wirelab.clients.client import SILENCE_S_MAX, LoadClient
from wirelab.clients.clock import ClockOffset
from wirelab.clients.ray_cluster import ClientsSpec, start_clients
from wirelab.clients.ray_connection import Cluster, parse_hosts
from wirelab.documents.event import Event, Fault, Outcome
from wirelab.documents.plan import Plan
from wirelab.errors import LabError, UsageError, WirelabError
from wirelab.process.children import ProcessOptions
from wirelab.process.engine import Drive
from wirelab.process.interruption import Interruption
from wirelab.records.client import ClientRecord, ClientsRecord
from wirelab.statistics.exponential import anderson_darling_exponential

Json = dict[str, Any]
WINDOW_S = 10.0


def _plan(port: int = 9, **group: Any) -> Plan:
    whole: Json = {
        "name": "main",
        "target": f"127.0.0.1:{port}",
        "stack": {"binding": "rest", "codec": "text", "transport": "http/1.1"},
        "workload": {"kind": "http", "method": "GET", "path": "/"},
        "load": {"kind": "closed", "users": 7},
        "window": {"duration_s": 30.0},
        "warmup": {"min_s": 0.0, "max_s": 0.0},
        **group,
    }
    return msgspec.convert({"groups": [whole]}, Plan)


def test_a_plan_is_divided_by_number_and_nothing_else_changes() -> None:
    divided = parts.divide(_plan(), [100, 250, 90])
    found = [(one.part.index, one.part.of, one.part.start_ns) for one in divided if one.part]
    assert found == [(0, 3, 100), (1, 3, 250), (2, 3, 90)]
    assert {msgspec.json.encode(msgspec.structs.replace(one, part=None)) for one in divided} == {
        msgspec.json.encode(_plan())
    }


def test_shares_of_users_add_up() -> None:
    assert parts.shares(_plan(), 3) == [3 / 7, 2 / 7, 2 / 7]
    open_load = {"kind": "constant", "rate": 10.0, "in_flight_max": 4}
    assert parts.shares(_plan(load=open_load), 4) == [0.25] * 4


@pytest.mark.parametrize(
    ("group", "count", "message"),
    [
        ({}, 8, "7 users"),
        ({"load": {"kind": "constant", "rate": 1.0, "in_flight_max": 1}}, 2, "1 place"),
        ({"stack": {"binding": "rest", "connection": "pool=3"}}, 4, "3 connections"),
        ({"window": {"calls": {"calls": 5, "max_s": 1.0}}}, 6, "5 calls"),
        ({"slowest": 5}, 2, "--slowest"),
        ({}, 0, "--clients 0"),
        ({}, 1001, "--clients 1001"),
    ],
)
def test_a_client_without_work_is_refused(group: Json, count: int, message: str) -> None:
    with pytest.raises(UsageError, match=message):
        parts.refuse_indivisible(_plan(**group), count)
    parts.refuse_indivisible(_plan(), 7)


def test_an_offset_is_right_within_its_error_whatever_the_way_takes(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """A simulated network whose two directions differ at random."""
    source = random.Random(4)
    for _ in range(300):
        now = [source.randrange(10**12)]
        truth = source.randrange(-(10**15), 10**15)
        monkeypatch.setattr("time.monotonic_ns", lambda now=now: now[0])

        def ask(now: list[int] = now, truth: int = truth) -> int:
            now[0] += source.randrange(1, 3_000_000)
            there = now[0] + truth
            now[0] += source.randrange(1, 3_000_000)
            return there

        found = clock.measure(ask)
        assert abs(found.offset_ns - truth) <= found.error_ns
        assert found.there(5) == 5 + found.offset_ns
        moved = ClockOffset(found.offset_ns + 80_000_000, found.error_ns)
        assert clock.drift_ns(found, moved) == 80_000_000 - 2 * found.error_ns
        assert clock.drift_ns(found, clock.measure(ask)) == 0


def _client(number: int, **changes: Any) -> ClientRecord:
    usual = ClientRecord(
        client=f"client {number}",
        node=f"node{number}",
        share=0.25,
        calls=1000,
        errors=0,
        rate_per_s=100.0,
        p50_ms=1.0,
        p99_ms=2.0,
        cpu_s=0.5,
        late_ms=0.0,
        clock_offset_ms=12.0,
        clock_error_ms=0.1,
        clock_moved_ms=0.0,
    )
    return msgspec.structs.replace(usual, **changes)


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({}, []),
        ({"late_ms": 4.9}, []),
        ({"late_ms": 30.0}, ["client 2 on node2 was ready 30 ms after"]),
        ({"clock_moved_ms": 80.0}, ["the clock of client 2 on node2 moved by 80 ms"]),
        ({"cpu_s": 9.9}, ["client 2 on node2 used 0.99 cores"]),
        ({"rate_per_s": 50.0}, ["client 2 on node2 made 50% of the calls"]),
        # Half of the users make half of the calls.
        ({"rate_per_s": 50.0, "share": 0.125}, []),
        ({"rate_per_s": 85.0}, []),
    ],
)
def test_the_client_that_differs_is_named_and_no_other(changes: Json, words: list[str]) -> None:
    clients = (_client(1), _client(2, **changes), _client(3), _client(4))
    found = list(client_checks.notes(ClientsRecord(clients), WINDOW_S))
    assert len(found) == len(words), found
    for sentence, start in zip(found, words, strict=True):
        assert sentence.startswith(start)


@pytest.mark.parametrize(("cores", "count"), [(None, 0), (4, 0), (3, 1)])
def test_clients_that_outnumber_their_cores_are_mentioned(cores: int | None, count: int) -> None:
    clients = tuple(map(_client, range(1, 5)))
    found = list(client_checks.notes(ClientsRecord(clients, cores), WINDOW_S))
    assert len(found) == count
    assert all(sentence.startswith("4 clients shared 3 cores") for sentence in found)


def test_one_client_is_compared_with_nothing() -> None:
    alone = ClientsRecord((_client(1, rate_per_s=0.0),))
    assert list(client_checks.notes(alone, WINDOW_S)) == []


def test_addresses_of_hosts() -> None:
    assert parse_hosts("ray:10.0.0.1:6379") == "10.0.0.1:6379"
    for text in ("10.0.0.1", "ray:", ""):
        with pytest.raises(UsageError, match="ray:ADDRESS"):
            parse_hosts(text)


def test_a_cluster_without_a_token_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("ray")
    monkeypatch.delenv("RAY_AUTH_MODE", raising=False)
    with (
        pytest.raises(UsageError, match="without a token"),
        start_clients(ClientsSpec(2, Cluster("127.0.0.1:1")), Interruption()),
    ):
        pass


@pytest.mark.parametrize(
    ("address", "message"),
    [
        ("127.0.0.2:1", "nobody listens at 127.0.0.2:1"),
        ("127.0.0.2", "ray:127.0.0.2"),
        ("127.0.0.1:6379", "Ray replaces 127.0.0.1"),
    ],
)
def test_a_cluster_that_cannot_be_reached_is_refused_at_once(address: str, message: str) -> None:
    pytest.importorskip("ray")
    began = time.monotonic()
    with (
        pytest.raises(WirelabError, match=message),
        start_clients(ClientsSpec(2, Cluster(address, insecure=True)), Interruption()),
    ):
        pass
    assert time.monotonic() - began < 15.0


def test_without_ray_the_package_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(__import__("sys").modules, "ray", None)
    with (
        pytest.raises(LabError, match="not installed") as caught,
        start_clients(ClientsSpec(2), Interruption()),
    ):
        pass
    assert caught.value.remedy == "run `make develop` in the checkout"
    monkeypatch.setattr("wirelab.checkout.find", lambda: None)
    with pytest.raises(LabError) as caught, start_clients(ClientsSpec(2), Interruption()):
        pass
    assert caught.value.remedy == "pip install 'wirelab[ray]'"


@pytest.mark.usefixtures("real_engine", "no_orphans")
def test_an_engine_ends_when_its_front_is_silent(tmp_path: Path) -> None:
    with run_server(tmp_path) as (port, log):
        client = LoadClient()
        (plan,) = parts.divide(_plan(port), [time.monotonic_ns()])
        began = time.monotonic()
        ended = msgspec.json.decode(client.drive(msgspec.json.encode(plan)), type=Event)
        lasted = time.monotonic() - began
    assert isinstance(ended, Fault)
    assert "silent" in ended.message
    assert SILENCE_S_MAX <= lasted < 20.0, "not the 30 s of the window"
    assert json.loads(log.read_text(encoding="utf-8"))["requests"] > 0


@pytest.mark.usefixtures("real_engine", "no_orphans")
def test_an_engine_runs_while_its_front_is_connected_and_stops_on_request(tmp_path: Path) -> None:
    with run_server(tmp_path) as (port, log):
        client = LoadClient()
        (plan,) = parts.divide(_plan(port), [time.monotonic_ns()])
        said: list[bytes] = []
        drive = threading.Thread(
            target=lambda: said.append(client.drive(msgspec.json.encode(plan)))
        )
        drive.start()
        until = time.monotonic() + 2 * SILENCE_S_MAX
        while time.monotonic() < until:
            client.beat()
            drive.join(0.1)
            assert drive.is_alive(), said
        client.beat(stop=True)
        drive.join(10.0)
    outcome = msgspec.json.decode(said[0], type=Event)
    assert isinstance(outcome, Outcome), outcome
    assert outcome.interrupted
    truth = json.loads(log.read_text(encoding="utf-8"))
    assert outcome.groups[0].ok == truth["replies"]


def _drive_parts(plans: list[Plan], logs: list[Path]) -> None:
    """Runs the engines of all parts at the same time."""
    drives = [
        Drive(
            msgspec.structs.replace(plan, call_log=str(log)),
            ProcessOptions(log=log.with_suffix(".log")),
            interruption=Interruption(),
        )
        for plan, log in zip(plans, logs, strict=True)
    ]
    with ThreadPoolExecutor(len(drives)) as pool:
        list(pool.map(Drive.outcome, drives))


@pytest.mark.usefixtures("real_engine")
@pytest.mark.parametrize("count", [1, 2, 4])
def test_poisson_arrivals_of_all_clients_are_poisson_arrivals(count: int, tmp_path: Path) -> None:
    """The gaps of the superposition by scipy's Kolmogorov-Smirnov and the textbook's
    Anderson-Darling statistic; p below 1e-4 in one of 10,000 runs, and the seed is fixed."""
    rate = 500.0
    load = {"kind": "poisson", "rate": rate, "in_flight_max": 400, "seed": 11}
    with run_server(tmp_path) as (port, _):
        plan = _plan(port, load=load, window={"duration_s": 2.0})
        begin_ns = time.monotonic_ns() + 500_000_000
        logs = [tmp_path / f"calls-{number}.csv" for number in range(count)]
        _drive_parts(list(parts.divide(plan, [begin_ns] * count)), logs)
    # CLOCK_REALTIME, which no float holds to the nanosecond.
    due = np.sort(
        np.concatenate(
            [
                np.loadtxt(log, dtype=np.int64, delimiter=",", skiprows=1, usecols=_column(log))
                for log in logs
            ]
        )
    )
    gaps = np.diff(due) / 1e9
    # Poisson of mean 1,000: five standard deviations.
    assert abs(len(due) - 1_000) < 160
    assert scipy.stats.kstest(gaps, scipy.stats.expon(scale=1 / rate).cdf).pvalue > 1e-4
    assert anderson_darling_exponential(gaps, scale=1 / rate).p_value > 1e-4


def _column(log: Path) -> int:
    with log.open(encoding="utf-8") as lines:
        return lines.readline().strip().split(",").index("intended_ns")


def _outcome() -> Outcome:
    times: Json = {}
    group = {
        "name": "main", "load": "closed", "window_s": WINDOW_S, "window_start_ns": 0, "calls": 0,
        "ok": 0, "errors": 0, "errors_by_kind": {}, "error_examples": [], "rate_per_s": 0.0,
        "concurrency": 0.0, "queue_max": 0, "connections_opened": 0, "connections_peak": 0,
        "bytes_sent": 0, "bytes_received": 0, "messages": 0, "calls_whole_run": 0,
        "warmup": {"seconds": 0.0, "calls": 0, "stationary": False}, "times": times, "series": [],
        "cpu_s": 0.0,
    }  # fmt: skip
    process = {
        "cpu_user_s": 0.0, "cpu_system_s": 0.0, "rss_max_bytes": 0, "switches_involuntary": 0,
        "steal_s": 0.0, "cores": [],
    }  # fmt: skip
    whole = {
        "engine": "1", "profile": "release", "interrupted": False, "process": process,
        "groups": [group],
    }  # fmt: skip
    return msgspec.convert(whole, Outcome)


@pytest.mark.usefixtures("real_engine")
def test_results_of_different_loads_do_not_add_up() -> None:
    one = _outcome()
    (group,) = one.groups
    other = msgspec.structs.replace(one, groups=(msgspec.structs.replace(group, name="other"),))
    with pytest.raises(LabError, match="groups differ: main and other"):
        parts.merge([one, other])
    same = parts.merge([replace_calls(one, 3), replace_calls(one, 4)])
    assert same.groups[0].calls == 7


def replace_calls(outcome: Outcome, calls: int) -> Outcome:
    (group,) = outcome.groups
    return msgspec.structs.replace(outcome, groups=(msgspec.structs.replace(group, calls=calls),))
