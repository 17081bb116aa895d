"""A run directory as a run would leave it, made from known numbers.

Nothing here was measured: rates and times follow from a few lines of queueing arithmetic and
seeded noise, so that tests know what a report has to say of them.
"""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np
from hdrh.histogram import HdrHistogram

from wirelab.checks import load as verdicts
from wirelab.documents.axes import Axes
from wirelab.records.caller import CallerRecord
from wirelab.records.conversion import convert
from wirelab.records.group import GroupResult
from wirelab.records.line import to_line
from wirelab.records.link import PlacementRecord
from wirelab.records.load import LoadRecord
from wirelab.records.service import ServiceRecord
from wirelab.records.trial import Json, Point, Trial
from wirelab.run.manifest import FORMAT
from wirelab.statistics.sample import percentile_printable
from wirelab.study import catalogue as studies
from wirelab.study import manifest as study_manifest

REST = "rest@rust?codec=json"
GRPC = "grpc@rust"
HOSTILE = "<script>alert(1)</script>&\"'\x1b[31m\u202e</style>"
"""Text that tries to break out of a page or a terminal."""
SAMPLES_MAX = 2_000
"""Samples drawn per trial: enough for the shape of a distribution."""


@dataclass(frozen=True)
class World:
    """What is true in a synthetic run."""

    stacks: tuple[str, ...] = (REST, GRPC)
    sizes: tuple[int, ...] = (14, 150_000, 3_000_000)
    loads: tuple[Json, ...] = (
        {"kind": "closed", "users": 1},
        {"kind": "closed", "users": 32},
    )
    repeats: int = 4
    call_us: dict[str, float] = field(default_factory=lambda: {REST: 60.0, GRPC: 84.0})
    """Microseconds of service CPU per call, before bytes."""
    spread: float = 0.02
    """Relative standard deviation between trials."""
    client_cores: float = 0.55
    """Share of the window for which the engine's thread is busy."""
    service_cores: float = 0.97
    seed: int = 1


def point(
    stack: str, size: int = 14, load: Json | LoadRecord | None = None, **options: Any
) -> Point:
    """A point of the contract ``transfer``."""
    name, _, query = stack.partition("?")
    binding, _, language = name.partition("@")
    axes = {"binding": binding, "language": language, "connection": "keep", "start": "warm"}
    axes |= dict(part.split("=", 1) for part in query.split("&") if part)
    made = convert(load or {"kind": "closed", "users": 10}, LoadRecord)
    return Point(stack, Axes.of(axes), "Hello", size, made, **options)


def trial(at: Point, repeat: int, order: int, world: World) -> Trial:
    """One measured trial with its checks."""
    random = np.random.default_rng([world.seed, order, repeat])
    factor = float(np.exp(random.normal(0.0, world.spread)))
    per_call_s = (world.call_us.get(at.stack, 70.0) + at.bytes / 1500.0) * 1e-6 * factor
    result, engine, service = _figures(at, per_call_s, world, random)
    made = Trial(
        id=f"{at.stack.split('?')[0].replace('@', '-')}-{at.bytes}-{order:03d}",
        point=at,
        repeat=repeat,
        order=order,
        status="measured",
        started=f"2024-05-01T10:{order // 60:02d}:{order % 60:02d}.000+00:00",
        seconds=1.6,
        result=GroupResult.of(result),
        engine=CallerRecord.of(engine),
        service=convert(service, ServiceRecord),
        placement=PlacementRecord("pinned", (0,), (1,), (2, 3), processors=1),
    )
    return replace(made, checks=verdicts.check(made))


