"""How long the programs of `make setup` take to build, cold: cargo in a scratch folder."""

from __future__ import annotations

import json
import os
import re
import resource
import subprocess
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path

from bench.bounds import Ratio
from bench.process import BenchError, NotHere, busy_s
from bench.races import CLIENT_CORE, SERVER_CORE

ROOT = Path(__file__).resolve().parents[2]
PACKAGES = ("wirelab-engine", "wirelab-services")
"""Those that `make setup` builds."""
BINARIES = ("wirelab-engine", "wirelab-rust-service")
LARGEST = 10
"""Units that are listed."""
LIMIT_S = 3600.0
BEFORE = {"wall_s": 864.9, "cpu_s": 1626.0}
"""Commit 86c5b671 with all in one engine: an AMD EPYC with two cores, quiet, on 2026-11-27."""
ENGINE_BYTES_MAX = 40e6


@dataclass(frozen=True)
class Unit:
    """One run of rustc, or of a build script, as `cargo --timings` lists it."""

    name: str
    target: str
    """Empty for a library."""
    seconds: float


@dataclass(frozen=True)
class Built:
    """One cold build."""

    figures: list[Ratio]
    units: list[Unit]
    """The longest, in falling order."""
    unit_count: int
    others_share: float
    """Of the two cores' time, what went to something else."""


def run(*, quick: bool = False) -> Built:
    """Builds once, with a filled download cache. Raises :class:`NotHere` in a quick run, and
    :class:`BenchError` if cargo fails."""
    if quick:
        raise NotHere("a cold build takes minutes: leave --quick out")
    with tempfile.TemporaryDirectory() as scratch:
        command = ["cargo", "build", "--release", "--locked", "--timings", "--target-dir", scratch]
        command += [argument for package in PACKAGES for argument in ("--package", package)]
        cores = (SERVER_CORE, CLIENT_CORE)
        busy, before, began = busy_s(cores), _children_cpu_s(), time.monotonic()
        done = subprocess.run(
            command,
            cwd=ROOT,
            env={**os.environ, "CARGO_INCREMENTAL": "0"},
            capture_output=True,
            text=True,
            timeout=LIMIT_S,
            check=False,
        )
        wall_s, cpu_s = time.monotonic() - began, _children_cpu_s() - before
        others_s = max(0.0, busy_s(cores) - busy - cpu_s)
        if done.returncode != 0:
            raise BenchError(f"cargo build failed: {done.stderr.strip().splitlines()[-1]}")
        timings = Path(scratch) / "cargo-timings" / "cargo-timing.html"
        units = parse_units(timings.read_text(encoding="utf-8"))
        sizes = {name: (Path(scratch) / "release" / name).stat().st_size for name in BINARIES}
    figures = [
        Ratio("wall time of the build, s", "", (wall_s,), at_most=BEFORE["wall_s"] / 3, aim=True),
        Ratio("CPU time of the build, s", "", (cpu_s,), at_most=BEFORE["cpu_s"] / 3, aim=True),
        *(
            Ratio(f"size of {name}, MB", "", (size / 1e6,), at_most=ENGINE_BYTES_MAX / 1e6)
            for name, size in sizes.items()
        ),
    ]
    return Built(figures, units[:LARGEST], len(units), others_s / (2 * wall_s))


def parse_units(page: str) -> list[Unit]:
    """The units of cargo's page of timings, the longest first. Raises :class:`BenchError` if the
    page does not contain them."""
    found = re.search(r"const UNIT_DATA = (\[.*?\]);\n", page, re.DOTALL)
    if found is None:
        raise BenchError("the page of `cargo --timings` contains no UNIT_DATA")
    units = [
        Unit(one["name"], one["target"].strip(), float(one["duration"]))
        for one in json.loads(found[1])
    ]
    return sorted(units, key=lambda unit: -unit.seconds)


def _children_cpu_s() -> float:
    """User and system seconds of all processes that were waited for (getrusage(2))."""
    usage = resource.getrusage(resource.RUSAGE_CHILDREN)
    return usage.ru_utime + usage.ru_stime
