"""Runtime metrics of services over time: their names, when they are sampled, and the file."""

from __future__ import annotations

import re
from collections.abc import Callable
from itertools import pairwise
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import pytest

import wirelab
from wirelab.documents.event import Progress, TimePoint
from wirelab.errors import RunDirectoryError
from wirelab.experiment import loading as experiment_file
from wirelab.process import metrics, runtime_metrics
from wirelab.process.services import Service
from wirelab.report.page import write_page
from wirelab.run import runner as running
from wirelab.trial import observer, series
from wirelab.trial.observer import BUSY_GAP_S, Observer
from wirelab.trial.series import Series, UnreadableSeries

GO = """\
go_memstats_heap_sys_bytes 8e6
go_memstats_heap_inuse_bytes 5e6
go_memstats_heap_idle_bytes 3e6
go_gc_duration_seconds{quantile="0"} 0.0001
go_gc_duration_seconds{quantile="1"} 0.0009
go_gc_duration_seconds_sum 0.004
go_gc_duration_seconds_count 12
go_threads 9
go_goroutines 31
process_resident_memory_bytes 2e7
wirelab_store_connections{state="in_use"} 4
wirelab_store_connections{state="idle"} 6
wirelab_calls_total{operation="Hello"} 10
wirelab_calls_total{operation="Submit"} 5
"""
JAVA = """\
jvm_memory_committed_bytes{area="heap",id="G1 Eden Space"} 4.0E7
jvm_memory_committed_bytes{area="heap",id="G1 Old Gen"} 2.0E7
jvm_memory_committed_bytes{area="nonheap",id="Metaspace"} 9.0E6
jvm_memory_used_bytes{area="heap",id="G1 Eden Space"} 1.5E7
jvm_memory_used_bytes{area="nonheap",id="Metaspace"} 8.0E6
jvm_threads_live_threads 21
process_threads 30
"""
SECOND_NS = 1_000_000_000
TEXT = """\
name: small
services: [rest@rust]
messages: [{operation: Hello, bytes: 14 B}]
loads: [closed: {users: 2}]
window: {duration: 1 s}
warmup: {min: 0 s, max: 0 s}
repeats: 1
"""


def _normalise(text: str) -> metrics.Metrics:
    return runtime_metrics.normalise(metrics.parse(text))


def test_go_and_java_share_names() -> None:
    assert _normalise(GO) == {
        "heap_committed_bytes": 8e6,
        "heap_used_bytes": 5e6,
        "heap_idle_bytes": 3e6,
        "rss_bytes": 2e7,
        "threads": 9,
        "tasks": 31,
        "store_connections_in_use": 4,
        "gc_pause_seconds_total": 0.004,
        "gc_pauses_total": 12,
        "calls_total": 15,
    }
    assert _normalise(JAVA) == {
        "heap_committed_bytes": 6e7,
        "heap_used_bytes": 1.5e7,
        "heap_idle_bytes": 4.5e7,
        "threads": 21,
        "gc_pause_seconds_total": 0,
        "gc_pauses_total": 0,
    }


def test_a_service_without_a_heap_has_none() -> None:
    text = "process_resident_memory_bytes 1e7\nprocess_threads 3\ntokio_tasks_alive 4\n"
    assert _normalise(text) == {"rss_bytes": 1e7, "threads": 3, "tasks": 4}


class Clock:
    """CLOCK_MONOTONIC as the test has it."""

    def __init__(self) -> None:
        self.now_s = 100.0

    def monotonic_ns(self) -> int:
        return round(self.now_s * SECOND_NS)


class ScriptedService:
    """Answers scrapes, or is too busy to."""

    def __init__(self, clock: Clock) -> None:
        self.ready = SimpleNamespace(pid=2**22 + 1)
        self.busy = False
        self.asked_s: list[float] = []
        self._clock = clock

    def scrape(self) -> str:
        return GO

    def tick(self) -> None:
        """Nothing to do."""

    def cpu_seconds(self) -> float | None:
        """No such process."""
        return None

    def involuntary_switches(self) -> dict[int, int] | None:
        """No such process."""
        return None

    def glance(self, seconds_max: float) -> str | None:
        self.asked_s.append(self._clock.now_s)
        if self.busy:
            self._clock.now_s += seconds_max
        return None if self.busy else GO


@pytest.fixture
def watched(monkeypatch: pytest.MonkeyPatch) -> tuple[Observer, ScriptedService, Clock]:
    clock = Clock()
    monkeypatch.setattr(observer, "time", clock)
    service = ScriptedService(clock)
    return Observer(cast(Service, service)), service, clock


