"""A measured service: a process by the contract in docs/reference/process.md."""

from __future__ import annotations

import fcntl
import hashlib
import shutil
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import cached_property
from importlib import metadata
from pathlib import Path
from typing import Any, Protocol

import msgspec

from wirelab import checkout, installation
from wirelab.documents.codec_times import CodecTimes
from wirelab.documents.service_ready import Ready
from wirelab.errors import BuildError, NotInstalled, TrialFailed
from wirelab.process import engine_binary, metrics
from wirelab.process.build_progress import (
    REPORT_S,
    BuildReport,
    OnBuild,
    ignore,
    usual_seconds,
)
from wirelab.process.children import POLL_S, Child, ProcessOptions, describe_exit, run_to_end
from wirelab.process.endpoint import ANY_PORT, Endpoint, ListenSpec
from wirelab.process.engine_binary import binary_digest
from wirelab.process.interruption import Interruption
from wirelab.process.managed import ManagedProcess
from wirelab.process.readiness import READY_REMEDY
from wirelab.stack.manifests import Catalogue, Manifest
from wirelab.stack.reference import Stack

AT_ANY_PORT = ListenSpec()
"""No TLS, on a free port of the loopback interface."""

Json = dict[str, Any]


@dataclass(frozen=True)
class Program:
    """A built service: its command and its identity."""

    manifest: Manifest
    command: tuple[str, ...]

    @cached_property
    def sha256(self) -> str:
        """SHA-256 of its binary. Raises :class:`OSError`."""
        return binary_digest(Path(self.command[0]))


@dataclass(frozen=True)
class Settings:
    """Configuration of a service besides its stack."""

    hello_bytes: int = 14
    processors: int = 1
    collector: Json = field(default_factory=dict)
    faults: Json = field(default_factory=dict)
    store: Json = field(default_factory=dict)
    """Result of :meth:`wirelab.process.databases.Store.configuration`."""
    codec_times: bool = False
    """Whether it keeps replies, so that their codec can be timed."""

    def configuration(
        self, stack: Stack, contract: str = "transfer", listen: ListenSpec = AT_ANY_PORT
    ) -> Json:
        """The JSON object for the service's standard input."""
        tls = {"tls": listen.service_tls} if listen.service_tls else {}
        options = stack.service_options()
        return {
            "contract": contract,
            "stack": stack.service_stack(),
            "listen": listen.listen,
            **tls,
            "metrics_listen": ANY_PORT,
            "store": {"hello_bytes": self.hello_bytes, **self.store},
            "socket": stack.service_socket(),
            "processors": self.processors,
            "collector": self.collector,
            "faults": self.faults,
            **({"options": options} if options else {}),
            **({"codec_times": True} if self.codec_times else {}),
        }


class Programs:
    """Builds each language's service once per run."""

    def __init__(self, catalogue: Catalogue, on_build: OnBuild = ignore) -> None:
        self._catalogue = catalogue
        self._on_build = on_build
        self._built: dict[str, Program] = {}

    def program(
        self, stack: Stack, interruption: Interruption, contract: str = "transfer"
    ) -> Program:
        """The built service for a stack. Raises :class:`BuildError`, :class:`StackError`."""
        manifest = self._catalogue.manifest(stack, contract)
        if manifest.language not in self._built:
            folder = self._catalogue.folders[manifest.language]
            out = build(manifest, folder, interruption, self._on_build)
            self._built[manifest.language] = _program(manifest, out)
        return self._built[manifest.language]

    def missing(self, stack: Stack, contract: str = "transfer") -> NotInstalled | None:
        """Why the service for a stack can be neither built nor found in this installation. Raises
        :class:`StackError`."""
        manifest = self._catalogue.manifest(stack, contract)
        if not manifest.build or checkout.find() is not None:
            return None
        try:
            installed(manifest, self._catalogue.folders[manifest.language])
        except NotInstalled as missing:
            return missing
        return None


def _program(manifest: Manifest, out: Path) -> Program:
    engine = str(engine_binary.find()) if any("{engine}" in part for part in manifest.start) else ""
    command = tuple(
        part.replace("{out}", str(out)).replace("{engine}", engine) for part in manifest.start
    )
    binary = Path(command[0])
    if not binary.is_file():
        raise BuildError(
            f"the service in {manifest.language} was built, but {binary} does not exist",
            "correct `build` and `start` in its service.json",
        )
    return Program(manifest, command)


