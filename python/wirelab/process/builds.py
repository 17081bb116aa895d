"""Builds programs from their manifests, and finds the built ones of a package."""

from __future__ import annotations

import hashlib
import shutil
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from importlib import metadata
from pathlib import Path
from typing import Protocol

from wirelab import checkout, installation
from wirelab.errors import BuildError, NotInstalled
from wirelab.process import file_locks
from wirelab.process.build_progress import (
    REPORT_S,
    BuildReport,
    OnBuild,
    ignore,
    usual_seconds,
)
from wirelab.process.children import Child, ProcessOptions, describe_exit, run_to_end
from wirelab.process.interruption import Interruption

BUILD_S_MAX = 1800.0
"""Time limit of a build; it may have to fetch dependencies first."""
OUT = "service"
"""Name of the file or folder that a build creates."""


class Buildable(Protocol):
    """The parts of a manifest that define how to build its program."""

    @property
    def title(self) -> str:
        """Name of the program in messages."""

    @property
    def cache_name(self) -> str:
        """Name of its builds in the cache."""

    @property
    def build(self) -> tuple[str, ...]:
        """The command; empty: there is nothing to build."""

    @property
    def requires(self) -> tuple[str, ...]:
        """Programs that it needs in PATH."""

    @property
    def remedy(self) -> str:
        """What to do if one of them is missing."""

    @property
    def needs(self) -> tuple[str, ...]:
        """Programs that it needs in PATH to run."""

    @property
    def build_seconds(self) -> float | None:
        """Usual time of its first build on two cores, seconds; None: not known."""


def build(
    manifest: Buildable, folder: Path, interruption: Interruption, on_build: OnBuild = ignore
) -> Path:
    """Builds the program in ``folder`` unless these sources were built before; without a checkout,
    finds it in its package. Returns the path that the manifest calls ``{out}``. Raises
    :class:`BuildError`, :class:`NotInstalled`."""
    if not manifest.build:
        return folder
    if checkout.find() is None:
        return find_installed(manifest, folder)
    require(manifest)
    cache = installation.cache() / "services"
    cache.mkdir(parents=True, exist_ok=True)
    built = cache / f"{manifest.cache_name}-{digest(folder, manifest)[:16]}"
    with lock(cache / f"{manifest.cache_name}.lock", manifest.title, interruption, on_build):
        if not built.is_dir():
            build_into(built, manifest, folder, interruption, version=_version(), on_build=on_build)
    return built / OUT


@contextmanager
def lock(
    path: Path, title: str, interruption: Interruption, on_build: OnBuild = ignore
) -> Iterator[None]:
    """Holds the lock of the builds of ``title``, so that two processes build once. Raises
    :class:`Interrupted` on request."""
    waiting = f"waiting for another process that builds {title}"
    with file_locks.hold_lock(path, lambda: on_build(waiting), interruption):
        on_build("")
        yield


@dataclass(frozen=True)
class PendingBuild:
    """A build that a run would begin with."""

    title: str
    seconds: float | None
    """How long it took last, or usually takes; None: not known."""


def find_pending_build(manifest: Buildable, folder: Path) -> PendingBuild | None:
    """The build of these sources; None if they were built before, or need not be."""
    if not manifest.build or checkout.find() is None:
        return None
    cache = installation.cache() / "services"
    if (cache / f"{manifest.cache_name}-{digest(folder, manifest)[:16]}").is_dir():
        return None
    record = cache / f"{manifest.cache_name}.seconds"
    return PendingBuild(manifest.title, usual_seconds(record, manifest.build_seconds))


def package_name(folder: Path) -> str:
    """The Python package with the built programs of ``services/<language>``."""
    return f"wirelab-services-{folder.name}"


def find_installed(manifest: Buildable, folder: Path) -> Path:
    """The program in the package of its folder, which must have the version of wirelab. Raises
    :class:`NotInstalled`."""
    wanted, name = _version(), package_name(folder)
    install = f"install {name}=={wanted}, or run it in a checkout of wirelab"
    try:
        package = metadata.distribution(name)
    except metadata.PackageNotFoundError:
        missing = f"{manifest.title} is not installed: the package {name} is missing"
        raise NotInstalled(missing, install) from None
    if package.version != wanted:
        other = f"{name} is installed in version {package.version}"
        raise NotInstalled(f"{other}, and wirelab in version {wanted}", install)
    for program in manifest.needs:
        if shutil.which(program) is None:
            lacking = f"{manifest.title} needs {program}, which is not in PATH"
            raise NotInstalled(lacking, f"install {program}")
    return Path(str(package.locate_file(name.replace("-", "_")))) / manifest.cache_name


