"""The programs in Rust next to the engine: the service, and parts that are built when an experiment
first needs them, because they take long to compile."""

from __future__ import annotations

import os
import shutil
from dataclasses import dataclass
from pathlib import Path

import msgspec

from wirelab import checkout, installation
from wirelab.documents.plan import Plan
from wirelab.errors import BuildError, NotInstalled
from wirelab.process import builds, engine_binary
from wirelab.process.build_progress import BuildReport, OnBuild, ignore
from wirelab.process.interruption import Interruption

JSON_ENGINE = "wirelab-engine-json"
"""The engine with JSON Schema and JSONPath."""


@dataclass(frozen=True)
class RustProgram:
    """How cargo builds a program."""

    package: str
    folder: str
    """Of the package, in the checkout."""
    title: str
    """Name in messages."""
    build_seconds: float
    """Usual time of the build on two cores after ``make setup``, seconds."""


PROGRAMS = {
    "wirelab-rust-service": RustProgram(
        "wirelab-services", "services/rust", "the service in rust", 200.0
    ),
    "wirelab-rust-service-databases": RustProgram(
        "wirelab-service-databases",
        "services/rust/databases",
        "the service with databases",
        150.0,
    ),
    JSON_ENGINE: RustProgram(
        "wirelab-engine-json", "crates/engine-json", "the engine with JSON Schema", 120.0
    ),
}
"""By the name of the binary."""


def program(name: str, interruption: Interruption, on_build: OnBuild = ignore) -> Path:
    """The program of that name in :data:`PROGRAMS`: next to the engine; otherwise, in a checkout,
    as cargo builds it from the present sources. Raises :class:`EngineMissing`,
    :class:`NotInstalled`, :class:`BuildError`."""
    beside = engine_binary.find().with_name(name)
    if engine_binary.is_executable(beside):
        return beside
    folder = checkout.find()
    if folder is None:
        raise NotInstalled(
            f"{PROGRAMS[name].title} is not installed: {beside} does not exist",
            "install the wheel of wirelab again, or run it in a checkout of wirelab",
        )
    return _build(name, folder, interruption, on_build)


def find_pending_build(name: str) -> builds.PendingBuild | None:
    """The build that :func:`program` would begin with; None if the program exists, which does not
    show whether its sources have changed. Raises :class:`EngineMissing`."""
    folder = checkout.find()
    target = find_target_folder(folder or Path())
    places = (engine_binary.find().with_name(name), target / "release" / name)
    if folder is None or any(map(engine_binary.is_executable, places)):
        return None
    return builds.PendingBuild(PROGRAMS[name].title, PROGRAMS[name].build_seconds)


def find_target_folder(root: Path) -> Path:
    """Where cargo builds the programs of a checkout."""
    return Path(os.environ.get("CARGO_TARGET_DIR") or root / "target").resolve()


def engine_for(plan: Plan, interruption: Interruption) -> Path:
    """The engine that can execute a plan. Raises :class:`EngineMissing`, :class:`NotInstalled`,
    :class:`BuildError`."""
    encoded = msgspec.json.encode(plan)
    carries = b'"kind":"requests"' in encoded and b'"carry":' in encoded
    if carries or b'"json_schema":' in encoded:
        return program(JSON_ENGINE, interruption)
    return engine_binary.find()


def _build(name: str, folder: Path, interruption: Interruption, on_build: OnBuild) -> Path:
    """cargo builds nothing that is built already."""
    built = PROGRAMS[name]
    if shutil.which("cargo") is None:
        raise BuildError(f"{built.title} needs cargo, which is not in PATH", "install Rust")
    cache = installation.cache() / "services"
    cache.mkdir(parents=True, exist_ok=True)
    log = cache / f"{name}.log"
    target = find_target_folder(folder)
    command = ["cargo", "build", "--release", "--locked", "--color=never"]
    command += ["--manifest-path", str(folder / "Cargo.toml"), "--target-dir", str(target)]
    command += ["--package", built.package, "--bin", name]
    with builds.lock(cache / f"{name}.lock", built.title, interruption, on_build):
        report = BuildReport(built.title, log, built.build_seconds)
        builds.run_builder(built.title, command, log, interruption, report, on_build)
    return target / "release" / name