class Service(ManagedProcess[Ready]):
    """A running service. Use as a context manager; it ends with the block. Calls in flight get one
    second to finish."""

    noun = "the service"
    model = Ready
    ready_remedy = READY_REMEDY

    def __init__(
        self,
        program: Program,
        configuration: Json,
        options: ProcessOptions,
        *,
        interruption: Interruption,
    ) -> None:
        """Starts it and waits for its ready line. Raises :class:`TrialFailed` if it refuses, dies,
        stops making progress before it is ready or prints something else."""
        self.program = program
        self.configuration = configuration
        self._namespace = options.namespace
        super().__init__(program.command, configuration, options, interruption=interruption)

    def endpoint(self, listen: ListenSpec) -> Endpoint:
        """Endpoint for callers. Raises :class:`TrialFailed` if its ready line lacks a value that
        the stack needs."""
        stack, needed = self.configuration["stack"], {}
        if stack["binding"] == "iiop":
            needed["ior"] = self.ready.ior
        if stack.get("reply") == "one-way":
            needed["report"] = self.ready.report
        for name, value in needed.items():
            if value is None:
                raise TrialFailed(f"the service's ready line contains no {name}")
        return Endpoint(self.ready.address, tls=listen.client_tls, **needed)

    def cpu_seconds(self) -> float | None:
        """CPU time so far; None if it has ended."""
        return metrics.cpu_seconds(self.ready.pid)

    def pids(self) -> tuple[int, ...]:
        """Its processes."""
        return (self.ready.pid,)

    def rss_max_bytes(self) -> int | None:
        """Peak resident memory; None if it has ended."""
        return metrics.rss_max_bytes(self.ready.pid)

    def involuntary_switches(self) -> dict[int, int] | None:
        """Involuntary context switches by thread; None if it has ended."""
        return metrics.involuntary_switches(self.ready.pid)

    def scrape(self) -> str:
        """The metrics as text. Raises :class:`TrialFailed` if they cannot be read."""
        try:
            return metrics.scrape(self.ready.metrics, namespace=self._namespace)
        except TimeoutError as error:
            silent = "the service did not return its metrics in time: it hangs, or gets no CPU time"
            raise TrialFailed(self.death() or silent) from error
        except (OSError, ValueError) as error:
            raise TrialFailed(
                self.death() or f"the service's metrics cannot be read: {error}"
            ) from error

    def codec_times(self, operation: str, seconds: float) -> CodecTimes:
        """Measures for that many seconds how long the last reply of an operation takes to encode
        and decode. Raises :class:`TrialFailed` if this fails."""
        path = f"/codec-times?operation={operation}&seconds={seconds:g}"
        seconds_max = seconds + metrics.SCRAPE_S_MAX
        try:
            text = metrics.get(self.ready.metrics, path, seconds_max, self._namespace)
            return msgspec.json.decode(text, type=CodecTimes)
        except (OSError, ValueError) as error:
            raise TrialFailed(
                self.death() or f"the service's codec times cannot be read: {error}"
            ) from error

    def glance(self, seconds_max: float) -> str | None:
        """The metrics as text, or None if a busy service does not return them in time."""
        try:
            return metrics.scrape(self.ready.metrics, seconds_max, self._namespace)
        except (OSError, ValueError):
            return None


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
        return installed(manifest, folder)
    require(manifest)
    cache = installation.cache() / "services"
    cache.mkdir(parents=True, exist_ok=True)
    built = cache / f"{manifest.cache_name}-{digest(folder, manifest)[:16]}"
    waiting = f"waiting for another process that builds {manifest.title}"
    with _locked(cache / f"{manifest.cache_name}.lock", lambda: on_build(waiting), interruption):
        on_build("")
        if not built.is_dir():
            build_into(built, manifest, folder, interruption, version=_version(), on_build=on_build)
    return built / OUT


def package_name(folder: Path) -> str:
    """The Python package with the built programs of ``services/<language>``."""
    return f"wirelab-services-{folder.name}"


def installed(manifest: Buildable, folder: Path) -> Path:
    """The program in the package of its folder, which must have the version of wirelab. Raises
    :class:`NotInstalled`."""
    wanted, name = _version(), package_name(folder)
    install = f"install {name}=={wanted}, or run it in a checkout of wirelab"
    try:
        package = metadata.distribution(name)
    except metadata.PackageNotFoundError:
        missing = f"{manifest.title} is not installed: there is no package {name}"
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


@contextmanager
def _locked(path: Path, on_wait: Callable[[], None], interruption: Interruption) -> Iterator[None]:
    """Locks the build, so that two runs that start together build once. Raises
    :class:`Interrupted` on request."""
    with path.open("w") as lock:
        while True:
            try:
                fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
                break
            except BlockingIOError:
                interruption.check()
                on_wait()
                time.sleep(POLL_S)
        yield


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
    # Some build tools print errors on standard output.
    aside = ["sh", "-c", 'cd "$1" && shift && exec "$@" >&2', "sh", str(folder)]
    log, record = built.with_suffix(".log"), built.with_name(f"{manifest.cache_name}.seconds")
    report = BuildReport(manifest.title, log, usual_seconds(record, manifest.build_seconds))
    run_builder(manifest.title, [*aside, *command], log, interruption, report, on_build)
    unfinished.rename(built)
    record.write_text(f"{report.seconds:.1f}", encoding="ascii")


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
