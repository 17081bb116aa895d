"""A farm without Ray: which host gets which trial, the front with simulated hosts, and what its
check finds in simulated worlds."""

from __future__ import annotations

import heapq
import json
from collections.abc import Collection, Sequence
from dataclasses import replace
from functools import cache
from math import exp, log
from pathlib import Path

import numpy as np
import pytest

from tests.python.clients.test_clients_run import _experiment
from tests.python.statistics.test_blocks import RESIDUALS
from wirelab.checks import hosts as hosts_check
from wirelab.cli import main
from wirelab.clients.client import ClientInfo
from wirelab.errors import Interrupted, LabError, UsageError
from wirelab.experiment import loading
from wirelab.experiment import matrix as planning
from wirelab.experiment.matrix import PlannedTrial, Schedule
from wirelab.farm.blocks import BlockPlan
from wirelab.farm.host import digest_schedule, encode_line
from wirelab.farm.refusals import refuse_impossible
from wirelab.farm.transport import (
    Begun,
    HostInfo,
    HostLine,
    HostLost,
    refuse_other_program,
    refuse_unequal,
)
from wirelab.process.interruption import Interruption
from wirelab.records.group import GroupResult
from wirelab.records.trial import Trial
from wirelab.run import finished
from wirelab.run.directory import RunDirectory
from wirelab.run.farming import Front
from wirelab.run.progress import Silent
from wirelab.stack import manifests
from wirelab.statistics.host_effects import host_effects

NAMES = ("a", "b", "c", "d")
TRIAL_S = 10.0


def _plan(repeats: int, sizes: int = 3) -> tuple[str, Schedule]:
    messages = [{"operation": "Hello", "bytes": f"{14 + at} B"} for at in range(sizes)]
    text = _experiment(
        clients=1,
        repeats=repeats,
        messages=messages,
        services=["rest@rust", "grpc@rust"],
        design="trials",
    )
    return text, planning.schedule(loading.parse(text), manifests.load())


class SimulatedHosts:
    """Hosts that wait instead of measuring, by a clock of their own."""

    def __init__(self, planned: Schedule, names: Sequence[str] = NAMES) -> None:
        self.planned, self.names = planned, list(names)
        self.now_s = 0.0
        self.failing: set[int] = set()
        """Places of trials that have no result."""
        self.dying: dict[str, float] = {}
        self.cancelled = 0
        self.begun: list[tuple[str, PlannedTrial]] = []
        self._under_way: list[tuple[float, int]] = []

    def clock(self) -> float:
        return self.now_s

    def hosts(self) -> Sequence[str]:
        return [name for name in self.names if self.dying.get(name, 1e9) > self.now_s]

    def begin(self, host: str, order: int, earlier: str) -> Begun:
        self.begun.append((host, self.planned.trials[order]))
        number = len(self.begun) - 1
        heapq.heappush(self._under_way, (self.now_s + TRIAL_S, number))
        return number

    def wait(self, begun: Collection[Begun], seconds: float) -> Sequence[Begun]:
        self.now_s += seconds
        over: list[Begun] = []
        while self._under_way and self._under_way[0][0] <= self.now_s:
            over.append(heapq.heappop(self._under_way)[1])
        return over

    def result(self, begun: Begun) -> Sequence[HostLine]:
        assert isinstance(begun, int)
        host, planned = self.begun[begun]
        if planned.order in self.failing:
            raise HostLost(f"{host} was lost, and no other node took over: it burnt")
        trial = measure_nothing(planned, host)
        return [HostLine(encode_line([trial]), ((trial.id, {"result.json": b"{}"}),))]

    def cancel(self, begun: Collection[Begun]) -> None:
        self.cancelled += len(begun)


def measure_nothing(planned: PlannedTrial, host: str, rate: float = 1_000.0) -> Trial:
    return Trial(
        id=planned.id,
        point=planned.cell.point,
        repeat=planned.repeat,
        order=planned.order,
        status="measured",
        seconds=TRIAL_S,
        started="2026-11-30T00:00:00.000+00:00",
        result=GroupResult(rate_per_s=rate, ok=10, calls=10, window_s=1.0),
        node=host,
    )