def _ticks(watching: Observer, clock: Clock, seconds: float) -> None:
    end_s = clock.now_s + seconds
    while clock.now_s < end_s:
        clock.now_s += 0.05
        watching.tick()


def _progress(phase: str, elapsed_s: float, calls: int = 0, errors: int = 0) -> Progress:
    return Progress(phase=phase, elapsed_s=elapsed_s, calls=calls, errors=errors, in_flight=0)


def test_every_half_second_of_a_trial_holds_a_sample(
    watched: tuple[Observer, ScriptedService, Clock],
) -> None:
    watching, service, clock = watched
    began_s = clock.now_s
    for phase in ("warmup", "measure", "drain"):
        watching.progress(_progress(phase, 0.0))
        _ticks(watching, clock, 3.0)
    gaps = [b - a for a, b in pairwise([began_s, *service.asked_s])]
    assert max(gaps) <= 0.5
    assert len(gaps) >= 2 * 9


def test_a_busy_service_is_left_alone_for_longer_and_longer(
    watched: tuple[Observer, ScriptedService, Clock],
) -> None:
    watching, service, clock = watched
    service.busy = True
    _ticks(watching, clock, 30.0)
    gaps = [b - a for a, b in pairwise(service.asked_s)]
    assert gaps[0] >= BUSY_GAP_S
    assert gaps == sorted(gaps)
    assert len(service.asked_s) <= 5
    watching.progress(_progress("measure", 0.0))
    assert len(service.asked_s) <= 5  # the opening of the window is not a reason to ask
    service.busy = False
    _ticks(watching, clock, 40.0)
    assert service.asked_s[-1] - service.asked_s[-2] < 0.5


def test_progress_gives_rates() -> None:
    found = Series()
    found.progress(1 * SECOND_NS, _progress("warmup", 0.5, 50))
    found.progress(2 * SECOND_NS, _progress("warmup", 1.5, 250, 10))
    found.progress(3 * SECOND_NS, _progress("measure", 0.1, 30))
    summary = found.summary(0, 10 * SECOND_NS)
    assert summary["rate_per_s"]["max"] == pytest.approx(300.0)
    assert summary["errors_per_s"]["max"] == pytest.approx(10.0)


def test_a_foreign_tool_gives_no_rate() -> None:
    found = Series()
    found.progress(1 * SECOND_NS, _progress("measure", 0.0))
    assert found.summary(0, 10 * SECOND_NS) == {}


def test_a_summary_is_of_the_window_alone() -> None:
    found = Series()
    for second, heap, paused in ((0, 900.0, 0.0), (2, 100.0, 1.0), (3, 300.0, 1.5), (9, 900.0, 3)):
        found.add(
            second * SECOND_NS, {"heap_used_bytes": heap, "gc_pause_seconds_total": float(paused)}
        )
    assert found.summary(1 * SECOND_NS, 4 * SECOND_NS) == {
        "heap_used_bytes": {"mean": 200.0, "max": 300.0},
        "gc_pause_seconds_total": {"growth": pytest.approx(1.75 - 0.5)},
    }


def test_a_mean_is_over_time_and_not_over_samples() -> None:
    found = Series()
    for at_ns, value in ((0, 10.0), (1, 10.0), (2, 10.0), (100, 30.0)):
        found.add(at_ns, {"threads": value})
    assert found.summary(0, 100)["threads"]["mean"] == pytest.approx(19.8)


def test_a_file_is_read_as_it_was_written(tmp_path: Path) -> None:
    found = Series()
    found.add(4 * SECOND_NS, {"heap_used_bytes": 1.0, "threads": 7.0})
    found.add(6 * SECOND_NS, {"heap_used_bytes": 2.0})
    found.open_window(5 * SECOND_NS)
    found.write(tmp_path / series.NAME)
    assert series.read(tmp_path / series.NAME) == {
        "heap_used_bytes": [(-1.0, 1.0), (1.0, 2.0)],
        "threads": [(-1.0, 7.0)],
    }
    assert series.read(tmp_path / "absent") == {}


@pytest.mark.parametrize("content", [b"", b"PAR1", b"PAR1" + b"\xff" * 40 + b"PAR1"])
def test_a_damaged_file_is_reported(tmp_path: Path, content: bytes) -> None:
    (tmp_path / series.NAME).write_bytes(content)
    with pytest.raises(UnreadableSeries, match=r"series\.parquet"):
        series.read(tmp_path / series.NAME)


