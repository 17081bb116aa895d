"""Builds services, once per state of their sources."""

from __future__ import annotations

import fcntl
import hashlib
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from importlib import metadata
from pathlib import Path

from wirelab import checkout
from wirelab.errors import BuildError
from wirelab.process.children import Child, ProcessOptions, describe_exit, run_to_end
from wirelab.process.interruption import Interruption
from wirelab.stack.manifests import Manifest

BUILD_S_MAX = 1800.0
"""A build that takes longer is ended; dependencies may have to be fetched first."""
OUT = "service"
"""Name of the file or folder that a build makes."""


def build(manifest: Manifest, folder: Path, interruption: Interruption) -> Path:
    """Builds the service in ``folder`` unless these sources were built before, and returns
    what the manifest calls ``{out}``. Raises :class:`BuildError`."""
    if not manifest.build:
        return folder
    _require(manifest)
    cache = checkout.root() / ".cache" / "services"
    cache.mkdir(parents=True, exist_ok=True)
    built = cache / f"{manifest.language}-{digest(folder, manifest)[:16]}"
    with _locked(cache / f"{manifest.language}.lock"):
        if not built.is_dir():
            _build_into(built, manifest, folder, interruption)
    return built / OUT


def digest(folder: Path, manifest: Manifest) -> str:
    """SHA-256 over the names and contents of all sources, the contracts' among them, and
    the build command."""
    total = hashlib.sha256(repr(_command(manifest)).encode())
    for base in (folder, checkout.root() / "contracts"):
        for path in _files(base):
            total.update(f"{path.relative_to(base)}\0{path.stat().st_size}\0".encode())
            total.update(path.read_bytes())
    return total.hexdigest()


def _command(manifest: Manifest) -> tuple[str, ...]:
    """The build command with wirelab's version in it, which a ready line gives to code of the
    lab's own. Raises :class:`BuildError`."""
    try:
        version = metadata.version("wirelab")
    except metadata.PackageNotFoundError as error:
        raise BuildError(
            "a service is built with the version of wirelab, and the package wirelab is not "
            "installed",
            "run `make setup`, and use .venv/bin/wirelab",
        ) from error
    return tuple(part.replace("{version}", version) for part in manifest.build)


def _files(folder: Path) -> list[Path]:
    """Every source in the folder; the golden vectors are for tests alone."""
    found = (path for path in folder.rglob("*") if path.is_file())
    return sorted(path for path in found if "vectors" not in path.parts)


def _require(manifest: Manifest) -> None:
    missing = [program for program in manifest.requires if shutil.which(program) is None]
    if missing:
        raise BuildError(
            f"the service in {manifest.language} needs {missing[0]}, which is not in PATH",
            manifest.remedy or f"install {missing[0]}",
        )


@contextmanager
def _locked(path: Path) -> Iterator[None]:
    """Two runs that start together build once."""
    with path.open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield


def _build_into(built: Path, manifest: Manifest, folder: Path, interruption: Interruption) -> None:
    unfinished = built.with_name(f"{built.name}.unfinished")
    shutil.rmtree(unfinished, ignore_errors=True)
    unfinished.mkdir()
    log = built.with_suffix(".log")
    log.unlink(missing_ok=True)
    command = [part.replace("{out}", str(unfinished / OUT)) for part in _command(manifest)]
    # Some builders say on standard output what went wrong.
    aside = ["sh", "-c", 'cd "$1" && shift && exec "$@" >&2', "sh", str(folder)]
    child = Child([*aside, *command], ProcessOptions(log=log))
    try:
        code = run_to_end(child, BUILD_S_MAX, interruption)
    finally:
        child.kill()
    if code != 0:
        how = f"took over {BUILD_S_MAX:.0f} s" if code is None else describe_exit(code)
        raise BuildError(
            f"building the service in {manifest.language} failed ({how}): {child.log_tail()}",
            f"the whole log is {log}",
        )
    unfinished.rename(built)
