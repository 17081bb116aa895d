"""Builds generated services: each once for its sources and its toolchain, kept in the cache."""

from __future__ import annotations

import hashlib
import re
import shutil
import subprocess
import tempfile
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path

from wirelab import installation
from wirelab.contracts.schema import Contract
from wirelab.errors import BuildError
from wirelab.format.sanitize import sanitize
from wirelab.generate.project import Project
from wirelab.process import builds
from wirelab.process.build_progress import BuildReport, OnBuild, ignore, usual_seconds
from wirelab.process.interruption import Interruption

DONE = ".built"
"""File that a folder has when its build is complete."""


@dataclass(frozen=True)
class Toolchain:
    """What compiles the services of a language."""

    version: tuple[str, ...]
    """Command that prints its version."""
    remedy: str


WITHOUT_COMPILER = "`choose --language rust` needs no compiler"
TOOLCHAINS = {
    "go": Toolchain(("go", "version"), f"install Go 1.26 or newer; {WITHOUT_COMPILER}"),
    "java": Toolchain(("javac", "-version"), f"install a JDK 17 or newer; {WITHOUT_COMPILER}"),
    "rust": Toolchain(("cargo", "--version", "--verbose"), "install Rust 1.90 or newer"),
}
"""By language."""
ERROR = re.compile(r"error(\[E\d+\])?: |\S+:\d+:(\d+:)? (error: )?\w")
"""How rustc, Go and javac begin the line of an error."""
Write = Callable[[Path], Project]
"""Writes the sources of a service into a folder."""


def build_service(
    language: str,
    contract: Contract,
    write: Write,
    interruption: Interruption,
    on_build: OnBuild = ignore,
) -> Project:
    """Builds the service that ``write`` writes, unless these sources were built with this
    toolchain before. The project's folder is in the cache. Raises :class:`BuildError` with the
    compiler's message."""
    title = f"the service in {language} for {contract.method} of {contract.package}"
    version = read_version(language, title)
    cache = installation.cache() / "generated"
    cache.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(prefix=f"{language}-", suffix=".sources", dir=cache) as name:
        sources = Path(name)
        written = write(sources)
        built = cache / f"{language}-{digest(written, version)[:16]}"
        if not (built / DONE).is_file():
            with builds.lock(cache / f"{language}.lock", title, interruption, on_build):
                if not (built / DONE).is_file():
                    _build(written, built, title, interruption, on_build)
    return _move(written, built)


def read_version(language: str, title: str) -> str:
    """What the toolchain prints about itself. Raises :class:`BuildError` where it is missing."""
    toolchain = TOOLCHAINS[language]
    program = toolchain.version[0]
    missing = BuildError(f"{title} needs {program}, which is not in PATH", toolchain.remedy)
    if shutil.which(program) is None:
        raise missing
    done = subprocess.run(toolchain.version, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        raise BuildError(f"{program} does not run: {done.stderr.strip()[:200]}", toolchain.remedy)
    return done.stdout + done.stderr


def digest(project: Project, version: str) -> str:
    """SHA-256 over names and contents of all sources, the commands and the toolchain. The
    templates are part of it by what they were rendered to."""
    there = str(project.folder.resolve())
    commands = [part.replace(there, "") for part in (*project.build, *project.start)]
    total = hashlib.sha256(repr((commands, version)).encode())
    for path in sorted(path for path in project.folder.rglob("*") if path.is_file()):
        name = path.relative_to(project.folder)
        total.update(f"{name}\0{path.stat().st_mode}\0{path.stat().st_size}\0".encode())
        total.update(path.read_bytes())
    return total.hexdigest()


def _build(
    written: Project, built: Path, title: str, interruption: Interruption, on_build: OnBuild
) -> None:
    """Builds a copy of the sources in their folder of the cache, which is complete with its last
    file."""
    shutil.rmtree(built, ignore_errors=True)
    shutil.copytree(written.folder, built)
    log, record = built.with_suffix(".log"), built.with_name(f"{written.language}.seconds")
    report = BuildReport(title, log, usual_seconds(record, written.build_seconds))
    command = builds.enter_folder(built, _move(written, built).build)
    try:
        builds.run_builder(title, command, log, interruption, report, on_build)
    except BuildError as error:
        raise BuildError(f"{error.message}{find_error(log)}", error.remedy) from error
    (built / DONE).touch()
    record.write_text(f"{report.seconds:.1f}", encoding="ascii")


def find_error(log: Path) -> str:
    """The compiler's first error in a log, for the end of a message; cargo and javac print how
    many there were after them. Empty where there is none."""
    lines = log.read_text(encoding="utf-8", errors="replace").splitlines()
    found = next((line for line in lines if ERROR.match(line)), "")
    return f"; the first error: {sanitize(found)}" if found else ""


def _move(project: Project, folder: Path) -> Project:
    """The same project in another folder."""
    here, there = str(project.folder.resolve()), str(folder.resolve())
    build = tuple(part.replace(here, there) for part in project.build)
    start = tuple(part.replace(here, there) for part in project.start)
    return replace(project, folder=folder, build=build, start=start)
