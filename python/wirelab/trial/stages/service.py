"""The service of a trial, and its store: one of wirelab's, or one that the experiment declares."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Protocol

from wirelab.documents.plan import Plan
from wirelab.errors import TrialFailed
from wirelab.experiment.external import ExternalService
from wirelab.process import cgroups
from wirelab.process.children import ProcessOptions
from wirelab.process.databases import MEMORY, Store
from wirelab.process.endpoint import Endpoint, ListenSpec
from wirelab.process.engine import Drive
from wirelab.process.external import (
    AnyExternal,
    ExternalProcess,
    ListenHost,
    RunningService,
    tell_left,
)
from wirelab.process.services import Service
from wirelab.records.group import GroupResult
from wirelab.records.service import IdentityRecord, ServiceRecord
from wirelab.stack.external import LANGUAGE
from wirelab.trial.plans import plan_warmup, preparation, settings, store_timeout_ms
from wirelab.trial.setup import TrialSetup
from wirelab.trial.stages.link import AnyLink, End

Json = dict[str, object]


@dataclass(frozen=True)
class StartedService:
    """A service that is ready."""

    process: Service | AnyExternal
    endpoint: Endpoint
    announced: Json
    """What it reported of itself."""
    sha256: str | None = None
    """Of its binary."""
    identity: IdentityRecord | None = None

    def complete(self, findings: ServiceRecord) -> ServiceRecord:
        """Its record, from what was observed of it."""
        announced = findings.add_ready_line(self.announced)
        return replace(announced, sha256=self.sha256, identity=self.identity)

    def complete_after_end(self, record: ServiceRecord) -> ServiceRecord:
        """Its record, with what is known only once it has ended."""
        return replace(record, left=self.process.left or None)


class ServiceStages(Protocol):
    """The stages of a trial that depend on whose service is measured."""

    def open_store(self) -> contextlib.AbstractContextManager[Store]:
        """The store of the service. Raises :class:`LabError`, :class:`TrialFailed`."""

    def start_service(self, store: Store) -> contextlib.AbstractContextManager[StartedService]:
        """The service, once it is ready. Raises :class:`TrialFailed`."""

    def prepare_service(self, endpoint: Endpoint) -> None:
        """Makes the calls that prepare it. Raises :class:`TrialFailed` unless every call
        succeeds."""


def admit_service(setup: TrialSetup, link: AnyLink) -> ServiceStages:
    """The stages of the trial's service, which wirelab has verified if it is its own. Raises
    :class:`LabError`."""
    declared = setup.cell.external
    if declared is None:
        return LabService(setup, link)
    return DeclaredService(setup, link, declared)


class LabService:
    """A service of wirelab."""

    def __init__(self, setup: TrialSetup, link: AnyLink) -> None:
        """Verifies and builds it. Raises :class:`LabError`."""
        lab, stack, contract = setup.lab, setup.cell.stack, setup.cell.message.contract
        self._setup, self._link = setup, link
        self._identity = lab.admission.of(stack, contract)
        self._program = lab.programs.program(stack, lab.interruption, contract)
        collector = self._program.manifest.collector
        self._settings = settings(lab.experiment, setup.planned, setup.table, collector)
        # Behind a proxy, the service is at no end of the link.
        host = link.server.address if setup.is_direct else End().address
        self._listen = ListenSpec.of(stack, lab.scratch, host)

    def open_store(self) -> contextlib.AbstractContextManager[Store]:
        """A fresh store."""
        setup = self._setup
        return setup.lab.stores.open(
            setup.cell.stack,
            setup.folder,
            namespace=self._link.server.namespace,
            cores=setup.table.service,
        )

    @contextlib.contextmanager
    def start_service(self, store: Store) -> Iterator[StartedService]:
        """Starts it with its configuration, of which the trial keeps a copy."""
        setup = self._setup
        configuration = self._configure(store)
        with (
            cgroups.group(setup.axes.server.cpu_percent, "server") as group,
            Service(
                self._program,
                configuration,
                _process_options(setup, self._link, group),
                interruption=setup.interruption,
            ) as service,
        ):
            ready = {key: value for key, value in service.ready_line.items() if value is not None}
            shown = {**configuration, "store": store.mask_password(configuration["store"])}
            setup.write_json("service.json", {"configuration": shown, "ready": ready})
            yield StartedService(
                service,
                service.endpoint(self._listen),
                ready,
                self._program.sha256,
                self._identity,
            )

    def _configure(self, store: Store) -> Json:
        cell, stored = self._setup.cell, store.configuration()
        if stored:
            stored["timeout_ms"] = store_timeout_ms(self._setup.experiment.timeout)
        configured = replace(self._settings, store=stored)
        return configured.configuration(cell.stack, cell.message.contract, self._listen)

    def prepare_service(self, endpoint: Endpoint) -> None:
        """Makes the calls of ``prepare`` with the engine."""
        setup = self._setup
        for step in setup.experiment.prepare:
            plan = preparation(setup.experiment, setup.planned, endpoint, step)
            _make_calls(setup, self._link, plan, ("prepare", f"calls of {step.name}"), step.calls)


def _make_calls(
    setup: TrialSetup, link: AnyLink, plan: Plan, words: tuple[str, str], count: int
) -> None:
    """Makes that many calls with the engine before a trial. ``words`` are the key that asks for
    them, and what they are. Raises :class:`TrialFailed` unless every one succeeds."""
    options = ProcessOptions(
        log=setup.folder / "prepare.log",
        cores=setup.table.engine,
        namespace=link.client.namespace,
    )
    drive = Drive(plan, options, interruption=setup.interruption)
    made = GroupResult.of(drive.outcome().groups[0])
    setup.interruption.check()
    if made.errors or made.ok != count:
        key, calls = words
        raise TrialFailed(f"{key}: {made.ok:,} of {count:,} {calls} succeeded")


@dataclass(frozen=True)
class DeclaredService:
    """A service that the experiment declares: a command, or one that is running already."""

    setup: TrialSetup
    link: AnyLink
    declared: ExternalService

    def open_store(self) -> contextlib.AbstractContextManager[Store]:
        """None of wirelab's: the service may have its own."""
        return contextlib.nullcontext(Store(MEMORY))

    @contextlib.contextmanager
    def start_service(self, _: Store) -> Iterator[StartedService]:
        """Starts it, or connects to it."""
        self.setup.write_json("service.json", self.declared.point())
        with self._start_process() as process:
            announced = {"language": LANGUAGE, **process.record()}
            yield StartedService(process, process.endpoint(), announced)

    @contextlib.contextmanager
    def _start_process(self) -> Iterator[AnyExternal]:
        setup, client = self.setup, self.link.client.namespace
        revealed = setup.experiment.secrets.reveal(self.declared)
        if revealed.command is None:
            with RunningService(revealed, client) as running:
                yield running
            return
        started: ExternalProcess | None = None
        try:
            with (
                cgroups.group(setup.axes.server.cpu_percent, "server") as group,
                ExternalProcess(
                    revealed,
                    ListenHost(self.link.server.address, client),
                    _process_options(setup, self.link, group),
                    interruption=setup.interruption,
                ) as started,
            ):
                yield started
        except TrialFailed as failure:
            left = tell_left(started.left) if started else ""
            raise TrialFailed(f"{failure.reason}{left}") from failure

    def prepare_service(self, endpoint: Endpoint) -> None:
        """Makes the calls of ``warm_calls``; ``prepare`` names calls of wirelab's contracts."""
        setup = self.setup
        if self.declared.warm_calls:
            plan = plan_warmup(setup.experiment, setup.planned, endpoint)
            _make_calls(setup, self.link, plan, ("warm_calls", "calls"), self.declared.warm_calls)


def _process_options(setup: TrialSetup, link: AnyLink, group: Path | None) -> ProcessOptions:
    return ProcessOptions(
        log=setup.folder / "service.log",
        cores=setup.table.service,
        namespace=link.server.namespace,
        group=group,
        ready_timeout_s=setup.lab.ready_timeout_s,
    )
