"""A measured service: a process by the contract in docs/reference/process.md."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path

import msgspec

from wirelab import checkout
from wirelab.documents.axes import Binding, Reply
from wirelab.documents.codec_times import CodecTimes
from wirelab.documents.service_ready import Ready
from wirelab.errors import BuildError, NotInstalled, TrialFailed
from wirelab.process import builds, metrics, rust_programs
from wirelab.process.build_progress import OnBuild, ignore
from wirelab.process.builds import PendingBuild
from wirelab.process.children import ProcessOptions
from wirelab.process.endpoint import ANY_PORT, Endpoint, ListenSpec
from wirelab.process.engine_binary import binary_digest
from wirelab.process.interruption import Interruption
from wirelab.process.managed import ManagedProcess
from wirelab.process.readiness import READY_REMEDY
from wirelab.stack.manifests import STORED_CONTRACTS, Catalogue, Manifest
from wirelab.stack.reference import Stack

AT_ANY_PORT = ListenSpec()
"""No TLS, on a free port of the loopback interface."""

Json = dict[str, object]


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
    collector: Mapping[str, object] = field(default_factory=dict)
    faults: Mapping[str, object] = field(default_factory=dict)
    store: Mapping[str, str | int] = field(default_factory=dict)
    """Result of :meth:`wirelab.process.databases.Store.configuration`."""
    codec_times: bool = False
    """Whether it keeps replies, so that their codec can be timed."""

    def configuration(
        self, stack: Stack, contract: str = "transfer", listen: ListenSpec = AT_ANY_PORT
    ) -> Json:
        """The JSON object for the service's standard input."""
        files = {"tls": listen.service_tls, "keystore": listen.keys}
        options = stack.service_options()
        return {
            "contract": contract,
            "stack": stack.service_stack(),
            "listen": listen.listen,
            **{name: value for name, value in files.items() if value},
            "metrics_listen": ANY_PORT,
            "store": {"hello_bytes": self.hello_bytes, **self.store, **stack.login()},
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
        self._built: dict[tuple[str, ...], Program] = {}

    def program(
        self, stack: Stack, interruption: Interruption, contract: str = "transfer"
    ) -> Program:
        """The built service for a stack. Raises :class:`BuildError`, :class:`StackError`."""
        manifest = self._catalogue.manifest(stack, contract)
        start = _start(manifest, stack, contract)
        if start not in self._built:
            command = tuple(self._resolve(part, manifest, interruption) for part in start)
            if not Path(command[0]).is_file():
                raise BuildError(
                    f"{manifest.title} was built, but {command[0]} does not exist",
                    "correct `build` and `start` in its service.json",
                )
            self._built[start] = Program(manifest, command)
        return self._built[start]

    def _resolve(self, part: str, manifest: Manifest, interruption: Interruption) -> str:
        if part.startswith(RUST_PROGRAM):
            name = part.removeprefix(RUST_PROGRAM)
            return str(rust_programs.program(name, interruption, self._on_build))
        if "{out}" in part:
            folder = self._catalogue.folders[manifest.language]
            out = builds.build(manifest, folder, interruption, self._on_build)
            return part.replace("{out}", str(out))
        return part

    def list_pending_builds(self, stack: Stack, contract: str = "transfer") -> list[PendingBuild]:
        """Builds that :meth:`program` would begin with. Raises :class:`StackError`."""
        manifest = self._catalogue.manifest(stack, contract)
        found: list[PendingBuild | None] = []
        for part in _start(manifest, stack, contract):
            if part.startswith(RUST_PROGRAM):
                found.append(rust_programs.find_pending_build(part.removeprefix(RUST_PROGRAM)))
            elif "{out}" in part:
                found.append(
                    builds.find_pending_build(manifest, self._catalogue.folders[manifest.language])
                )
        return [one for one in found if one is not None]

    def explain_missing(self, stack: Stack, contract: str = "transfer") -> NotInstalled | None:
        """Why the service for a stack can be neither built nor found in this installation. Raises
        :class:`StackError`."""
        manifest = self._catalogue.manifest(stack, contract)
        if not manifest.build or checkout.find() is not None:
            return None
        try:
            builds.find_installed(manifest, self._catalogue.folders[manifest.language])
        except NotInstalled as missing:
            return missing
        return None


RUST_PROGRAM = "{programs}/"
"""Start of a part of a command that names a program of :mod:`wirelab.process.rust_programs`."""


def _start(manifest: Manifest, stack: Stack, contract: str) -> tuple[str, ...]:
    """The command that starts the service for this stack."""
    stored = contract in STORED_CONTRACTS and stack.axes.store != "memory"
    return (
        manifest.start_with_database if stored and manifest.start_with_database else manifest.start
    )


class _Spoken(msgspec.Struct):
    """What decides how callers find the service."""

    binding: Binding
    reply: Reply = "two-way"


class Service(ManagedProcess[Ready]):
    """A running service. Use as a context manager; it ends with the block. Calls in flight get one
    second to finish."""

    noun = "the service"
    model = Ready
    left: tuple[str, ...] = ()
    """It starts no processes."""
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
        self._spoken = msgspec.convert(configuration["stack"], _Spoken)
        self._namespace = options.namespace
        super().__init__(program.command, configuration, options, interruption=interruption)

    def endpoint(self, listen: ListenSpec) -> Endpoint:
        """Endpoint for callers. Raises :class:`TrialFailed` if its ready line lacks a value that
        the stack needs."""
        needed = {}
        if self._spoken.binding == "iiop":
            needed["ior"] = self.ready.ior
        if self._spoken.reply == "one-way":
            needed["report"] = self.ready.report
        for name, value in needed.items():
            if value is None:
                raise TrialFailed(f"the service's ready line contains no {name}")
        return Endpoint(self.ready.address, tls=listen.client_tls, keys=listen.keys, **needed)

    def tick(self) -> None:
        """Bounds its log. To be called often."""
        self.child.log.trim()

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