def digest(folder: Path, manifest: Buildable) -> str:
    """SHA-256 over names and contents of all sources, including the contracts, and the build
    command."""
    total = hashlib.sha256(repr(_command(manifest, _version())).encode())
    for base in (folder, installation.folder("contracts")):
        for path in _files(base):
            total.update(f"{path.relative_to(base)}\0{path.stat().st_size}\0".encode())
            total.update(path.read_bytes())
    return total.hexdigest()


def _command(manifest: Buildable, version: str) -> tuple[str, ...]:
    """The build command with wirelab's version filled in, which ready lines contain for wirelab's
    own code."""
    return tuple(part.replace("{version}", version) for part in manifest.build)


def _version() -> str:
    """Of wirelab. Raises :class:`BuildError` if it is not installed."""
    try:
        return metadata.version("wirelab")
    except metadata.PackageNotFoundError as error:
        raise BuildError(
            "building a service needs the version of wirelab, and the package wirelab is not "
            "installed",
            "run `make setup` and use .venv/bin/wirelab",
        ) from error


def _files(folder: Path) -> list[Path]:
    """Every source file in the folder, without golden vectors, which only tests use."""
    found = (path for path in folder.rglob("*") if path.is_file())
    return sorted(path for path in found if "vectors" not in path.parts)


def require(manifest: Buildable) -> None:
    """Raises :class:`BuildError` if a program that a build needs is not in PATH."""
    missing = [program for program in manifest.requires if shutil.which(program) is None]
    if missing:
        raise BuildError(
            f"{manifest.title} needs {missing[0]}, which is not in PATH",
            manifest.remedy or f"install {missing[0]}",
        )


def build_into(
    built: Path,
    manifest: Buildable,
    folder: Path,
    interruption: Interruption,
    *,
    version: str,
    on_build: OnBuild = ignore,
) -> None:
    """Builds the program in ``folder`` as ``built / OUT``, which is complete or does not exist. The
    time that it took is kept next to it. Raises :class:`BuildError`."""
    unfinished = built.with_name(f"{built.name}.unfinished")
    shutil.rmtree(unfinished, ignore_errors=True)
    unfinished.mkdir()
    command = [part.replace("{out}", str(unfinished / OUT)) for part in _command(manifest, version)]
    log, record = built.with_suffix(".log"), built.with_name(f"{manifest.cache_name}.seconds")
    report = BuildReport(manifest.title, log, usual_seconds(record, manifest.build_seconds))
    run_builder(manifest.title, enter_folder(folder, command), log, interruption, report, on_build)
    unfinished.rename(built)
    record.write_text(f"{report.seconds:.1f}", encoding="ascii")


def enter_folder(folder: Path, command: Sequence[str]) -> list[str]:
    """The command, run in the folder. Its standard output goes to standard error, because some
    build tools print errors there."""
    return ["sh", "-c", 'cd "$1" && shift && exec "$@" >&2', "sh", str(folder), *command]


def run_builder(
    title: str,
    command: Sequence[str],
    log: Path,
    interruption: Interruption,
    report: BuildReport,
    on_build: OnBuild = ignore,
) -> None:
    """Runs the build of ``title``, and passes what it does to ``on_build``. Raises
    :class:`BuildError`."""
    log.unlink(missing_ok=True)
    child = Child(command, ProcessOptions(log=log))
    due = 0.0

    def tick() -> None:
        nonlocal due
        if report.seconds >= due:
            due = report.seconds + REPORT_S
            on_build(report.line())

    try:
        code = run_to_end(child, BUILD_S_MAX, interruption, tick)
    finally:
        child.kill()
        on_build("")
    if code != 0:
        how = f"took more than {BUILD_S_MAX:.0f} s" if code is None else describe_exit(code)
        raise BuildError(
            f"building {title} failed ({how}): {child.log_tail()}",
            f"the complete log is {log}",
        )
