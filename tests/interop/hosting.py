"""Our services, started as the front starts them, for clients that other people wrote."""

from __future__ import annotations

import itertools
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from types import TracebackType
from typing import Any

import pytest

from wirelab.errors import BuildError, EngineMissing, StackError
from wirelab.process import engine_binary, metrics
from wirelab.process.children import ProcessOptions
from wirelab.process.endpoint import ListenSpec
from wirelab.process.interruption import Interruption
from wirelab.process.scratch import Certificates, Scratch
from wirelab.process.services import Program, Programs, Service, Settings
from wirelab.stack import manifests
from wirelab.stack.reference import Stack

Json = dict[str, Any]


class Hosted:
    """A running service of ours. Use as a context manager."""

    def __init__(
        self,
        service: Service,
        stack: Stack,
        contract: str,
        tls: Certificates | None,
        keys: Mapping[str, str],
    ):
        self.service = service
        self.stack = stack
        self.contract = contract
        self.tls = tls
        self.keys = keys

    def __enter__(self) -> Hosted:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.service.__exit__(kind, error, trace)

    @property
    def address(self) -> str:
        """``127.0.0.1:43210`` or ``unix:/path``."""
        return self.service.ready.address

    @property
    def ior(self) -> str:
        """The object, with iiop."""
        assert self.service.ready.ior is not None
        return self.service.ready.ior

    def connections(self) -> int:
        """Accepted so far."""
        return self._total("wirelab_connections_total")

    def calls(self) -> int:
        """Calls that reached the service's own code so far."""
        return self._total("wirelab_calls_total")

    def errors(self) -> int:
        """Calls that were answered with an application error so far."""
        return self._total("wirelab_errors_total")

    def _total(self, name: str) -> int:
        return int(metrics.total(metrics.parse(self.service.scrape()), name))


class Host:
    """Starts services by reference; each language is built once."""

    def __init__(self, scratch: Scratch, logs: Path) -> None:
        self._scratch = scratch
        self._catalogue = manifests.load()
        self._programs = Programs(self._catalogue)
        self._logs = logs
        self._numbers = itertools.count(1)

    def start(
        self,
        reference: str,
        contract: str = "transfer",
        *,
        store: Json | None = None,
        hello_bytes: int = 14,
        collector: Json | None = None,
    ) -> Hosted:
        """The service of that stack, with more settings of its collector where given. Skips the
        test, with the reason, where it cannot be built here or is not served in that language."""
        stack = Stack.parse(reference)
        listen = ListenSpec.of(stack, self._scratch)
        settings = Settings(hello_bytes=hello_bytes, processors=2)
        program = self._build(stack, contract)
        settings = replace(
            settings,
            collector=program.manifest.collector | (collector or {}),
            store={**settings.store, **(store or {})},
        )
        configuration = settings.configuration(stack, contract, listen)
        log = self._logs / f"{next(self._numbers)}-{stack.axes.language}.log"
        service = Service(
            program, configuration, ProcessOptions(log=log), interruption=Interruption()
        )
        tls = self._scratch.certificates() if stack.axes.security != "none" else None
        return Hosted(service, stack, contract, tls, listen.keys)

    def program(self, reference: str, contract: str) -> Program:
        """The built service, not started. Skips the test where it cannot be built here."""
        return self._build(Stack.parse(reference), contract)

    def _build(self, stack: Stack, contract: str) -> Program:
        try:
            return self._programs.program(stack, Interruption(), contract)
        except (StackError, EngineMissing) as error:
            pytest.skip(str(error))
        except BuildError as error:
            # What is not installed is a reason to skip; a build that fails is a failure.
            if "which is not in PATH" not in str(error):
                raise
            pytest.skip(str(error))


def engine() -> Path:
    """The engine; without it the test is skipped with a message."""
    try:
        return engine_binary.find()
    except EngineMissing as error:
        pytest.skip(str(error))