def _run(
    out: Path, text: str, hosts: SimulatedHosts, stop: Interruption | None = None, **options: bool
) -> None:
    experiment = loading.parse(text)
    with RunDirectory(out, experiment, text) as directory:
        front = Front(
            experiment,
            hosts.planned,
            directory,
            hosts,
            Silent(),
            stop or Interruption(),
            clock=hosts.clock,
        )
        todo = front.begin(len(hosts.names), **{"retry_failed": False, "repeat": True, **options})
        front.measure_all(todo, out)


@pytest.mark.usefixtures("real_engine")
@pytest.mark.parametrize("repeats", [8, 9, 10, 11])
def test_four_hosts_take_a_quarter_of_the_time(tmp_path: Path, repeats: int) -> None:
    text, planned = _plan(repeats, sizes=10)
    hosts = SimulatedHosts(planned)
    _run(tmp_path / "run", text, hosts)
    assert hosts.now_s <= 1.10 * len(planned.trials) * TRIAL_S / 4
    run = finished.read(tmp_path / "run")
    assert run.is_finished
    assert len({trial.id for trial in run.trials}) == len(run.trials) == len(planned.trials)
    divided = [
        repeat
        for repeat in range(1, repeats + 1)
        if len({trial.node for trial in run.trials if trial.repeat == repeat}) > 1
    ]
    assert len(divided) <= 4 if repeats % 4 else not divided


def test_a_host_keeps_its_block_and_takes_half_of_the_longest_at_the_end() -> None:
    _, planned = _plan(2)
    plan = BlockPlan(planned.trials)
    first = [plan.take("a") for _ in range(2)]
    assert [trial.repeat for trial in first if trial] == [1, 1]
    assert [t.repeat for t in (plan.take("b"), plan.take("b")) if t] == [2, 2]
    stolen = [plan.take("c"), plan.take("c")]
    assert len({trial.repeat for trial in stolen if trial}) == 1
    plan.release("a")
    rest = [plan.take("b") for _ in range(plan.left)]
    every = [*first, *stolen, *rest]
    assert None not in every
    assert plan.take("a") is None


def test_a_host_continues_the_block_that_it_began() -> None:
    _, planned = _plan(3)
    plan = BlockPlan(planned.trials, {1: "b", 2: "a"})
    assert [t.repeat for t in (plan.take("a"), plan.take("b"), plan.take("c")) if t] == [2, 1, 3]


@pytest.mark.usefixtures("real_engine")
def test_a_host_that_is_lost_gives_its_trials_to_others(tmp_path: Path) -> None:
    text, planned = _plan(4)
    hosts = SimulatedHosts(planned)
    hosts.dying = {"b": 15.0}
    _run(tmp_path / "run", text, hosts)
    run = finished.read(tmp_path / "run")
    assert run.is_finished
    assert not run.failed


@pytest.mark.usefixtures("real_engine")
def test_a_trial_without_a_result_failed_with_the_name_of_its_host(tmp_path: Path) -> None:
    text, planned = _plan(2)
    hosts = SimulatedHosts(planned, ["a"])
    hosts.failing = {3}
    _run(tmp_path / "run", text, hosts)
    (failed,) = finished.read(tmp_path / "run").failed
    assert failed.order == 3
    assert failed.node == "a"
    assert failed.reason == "a was lost, and no other node took over: it burnt"
    again = SimulatedHosts(planned, ["a"])
    _run(tmp_path / "run", text, again, retry_failed=True)
    assert [trial.order for _, trial in again.begun] == [3]
    assert not finished.read(tmp_path / "run").failed