def test_a_value_that_is_not_a_number_is_reported(tmp_path: Path) -> None:
    found = Series()
    found.add(4 * SECOND_NS, {"threads": float("nan")})
    found.write(tmp_path / series.NAME)
    with pytest.raises(UnreadableSeries, match="threads has the value nan"):
        series.read(tmp_path / series.NAME)


def test_call_means_need_calls() -> None:
    points = {
        "call_seconds_total": [(0.0, 0.0), (1.0, 2.0), (2.0, 2.0)],
        "calls_total": [(0.0, 0.0), (1.0, 4.0), (2.0, 4.0)],
    }
    assert series.call_mean(points) == [(0.5, 0.5)]
    assert series.rate_per_second(points["calls_total"]) == [(0.5, 4.0), (1.5, 0.0)]


def test_a_trial_keeps_its_series(tmp_path: Path, stand_in: Callable[..., None]) -> None:
    stand_in(seconds=1.2)
    run = running.run(experiment_file.parse(TEXT), tmp_path / "run", source=TEXT)
    (trial,) = run.trials
    runtime: dict[str, Any] = trial.service.runtime_metrics
    assert runtime["heap_idle_bytes"] == {"mean": 3e7, "max": 3e7}
    assert runtime["store_connections_in_use"] == {"mean": 3.0, "max": 3.0}
    assert runtime["gc_pause_seconds_total"] == {"growth": 0.0}
    points = series.read(run.folder / "trials" / trial.id / series.NAME)
    times = [time_s for time_s, _ in points["heap_committed_bytes"]]
    assert {value for _, value in points["heap_committed_bytes"]} == {6e7}
    assert times[0] < 0 < times[-1]
    assert max(b - a for a, b in pairwise(times)) < 0.6


def test_response_times_lie_in_the_middle_of_their_part_of_the_window() -> None:
    found = Series()
    found.open_window(5 * SECOND_NS)
    p50 = TimePoint(start_s=0.0, duration_s=0.1, calls=20, ns=2_000_000)
    p99 = TimePoint(start_s=1.0, duration_s=2.0, calls=1000, ns=3_000_000)
    found.response({"p50": [p50], "p99": [p99]})
    found.response({})  # of an older engine
    assert series.levels([(0.1, 2.0), (0.5, 3.0)]) == [
        *((0.0, 2.0), (0.2, 2.0)),
        *((0.2, 3.0), (0.8, 3.0)),
    ]
    assert found.summary(0, 10 * SECOND_NS) == {
        "response_p50_seconds": {"mean": 0.002, "max": 0.002},
        "response_p99_seconds": {"mean": 0.003, "max": 0.003},
    }


@pytest.mark.usefixtures("real_engine", "no_orphans")
def test_a_trial_keeps_its_response_times_over_time(tmp_path: Path) -> None:
    run = running.run(experiment_file.parse(TEXT), tmp_path / "run", source=TEXT)
    (trial,) = run.trials
    assert trial.status == "measured", trial.reason
    points = series.read(run.folder / "trials" / trial.id / series.NAME)
    medians = points["response_p50_seconds"]
    assert all(0.0 < time_s < trial.result.window_s for time_s, _ in medians)
    lowest, highest = min(value for _, value in medians), max(value for _, value in medians)
    whole = trial.result.times["response"].percentiles_ns["p50"] / 1e9
    assert lowest * 0.984 <= whole <= highest * 1.016
    assert not trial.service.runtime_metrics.keys() & set(series.RESPONSE)
    page = write_page(run.folder).read_text(encoding="utf-8")
    assert re.search(r"over time\. rate up to [^;]*; (p99 up to [^;]*, )?p50 up to ", page)


def test_a_failed_trial_keeps_its_series_too(tmp_path: Path, stand_in: Callable[..., None]) -> None:
    stand_in("service-dies", seconds=0.6)
    run = running.run(experiment_file.parse(TEXT), tmp_path / "run", source=TEXT)
    (trial,) = run.trials
    assert trial.status == "failed"
    assert series.read(run.folder / "trials" / trial.id / series.NAME)["heap_used_bytes"]


def test_programs_read_a_series(tmp_path: Path, stand_in: Callable[..., None]) -> None:
    stand_in(seconds=0.3)
    running.run(experiment_file.parse(TEXT), tmp_path / "run", source=TEXT)
    results = wirelab.load(tmp_path / "run")
    (trial,) = results
    assert results.series(trial)["threads"][-1][1] == 17
    (row,) = results.records()
    assert row["heap_committed"] == 6e7
    (results.run.folder / "trials" / trial.id / series.NAME).write_bytes(b"torn")
    with pytest.raises(RunDirectoryError, match="cannot be read"):
        results.series(trial)