def _figures(
    at: Point, per_call_s: float, world: World, random: np.random.Generator
) -> tuple[Json, Json, Json]:
    users = at.load.users or 8
    close = at.axes.connection.kind == "close"
    window = 2.0
    rate = at.load.rate or min(users / (per_call_s + 40e-6), 1.0 / per_call_s)
    calls = max(40, round(rate * window))
    mean = users * window / calls if at.load.is_closed else per_call_s
    samples = mean * random.gamma(12.0, 1.0 / 12.0, size=min(calls, SAMPLES_MAX))
    samples[:: max(1, samples.size // 20)] *= 2.5
    samples *= mean / samples.mean()
    times = {name: times_of(samples * share, calls) for name, share in _SHARES.items()}
    result = {
        "name": "main",
        "load": "closed" if at.load.is_closed else "open",
        "window_s": window,
        "calls": calls,
        "ok": calls,
        "errors": 0,
        "errors_by_kind": {},
        "rate_per_s": calls / window,
        "rate_planned_per_s": at.load.rate,
        "concurrency": float(users),
        "connections_opened": calls + 500 if close else users,
        "calls_whole_run": calls + 500,
        "warmup": {"seconds": 0.4, "calls": 500, "stationary": True},
        "times": times,
        "series": [int(n) for n in random.poisson(calls / 20.0, size=21)],
        "cpu_s": world.client_cores * window,
    }
    engine = {
        "cpu_user_s": 0.4 * world.client_cores * window,
        "cpu_system_s": 0.6 * world.client_cores * window,
        "steal_s": 0.0,
        "profile": "release",
        "version": "0.1.0",
    }
    service = {
        "language": "rust",
        "runtime": "rustc 1.95",
        "libraries": [
            {"role": "server", "name": "hyper", "version": "1.7.0"},
            {"role": "codec", "name": "serde_json", "version": "1.0.1"},
        ],
        "set": {"nagle": False, "processors": 1},
        "sha256": "ab" * 32,
        "cpu_s": 1.4 * world.service_cores * window,
        "cpu_window_s": world.service_cores * window,
        "calls_seen": calls + 500,
        "connections_seen": result["connections_opened"],
    }
    return result, engine, service


_SHARES = {"response": 1.0, "service": 0.98, "backlog": 0.004, "lag": 0.01, "queueing": 0.02}


def times_of(seconds: np.ndarray[Any, np.dtype[np.float64]], count: int) -> Json:
    """A distribution as the engine reports it, its histogram included."""
    histogram = HdrHistogram(1, 3_600_000_000_000, 3)
    nanoseconds = np.maximum(1, np.rint(seconds * 1e9)).astype(int)
    for value in nanoseconds:
        histogram.record_value(int(value))
    expected = {"p50": 50.0, "p90": 90.0, "p99": 99.0, "p99.9": 99.9}
    shown = {
        name: int(np.percentile(nanoseconds, p))
        for name, p in expected.items()
        if percentile_printable(count, p)
    }
    return {
        "count": count,
        "mean_ns": float(seconds.mean() * 1e9),
        "min_ns": int(nanoseconds.min()),
        "max_ns": int(nanoseconds.max()),
        "percentiles_ns": shown,
        "hdr": histogram.encode().decode(),
    }


def trials(world: World) -> list[Trial]:
    """All trials of the world, in their random order."""
    places = [
        (point(stack, size, load), repeat)
        for repeat in range(world.repeats)
        for size in world.sizes
        for load in world.loads
        for stack in world.stacks
    ]
    shuffled = np.random.default_rng(world.seed).permutation(len(places))
    return [
        trial(places[index][0], places[index][1], order, world)
        for order, index in enumerate(shuffled)
    ]


def users(count: int) -> dict[str, Any]:
    """A closed load."""
    return {"kind": "closed", "users": count}


def client_bound(given: Trial) -> Trial:
    """The trial with the engine at its limit and the service below."""
    limited = replace(
        given,
        result=replace(given.result, cpu_s=0.98 * given.result.window_s),
        service=replace(given.service, cpu_window_s=0.5 * given.result.window_s),
        checks=(),
    )
    return replace(limited, checks=verdicts.check(limited))


def with_result(given: Trial, **values: Any) -> Trial:
    """The trial with these figures of its result replaced."""
    return replace(given, result=GroupResult.of({**asdict(given.result), **values}))


def fail_trial(given: Trial, reason: str) -> Trial:
    """The trial as one that measured nothing."""
    return replace(given, status="failed", reason=reason, result=GroupResult(), checks=())


def fail_some_calls(given: Trial, every: int = 20, timeout_s: float = 10.0) -> Trial:
    """The trial with one call of ``every`` timed out: its response times are those of all calls,
    the good ones apart."""
    calls = given.result.calls
    errors = calls // every
    good = replace(given.result.times["response"], count=calls - errors)
    ns = round(timeout_s * 1e9)
    tail = {"p99": ns, "p99.9": ns}
    percentiles = {name: tail.get(name, value) for name, value in good.percentiles_ns.items()}
    mean = (good.mean_ns * (calls - errors) + ns * errors) / calls
    times = {
        "response": replace(good, count=calls, mean_ns=mean, max_ns=ns, percentiles_ns=percentiles),
        "response_good": good,
    }
    result = replace(
        given.result,
        ok=calls - errors,
        errors=errors,
        errors_by_kind={"timeout": errors},
        times={**given.result.times, **times},
    )
    struck = replace(given, result=result, checks=())
    return replace(struck, checks=verdicts.check(struck))


def remove_histograms(measured: Trial) -> Trial:
    """As the journal holds it."""
    return replace(measured, result=measured.result.remove_histograms())


def write_run(folder: Path, every: list[Trial], **experiment: Any) -> Path:
    """The directory that a run of these trials leaves."""
    folder.mkdir(parents=True, exist_ok=True)
    manifest = {
        "format": FORMAT,
        "experiment": {"name": "synthetic", "about": "Which stack is faster?", **experiment},
        "experiment_sha256": "cd" * 32,
        "seed": 2023,
        "threshold": 0.05,
        "machine": {"kernel": "6.1", "cpu": "An example CPU", "cores": 4, "governor": None},
        "versions": {"python": "3.11", "numpy": "2.0"},
        "git_revision": "0" * 40,
        "engine": {"sha256": "ef" * 32},
        "sessions": [{"started": "2024-05-01T10:00:00.000+00:00", "engine_sha256": "ef" * 32}],
    }
    (folder / "manifest.json").write_text(json.dumps(manifest), encoding="utf-8")
    with (folder / "trials.jsonl").open("w", encoding="utf-8") as journal:
        for one in every:
            journal.write(json.dumps(to_line([remove_histograms(one)])) + "\n")
            _write_histograms(folder / "trials" / one.id, one)
    return folder


def write_reproduction(folder: Path, every: list[Trial], study: str = "hamo2023") -> Path:
    """The folder of a reproduction of which these trials, of its first part, are there."""
    found = studies.load(study)
    folder.mkdir(parents=True)
    manifest = {"study": study, "scale": found.study.scale, "sha256": found.sha256}
    (folder / study_manifest.NAME).write_text(json.dumps(manifest), encoding="utf-8")
    write_run(folder / found.study.parts[0], every, name=study)
    return folder


def _write_histograms(folder: Path, measured: Trial) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    lines = ["#[Histogram log format version 1.3]"]
    for name, times in measured.result.times.items():
        if times.hdr:
            lines.append(f"Tag={name},0.000,1.000,{times.max_ns / 1e6:.3f},{times.hdr}")
    (folder / "histograms.hlog").write_text("\n".join(lines) + "\n", encoding="utf-8")