@pytest.mark.usefixtures("real_engine")
def test_without_any_host_the_run_ends_and_is_continued(tmp_path: Path) -> None:
    text, planned = _plan(2)
    hosts = SimulatedHosts(planned, ["a", "b"])
    hosts.dying = {"a": 25.0, "b": 25.0}
    with pytest.raises(LabError, match="no host of the farm is left"):
        _run(tmp_path / "run", text, hosts)
    cut = finished.read(tmp_path / "run")
    assert 0 < len(cut.trials) < len(planned.trials)
    assert {t.reason for t in cut.failed} <= {
        f"{name} was lost during the trial, and no other host is left" for name in "ab"
    }
    _run(tmp_path / "run", text, SimulatedHosts(planned), retry_failed=True)
    assert finished.read(tmp_path / "run").is_finished


@pytest.mark.usefixtures("real_engine")
def test_an_interrupted_front_cancels_what_is_under_way(tmp_path: Path) -> None:
    text, planned = _plan(2)
    hosts, stop = SimulatedHosts(planned), Interruption()
    result = hosts.result

    def stop_after(begun: Begun) -> Sequence[HostLine]:
        stop.requested = True
        return result(begun)

    hosts.result = stop_after  # type: ignore[method-assign]  # as Ctrl-C would come
    with pytest.raises(Interrupted, match="4 of 12 trials are kept"):
        _run(tmp_path / "run", text, hosts, stop)
    assert hosts.cancelled == len(hosts.begun) - 4
    again = SimulatedHosts(planned)
    _run(tmp_path / "run", text, again)
    assert len(again.begun) == 8


def _info(name: str, *, cpu: str = "x", engine: str = "e") -> HostInfo:
    client = ClientInfo(node=name, boot=name, network="n", version="1", engine_sha256=engine)
    return HostInfo(name=name, client=client, machine={"cpu": cpu, "cores": 2})


def test_hosts_that_are_not_equal_are_refused_by_name() -> None:
    refuse_unequal([_info("a"), _info("b")])
    with pytest.raises(LabError, match="b has cpu y, but a x"):
        refuse_unequal([_info("a"), _info("b", cpu="y")])
    with pytest.raises(LabError, match="b has wirelab 1 with the engine f"):
        refuse_other_program(_info("b", engine="f"), _info("a").client)


@pytest.mark.parametrize(
    ("url", "reason"),
    [
        ("http://127.0.0.1:8000", "each host would call itself"),
        ("http://10.0.0.9:8000", "all hosts would load it at the same time"),
    ],
)
def test_a_service_at_a_url_is_refused(url: str, reason: str) -> None:
    service = {"name": "mine", "url": url, "http": {"path": "/"}}
    text = _experiment(clients=1, services=[service], messages=[])
    experiment = loading.parse(text)
    with pytest.raises(UsageError, match=reason):
        refuse_impossible(experiment, planning.schedule(experiment, manifests.load()))


def test_the_digest_of_a_schedule_changes_with_the_experiment() -> None:
    (_, first), (_, again), (_, other) = _plan(2), _plan(2), _plan(2, sizes=4)
    assert digest_schedule(first) == digest_schedule(again) != digest_schedule(other)


def test_several_clients_and_a_farm_exclude_each_other() -> None:
    experiment = loading.parse(_experiment(clients=2))
    with pytest.raises(UsageError, match="a farm has a trial on each node"):
        refuse_impossible(experiment, planning.schedule(experiment, manifests.load()))


SCALE = 0.04
"""Noise of a trial."""
WORLDS = 500


@cache
def _assign(repeats: int, hosts: int) -> list[tuple[int, tuple[int, str]]]:
    """Cell and block of each trial, where all trials take the same time."""
    _, planned = _plan(repeats)
    cells = {id(cell): place for place, cell in enumerate(planned.cells)}
    plan, found = BlockPlan(planned.trials), []
    while plan.left:
        for host in map(str, range(hosts)):
            trial = plan.take(host)
            if trial is not None:
                found.append((cells[id(trial.cell)], (trial.repeat, host)))
    return found


