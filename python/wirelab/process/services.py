"""A service under measurement: a process by the contract of docs/reference/process.md."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any

from wirelab.documents.service_ready import Ready
from wirelab.errors import BuildError, TrialFailed
from wirelab.process import builds, engine_binary, metrics
from wirelab.process.children import ProcessOptions
from wirelab.process.digests import binary_digest
from wirelab.process.endpoint import ANY_PORT, Endpoint, ListenSpec
from wirelab.process.interruption import Interruption
from wirelab.process.managed import ManagedProcess
from wirelab.stack.manifests import Catalogue, Manifest
from wirelab.stack.reference import Stack

AT_ANY_PORT = ListenSpec()
"""Without TLS, on a free port of the loopback interface."""

Json = dict[str, Any]


@dataclass(frozen=True)
class Program:
    """A built service: what to start, and its identity."""

    manifest: Manifest
    command: tuple[str, ...]

    @cached_property
    def sha256(self) -> str:
        """Of its binary. Raises :class:`OSError`."""
        return binary_digest(Path(self.command[0]))


@dataclass(frozen=True)
class Settings:
    """What a service is configured with, beside its stack."""

    hello_bytes: int = 14
    processors: int = 1
    collector: Json = field(default_factory=dict)
    faults: Json = field(default_factory=dict)
    store: Json = field(default_factory=dict)
    """Of :meth:`wirelab.process.databases.Store.configuration`."""

    def configuration(
        self, stack: Stack, contract: str = "transfer", appointment: ListenSpec = AT_ANY_PORT
    ) -> Json:
        """The JSON object for the service's standard input."""
        tls = {"tls": appointment.service_tls} if appointment.service_tls else {}
        return {
            "contract": contract,
            "stack": stack.service_stack(),
            "listen": appointment.listen,
            **tls,
            "metrics_listen": ANY_PORT,
            "store": {"hello_bytes": self.hello_bytes, **self.store},
            "socket": stack.service_socket(),
            "processors": self.processors,
            "collector": self.collector,
            "faults": self.faults,
        }


class Programs:
    """Builds each language's service once per run."""

    def __init__(self, catalogue: Catalogue) -> None:
        self._catalogue = catalogue
        self._built: dict[str, Program] = {}

    def program(
        self, stack: Stack, interruption: Interruption, contract: str = "transfer"
    ) -> Program:
        """The built service for a stack. Raises :class:`BuildError`, :class:`StackError`."""
        manifest = self._catalogue.manifest(stack, contract)
        if manifest.language not in self._built:
            folder = self._catalogue.folders[manifest.language]
            out = builds.build(manifest, folder, interruption)
            self._built[manifest.language] = _program(manifest, out)
        return self._built[manifest.language]


def _program(manifest: Manifest, out: Path) -> Program:
    engine = str(engine_binary.find()) if any("{engine}" in part for part in manifest.start) else ""
    command = tuple(
        part.replace("{out}", str(out)).replace("{engine}", engine) for part in manifest.start
    )
    binary = Path(command[0])
    if not binary.is_file():
        raise BuildError(
            f"the service in {manifest.language} was built, but {binary} is not there",
            "correct `build` and `start` in its service.json",
        )
    return Program(manifest, command)


class Service(ManagedProcess[Ready]):
    """A running service. Use as a context manager; it ends with the block. Its calls in
    flight get one second of its time to end."""

    noun = "the service"
    model = Ready

    def __init__(
        self,
        program: Program,
        configuration: Json,
        options: ProcessOptions,
        *,
        interruption: Interruption,
    ) -> None:
        """Starts it and waits for its ready line. Raises :class:`TrialFailed` when it refuses,
        dies, is silent for 20 s or prints something else."""
        self.program = program
        self.configuration = configuration
        self._namespace = options.namespace
        super().__init__(program.command, configuration, options, interruption=interruption)

    def contact(self, appointment: ListenSpec) -> Endpoint:
        """How to reach it. Raises :class:`TrialFailed` where its ready line lacks what its
        stack needs."""
        stack, needed = self.configuration["stack"], {}
        if stack["binding"] == "iiop":
            needed["ior"] = self.ready.ior
        if stack.get("reply") == "one-way":
            needed["report"] = self.ready.report
        for name, value in needed.items():
            if value is None:
                raise TrialFailed(f"the service's ready line names no {name}")
        return Endpoint(self.ready.address, tls=appointment.client_tls, **needed)

    def scrape(self) -> str:
        """The metrics as text. Raises :class:`TrialFailed` when they cannot be had."""
        try:
            return metrics.scrape(self.ready.metrics, namespace=self._namespace)
        except TimeoutError as error:
            silent = "the service did not give its metrics in time: it hangs, or has no processor"
            raise TrialFailed(self.death() or silent) from error
        except (OSError, ValueError) as error:
            raise TrialFailed(self.death() or f"the service's metrics: {error}") from error

    def glance(self, seconds_max: float) -> str | None:
        """The metrics as text, or None when a busy service does not give them in time."""
        try:
            return metrics.scrape(self.ready.metrics, seconds_max, self._namespace)
        except (OSError, ValueError):
            return None
