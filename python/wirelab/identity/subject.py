"""The service to examine, and how to start it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

from wirelab.process import proxies
from wirelab.process.children import ProcessOptions
from wirelab.process.databases import Store
from wirelab.process.endpoint import Endpoint, ListenSpec
from wirelab.process.interruption import Interruption
from wirelab.process.scratch import Scratch
from wirelab.process.services import Program, Service, Settings
from wirelab.stack.reference import Stack

HELLO_BYTES = 14
"""Size of Hello's text (contracts/README.md, defaults)."""


@dataclass(frozen=True)
class Subject:
    """A program that serves a contract over a stack, with its own store."""

    program: Program
    stack: Stack
    contract: str
    store: Store
    scratch: Scratch
    interruption: Interruption
    faults: Mapping[str, object] = field(default_factory=dict)
    ready_timeout_s: float | None = None
    """See :class:`wirelab.process.children.ProcessOptions`."""

    @property
    def folder(self) -> Path:
        """Name for logs."""
        return self.scratch.folder

    @contextmanager
    def start(self, **store: int) -> Iterator[tuple[Service, Endpoint]]:
        """A separate service and its endpoint; ``store`` is added to the configuration of the
        store. It ends with the block. Raises :class:`TrialFailed`."""
        listen = ListenSpec.of(self.stack, self.scratch)
        settings = Settings(
            hello_bytes=HELLO_BYTES,
            processors=2,
            collector=self.program.manifest.collector,
            faults=self.faults,
            store={**self.store.configuration(), **store},
        )
        place = proxies.Place(self.folder)
        with (
            Service(
                self.program,
                settings.configuration(self.stack, self.contract, listen),
                ProcessOptions(
                    log=self.folder / "service.log", ready_timeout_s=self.ready_timeout_s
                ),
                interruption=self.interruption,
            ) as service,
            proxies.start_proxy(
                self.stack.axes, service.endpoint(listen), place, self.interruption
            ) as (_, endpoint),
        ):
            yield service, endpoint