def _simulate_values(
    random: np.random.Generator, repeats: int, hosts: int, biased: float
) -> list[dict[tuple[int, str], float]]:
    """Six equal cells; the host 0 is faster or slower by a factor."""
    assigned = _assign(repeats, hosts)
    scales = SCALE * np.exp(random.normal(0.0, 0.5, 6))
    noise = random.choice(RESIDUALS, len(assigned))
    made: list[dict[tuple[int, str], float]] = [{} for _ in range(6)]
    for (cell, block), value in zip(assigned, noise, strict=True):
        shift = log(biased) if block[1] == "0" else 0.0
        made[cell][block] = exp(float(scales[cell] * value) + shift)
    return made


@pytest.mark.parametrize(("repeats", "hosts", "power"), [(8, 2, 0.9), (10, 4, 0.9), (16, 4, 0.95)])
def test_a_biased_host_is_named_and_healthy_ones_are_not(
    repeats: int, hosts: int, power: float
) -> None:
    random = np.random.default_rng(11)
    false = found = others = 0
    for _ in range(WORLDS):
        healthy = host_effects(_simulate_values(random, repeats, hosts, 1.0))
        slow = host_effects(_simulate_values(random, repeats, hosts, 0.85))
        assert healthy is not None
        assert slow is not None
        false += bool(healthy.list_apart(3))
        named = {name for name, _ in slow.list_apart(3)}
        found += "0" in named
        others += hosts > 2 and bool(named - {"0"})
    print(f"{repeats} repeats on {hosts} hosts: false {false}, found {found}, others {others}")
    assert false <= 0.01 * WORLDS
    assert found >= power * WORLDS
    assert others <= 0.02 * WORLDS


def test_the_check_names_the_slow_host_of_a_run() -> None:
    random = np.random.default_rng(3)
    _, planned = _plan(12)
    trials = []
    for trial in planned.trials:
        host = NAMES[trial.repeat % 4]
        rate = 1_000.0 * exp(float(random.normal(0.0, 0.02))) * (0.8 if host == "c" else 1.0)
        trials.append(measure_nothing(trial, host, rate))
    check = hosts_check.check(trials)
    assert check is not None
    assert check.outcome == "marked"
    assert "of c is 80% of that of the other hosts" in check.reason.replace("79%", "80%")
    assert " of a " not in check.reason
    fast = [trial for trial in trials if trial.node != "c"]
    healthy = hosts_check.check(fast)
    assert healthy is not None
    assert healthy.outcome == "ok"
    few = hosts_check.check([trial for trial in trials if trial.repeat <= 4])
    assert few is not None
    assert few.outcome == "not-measurable"
    assert hosts_check.check([replace(trial, node="") for trial in trials]) is None


def test_a_line_of_a_farm_names_its_host_and_others_stay_as_they_were() -> None:
    _, planned = _plan(1)
    trial = measure_nothing(planned.trials[0], "a")
    assert json.loads(encode_line([trial]))["node"] == "a"
    assert "node" not in json.loads(encode_line([replace(trial, node="")]))


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("--clients", "2"), "--clients with --farm: a farm has a trial on each node"),
        (("--postgres", "postgres://127.0.0.1/x"), "trials of all hosts would share one server"),
        (("--metrics-port", "0"), "a farm has many"),
        (("--test-findings",), "which is not a host of the farm"),
        (("--plan",), "it starts nothing, on any host"),
        ((), "whoever reaches a Ray cluster without a token"),
    ],
)
def test_impossible_experiments_of_a_farm_are_refused(
    words: tuple[str, ...],
    message: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    if not words:
        pytest.importorskip("ray", reason="Ray is not installed")
    monkeypatch.delenv("RAY_AUTH_MODE", raising=False)
    file = tmp_path / "experiment.yaml"
    file.write_text(_experiment(clients=1), encoding="utf-8")
    farm = ("--farm", "ray:10.0.0.1:6379", "--out", str(tmp_path / "run"))
    assert main(["run", str(file), *farm, *words]) == 2
    assert message in " ".join(capsys.readouterr().err.split())
    assert not (tmp_path / "run").exists()
