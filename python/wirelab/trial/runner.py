"""Executes one trial: prepare, warm up, measure, drain, collect, check."""

from __future__ import annotations

import contextlib
import json
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import msgspec

from wirelab import loadtools
from wirelab.checks import load as load_checks
from wirelab.documents import to_json
from wirelab.documents.event import Progress, TimePoint
from wirelab.documents.link import Measure
from wirelab.documents.link_ready import Nominal
from wirelab.documents.plan import Plan
from wirelab.errors import TrialFailed
from wirelab.experiment import placement
from wirelab.experiment.external import ExternalService
from wirelab.experiment.link_profiles import LOOPBACK, Profile
from wirelab.experiment.matrix import PlannedTrial
from wirelab.experiment.model import NO_CAPTURE, Experiment
from wirelab.identity import Admission
from wirelab.loadtools import ToolRequest, Tools
from wirelab.process import cgroups, metrics, proxies, usage
from wirelab.process.callers import Callers, ClientDrive
from wirelab.process.children import ProcessOptions
from wirelab.process.databases import MEMORY, Store, Stores
from wirelab.process.endpoint import Endpoint, ListenSpec
from wirelab.process.engine import Drive, RunObserver
from wirelab.process.external import AnyExternal, ExternalProcess, ListenHost, RunningService
from wirelab.process.interruption import Interruption
from wirelab.process.scratch import Scratch
from wirelab.process.services import Program, Programs, Service
from wirelab.process.system_noise import SystemNoiseSampler
from wirelab.records.caller import CallerRecord
from wirelab.records.codec import CodecRecord
from wirelab.records.conversion import convert
from wirelab.records.group import GroupResult, histogram_log
from wirelab.records.host import HostRecord
from wirelab.records.line import from_line, to_line
from wirelab.records.link import CaptureRecord, LinkRecord, PlacementRecord, Side
from wirelab.records.noise import NoiseRecord
from wirelab.records.proxy import ProxyRecord
from wirelab.records.service import ServiceRecord, StoreRecord
from wirelab.records.trial import Trial, now
from wirelab.records.wire import WireRecord
from wirelab.stack.axes import CLIENTS, ENGINE
from wirelab.stack.external import LANGUAGE
from wirelab.trial import capture as captures
from wirelab.trial import hops, reconciliation, secrets, series
from wirelab.trial import host as hosts
from wirelab.trial import link as links
from wirelab.trial.capture import Captures
from wirelab.trial.link import AnyLink, End, LinkSpec, open_link
from wirelab.trial.observer import Observer, OnRuntime, window_ns
from wirelab.trial.plans import plan, preparation, settings, shown, store_timeout_ms
from wirelab.trial.reconciliation import CallLog
from wirelab.trial.taken_packets import TakenPackets

CODEC_S = 2.0
"""Time for which the codec of a reply is timed, seconds."""

Json = dict[str, Any]


@dataclass(frozen=True)
class Lab:
    """Values shared by all trials of a run."""

    experiment: Experiment
    programs: Programs
    admission: Admission
    scratch: Scratch
    interruption: Interruption
    stores: Stores
    on_progress: Callable[[Progress], None] = lambda _: None
    on_runtime: OnRuntime = lambda _: None
    tools: Tools = field(default_factory=Tools)
    callers: Callers = field(default_factory=Callers)
    nominal: dict[Profile, Nominal] = field(default_factory=dict)
    """Nominal values of links, once they have been tried out."""
    ready_timeout_s: float | None = None
    """See :class:`wirelab.process.children.ProcessOptions`; for services."""
    other_runs: Callable[[], str] = lambda: ""
    """Describes the runs that use the same cores at this moment; empty: none."""
    repeats_spoilt: bool = True
    """Trials that the machine's other work spoilt are repeated once."""


@dataclass(frozen=True)
class Called:
    """Measurements of the caller, and its identity."""

    groups: tuple[GroupResult, ...]
    """The probe, and its background groups."""
    caller: CallerRecord
    call_log_error: str = ""
    """Why the log of calls ended early."""
    over_time: Mapping[str, Sequence[TimePoint]] = field(default_factory=dict)
    """The probe's response times over the window, by percentile."""

    @property
    def probe(self) -> GroupResult:
        """The group whose figures are those of the trial."""
        return self.groups[0]


@dataclass(frozen=True)
class Measured:
    """Results of a trial before its checks: parts of its record."""

    called: Called
    service: ServiceRecord
    captures: dict[Side, CaptureRecord]
    link: LinkRecord = field(default_factory=LinkRecord)
    wire: WireRecord | None = None
    store: StoreRecord | None = None
    proxy: ProxyRecord | None = None
    host: HostRecord | None = None
    noise: NoiseRecord | None = None


@dataclass(frozen=True)
class TrialContext:
    """Everything that exists when calls begin."""

    link: AnyLink
    service: Service | AnyExternal
    captures: Captures
    endpoint: Endpoint
    store: Store
    proxy: proxies.Proxy | None = None
    client_group: Path | None = None
    """Control group of the caller, if it has a CPU quota."""


def try_out(lab: Lab, planned: Iterable[PlannedTrial]) -> None:
    """Creates each link of these trials once, and captures once if they do. Raises
    :class:`LabError` if that is not possible here."""
    cells = [trial.cell for trial in planned]
    log = lab.scratch.folder / "link.log"
    for link in dict.fromkeys(cell.link for cell in cells if cell.link != LOOPBACK):
        spec = LinkSpec(link, measure=Measure(pings=1))
        lab.nominal[link] = links.try_out(spec, log, lab.interruption).nominal
    if any(cell.capture != NO_CAPTURE for cell in cells):
        captures.try_out(lab.scratch.folder, lab.interruption)
    if any(cell.records_host for cell in cells):
        hosts.try_out(lab.scratch.folder, lab.interruption)


class TrialRunner:
    """Measures one trial into its own folder."""

    def __init__(self, lab: Lab, planned: PlannedTrial, folder: Path) -> None:
        """Starts nothing; see :meth:`run`."""
        self._lab = lab
        self._planned = planned
        self._cell = planned.cell
        self._secrets = lab.experiment.secrets
        self._known = self._secrets.known
        """Secrets, to be hidden in what the service and the engine print."""
        self._axes = planned.cell.stack.axes
        self._is_direct = self._axes.via == proxies.NONE
        self._folder = folder
        self._table = placement.choose(planned.cell.placement)

    def run(self) -> Trial:
        """Returns the trial, also if it failed, with its reason. Raises :class:`LabError`,
        :class:`Interrupted`, :class:`OSError`."""
        processors = self._lab.experiment.processors or self._table.processors()
        trial = Trial(
            id=self._planned.id,
            point=self._cell.point,
            repeat=self._planned.repeat,
            order=self._planned.order,
            status="failed",
            started=now(),
            placement=msgspec.structs.replace(self._placement(), processors=processors),
        )
        began = time.monotonic()
        try:
            with placement.front_on(self._table):
                finished = _finished(trial, self._measured())
        except TrialFailed as failure:
            finished = replace(trial, reason=failure.reason)
        finally:
            self._known.hide_in_folder(self._folder)
        finished = replace(finished, seconds=time.monotonic() - began)
        finished = replace(finished, checks=load_checks.check(finished))
        if not self._known:
            return finished
        (hidden,) = from_line(self._known.hide_json(to_line([finished])))
        return hidden

    def _placement(self) -> PlacementRecord:
        shown = self._table.to_json(
            emulator=self._cell.link != LOOPBACK,
            capture=self._cell.capture != NO_CAPTURE,
            proxy=not self._is_direct,
        )
        return convert(shown, PlacementRecord)

    def _measured(self) -> Measured:
        nominal = self._lab.nominal.get(self._cell.link)
        with open_link(
            LinkSpec.of(self._cell.link, self._axes, links.measurement(nominal)),
            cores=self._table.emulator,
            log=self._folder / "link.log",
            interruption=self._lab.interruption,
        ) as link:
            measured = self._over(link)
            link_record = link.finish(*window_ns(measured.called.probe))
        taken = TakenPackets(
            self._folder, measured.captures, measured.host, self._keylog, self._is_direct
        )
        log = self._call_log_left(measured.called)
        wire = taken.dissected(log, self._lab.interruption)
        measured = replace(measured, link=link_record, wire=wire)
        if measured.proxy is None or wire is None:
            return measured
        sides = hops.sides(measured.captures, self._folder, self._cell.link)
        proxy, wire = hops.compared(sides, measured.proxy, wire, self._cell.stack)
        return replace(measured, proxy=proxy, wire=wire)

    def _over(self, link: AnyLink) -> Measured:
        """The trial, once its link exists."""
        if self._cell.external is not None:
            return self._over_external(link, self._cell.external)
        lab, stack, contract = self._lab, self._cell.stack, self._cell.message.contract
        identity = lab.admission.of(stack, contract)
        program = lab.programs.program(stack, lab.interruption, contract)
        configured = settings(
            lab.experiment, self._planned, self._table, program.manifest.collector
        )
        # Behind a proxy, the service is at no end of the link.
        host = link.server.address if self._is_direct else End().address
        listen = ListenSpec.of(stack, lab.scratch, host)
        with lab.stores.opened(
            stack, self._folder, namespace=link.server.namespace, cores=self._table.service
        ) as store:
            stored = store.configuration()
            if stored:
                stored["timeout_ms"] = store_timeout_ms(lab.experiment.timeout)
            configured = replace(configured, store=stored)
            configuration = configured.configuration(stack, contract, listen)
            measured = self._served(link, program, configuration, listen, store)
        proven = replace(measured.service, sha256=program.sha256, identity=identity)
        return replace(measured, service=proven)

    def _served(
        self,
        link: AnyLink,
        program: Program,
        configuration: Json,
        listen: ListenSpec,
        store: Store,
    ) -> Measured:
        """The trial, once its store exists."""
        lab = self._lab
        with (
            cgroups.group(self._axes.server.cpu_percent, "server") as group,
            Service(
                program,
                configuration,
                ProcessOptions(
                    log=self._folder / "service.log",
                    cores=self._table.service,
                    namespace=link.server.namespace,
                    group=group,
                    ready_timeout_s=self._lab.ready_timeout_s,
                ),
                interruption=lab.interruption,
            ) as service,
        ):
            ready = {key: value for key, value in service.ready_line.items() if value is not None}
            shown = {**configuration, "store": store.without_password(configuration["store"])}
            self._write("service.json", {"configuration": shown, "ready": ready})
            with self._through(link, service.endpoint(listen)) as (proxy, endpoint):
                self._prepare(link, endpoint)
                measured = self._captured(link, service, endpoint, store, proxy)
        return replace(measured, service=measured.service.announced(ready))

    def _through(
        self, link: AnyLink, endpoint: Endpoint
    ) -> contextlib.AbstractContextManager[tuple[proxies.Proxy | None, Endpoint]]:
        """The proxy of the trial, where it has one, and how it is called."""
        place = proxies.Place(
            self._folder,
            host=link.server.address,
            namespace=link.server.namespace,
            cores=self._table.proxy,
            connections=sum(self._cell.load.concurrencies),
        )
        return proxies.through(self._axes, endpoint, place, self._lab.interruption)

    def _over_external(self, link: AnyLink, declared: ExternalService) -> Measured:
        """The trial of a user-defined service."""
        self._write("service.json", declared.point())
        with self._external(link, self._secrets.reveal(declared)) as service:
            measured = self._captured(link, service, service.endpoint(), Store(MEMORY))
        announced = measured.service.announced({"language": LANGUAGE, **service.record()})
        return replace(measured, service=announced)

    @contextlib.contextmanager
    def _external(self, link: AnyLink, declared: ExternalService) -> Iterator[AnyExternal]:
        """The trial, once the service is ready."""
        client = link.client.namespace
        if declared.command is None:
            with RunningService(declared, client) as running:
                yield running
            return
        with (
            cgroups.group(self._axes.server.cpu_percent, "server") as group,
            ExternalProcess(
                declared,
                ListenHost(link.server.address, client),
                ProcessOptions(
                    log=self._folder / "service.log",
                    cores=self._table.service,
                    namespace=link.server.namespace,
                    group=group,
                    ready_timeout_s=self._lab.ready_timeout_s,
                ),
                interruption=self._lab.interruption,
            ) as started,
        ):
            yield started

    def _captured(
        self,
        link: AnyLink,
        service: Service | AnyExternal,
        endpoint: Endpoint,
        store: Store,
        proxy: proxies.Proxy | None = None,
    ) -> Measured:
        """The calls, with packet captures and the recording of the host."""
        with Captures(
            self._cell.capture,
            link,
            self._folder,
            port=endpoint.port,
            upstream=None if proxy is None else proxy.hop.upstream_port,
            pids=service.pids() if self._cell.records_host else (),
            cores=self._table.capture,
            interruption=self._lab.interruption,
        ) as taken:
            return self._observed(TrialContext(link, service, taken, endpoint, store, proxy))

    def _prepare(self, link: AnyLink, endpoint: Endpoint) -> None:
        """Prepares the service. Raises :class:`TrialFailed` unless every call succeeds."""
        for step in self._lab.experiment.prepare:
            drive = Drive(
                preparation(self._lab.experiment, self._planned, endpoint, step),
                ProcessOptions(
                    log=self._folder / "prepare.log",
                    cores=self._table.engine,
                    namespace=link.client.namespace,
                ),
                interruption=self._lab.interruption,
            )
            made = GroupResult.of(drive.outcome().groups[0])
            self._lab.interruption.check()
            if made.errors or made.ok != step.calls:
                raise TrialFailed(
                    f"prepare: {made.ok:,} of {step.calls:,} calls of {step.name} succeeded"
                )

    def _observed(self, context: TrialContext) -> Measured:
        """Makes the calls and observes all processes."""
        observer = Observer(context.service, self._lab.on_runtime)
        try:
            return self._watched(context, observer)
        finally:
            # Also recorded for a failed trial, because it shows what led to the failure.
            observer.series.write(self._folder / series.NAME)

    def _watched(self, context: TrialContext, observer: Observer) -> Measured:
        before = context.store.usage()
        self._write_text("metrics-before.txt", observer.text_before)
        noise = SystemNoiseSampler(self._table.used, context.service.pids, self._lab.other_runs)
        with cgroups.group(self._axes.client.cpu_percent, "client") as group:
            caller = replace(context, client_group=group)
            called = self._called(caller, self._run_observer(context, observer, noise))
        noise.mark()
        self._lab.interruption.check()
        death = context.service.death() or context.store.death()
        if death:
            raise TrialFailed(f"{death} during the trial, after {called.probe.ok} good calls")
        if context.proxy is not None:
            context.proxy.tick()
        observer.finish()
        self._write_text("metrics-after.txt", observer.text_after)
        if self._cell.capture != NO_CAPTURE:
            context.link.settle()
        findings = observer.findings(*window_ns(called.probe))
        waited = noise.service_run_delay_s(*window_ns(called.probe))
        findings = replace(findings, run_delay_s=waited)
        observer.series.response(called.over_time)
        store = context.store.record(before)
        # Planning has rejected all others.
        if self._lab.experiment.codec_times and isinstance(context.service, Service):
            findings = replace(findings, codec=self._codec(context.service))
        return Measured(
            called,
            findings,
            captures=context.captures.finish(),
            host=context.captures.finish_host(),
            store=store,
            proxy=hops.record(context.proxy, window_ns(called.probe)),
            noise=noise.findings(*window_ns(called.probe)),
        )

    def _codec(self, service: Service) -> CodecRecord:
        """Codec times of the last reply, measured after everything else was read from the
        service."""
        times = service.codec_times(self._cell.message.called[0], CODEC_S)
        self._write("codec-times.json", to_json(times))
        return CodecRecord.of(times)

    def _run_observer(
        self, context: TrialContext, observer: Observer, noise: SystemNoiseSampler
    ) -> RunObserver:
        def on_tick() -> None:
            noise.tick()
            observer.tick()
            context.link.tick()
            context.captures.tick()
            if context.proxy is not None:
                context.proxy.tick()

        def on_progress(progress: Progress) -> None:
            noise.progress(progress.phase)
            observer.progress(progress)
            self._lab.on_progress(progress)

        return RunObserver(on_progress, on_tick)

    def _called(self, context: TrialContext, observer: RunObserver) -> Called:
        """Makes the calls with the engine, a language's own client, or a third-party tool."""
        if self._axes.caller in CLIENTS:
            return self._called_by_client(context, observer)
        if self._axes.caller != ENGINE:
            return self._called_by_tool(context, observer)
        self._write("plan.json", shown(to_json(self._engine_plan(context, self._planned))))
        drive = Drive(
            self._engine_plan(context, self._with_secrets()),
            ProcessOptions(
                log=self._folder / "engine.log",
                cores=self._table.engine,
                namespace=context.link.client.namespace,
                group=context.client_group,
                environment=self._secret_environment(),
            ),
            interruption=self._lab.interruption,
            observer=observer,
        )
        outcome = drive.outcome()
        self._write("result.json", to_json(outcome))
        groups = tuple(map(GroupResult.of, outcome.groups))
        for number, group in enumerate(groups):
            suffix = f"-{group.name}" if number else ""
            self._write_text(f"histograms{suffix}.hlog", histogram_log(group))
        caller = replace(
            CallerRecord.of(outcome.process), version=outcome.engine, profile=outcome.profile
        )
        error = outcome.call_log.error if outcome.call_log else None
        return Called(groups, caller, error or "", outcome.groups[0].response_over_time)

    def _engine_plan(self, context: TrialContext, planned: PlannedTrial) -> Plan:
        made = plan(self._lab.experiment, planned, self._table, context.endpoint)
        calls = self._call_log().path
        return made if calls is None else msgspec.structs.replace(made, call_log=str(calls))

    def _with_secrets(self) -> PlannedTrial:
        """The trial with the secrets of its service and message, for the engine's standard input
        only."""
        cell = replace(
            self._cell,
            external=self._secrets.reveal(self._cell.external),
            message=self._secrets.reveal(self._cell.message),
        )
        return replace(self._planned, cell=cell)

    def _secret_environment(self) -> Json:
        """Asks the engine for its secrets of TLS where they can be captured."""
        if self._axes.security == "none" or self._cell.capture == NO_CAPTURE:
            return {}
        return {secrets.VARIABLE: str(secrets.create(self._keylog))}

    @property
    def _keylog(self) -> Path:
        return self._folder / "keys.log"

    def _called_by_client(self, context: TrialContext, observer: RunObserver) -> Called:
        caller = self._lab.callers.caller(self._axes.caller, self._lab.interruption)
        full = plan(self._lab.experiment, self._planned, self._table, context.endpoint)
        # The runtime chooses its threads; wirelab pins the process.
        client_plan = Plan(groups=full.groups, progress_ms=full.progress_ms)
        self._write("plan.json", shown(to_json(client_plan)))
        drive = ClientDrive(
            caller,
            client_plan,
            ProcessOptions(
                log=self._folder / "caller.log",
                cores=self._table.engine,
                namespace=context.link.client.namespace,
                group=context.client_group,
            ),
            interruption=self._lab.interruption,
            observer=observer,
        )
        outcome = drive.outcome()
        self._write("result.json", to_json(outcome))
        group = GroupResult.of(outcome.groups[0])
        self._write_text("histograms.hlog", histogram_log(group))
        start_ns, end_ns = window_ns(group)
        cpu_s = metrics.growth(drive.usage.cpu, start_ns, end_ns)
        ended = drive.ended
        assert ended is not None  # outcome() waited for it
        user_s, system_s = usage.split(ended, cpu_s)
        record = CallerRecord(
            cpu_user_s=user_s,
            cpu_system_s=system_s,
            cpu_process_s=ended.cpu_user_s + ended.cpu_system_s,
            rss_max_bytes=drive.usage.rss_max_bytes,
            switches_involuntary=ended.switches_involuntary,
            steal_s=metrics.growth(drive.usage.steal, start_ns, end_ns),
            run_delay_s=metrics.growth(drive.usage.run_delay, start_ns, end_ns),
            cores=self._table.engine,
            processors=outcome.processors,
            interrupted=outcome.interrupted,
            caller=outcome.caller,
            version=outcome.version,
            runtime=outcome.runtime,
            stamps=outcome.stamps,
            libraries=outcome.libraries,
            sha256=caller.sha256,
        )
        return Called((replace(group, cpu_s=cpu_s),), record)

    def _called_by_tool(self, context: TrialContext, observer: RunObserver) -> Called:
        tool = self._lab.tools.tool(self._axes.caller, self._lab.interruption)
        request = self._tool_request(context)
        self._write(
            "plan.json",
            {"tool": tool.identity(), "request": msgspec.to_builtins(request, enc_hook=str)},
        )
        group, caller = loadtools.drive(
            tool,
            request,
            self._folder,
            interruption=self._lab.interruption,
            on_progress=observer.on_progress,
            on_tick=observer.on_tick,
        )
        self._write("result.json", {"process": caller.to_json(), "groups": [group.to_json()]})
        return Called((group,), caller)

    def _tool_request(self, context: TrialContext) -> ToolRequest:
        """The request to a third-party tool. It has no warm-up of its own and no test for a
        stationary series, so its first run takes the longest warm-up time that the experiment
        allows."""
        experiment, cell = self._lab.experiment, self._cell
        return ToolRequest(
            target=context.endpoint.address,
            axes=self._axes,
            operation=cell.message.name,
            users=cell.load.point().users or 1,
            window=experiment.window_of(cell.message, cell.load),
            warmup_s=experiment.warmup_of(cell.load, self._axes).max,
            timeout_s=experiment.timeout,
            processors=len(self._table.engine or self._table.available),
            cores=self._table.engine,
            namespace=context.link.client.namespace,
            group=context.client_group,
        )

    def _call_log(self) -> CallLog:
        """The log that the trial is planned to write."""
        return reconciliation.call_log(self._lab.experiment, self._cell, self._folder)

    def _call_log_left(self, called: Called) -> CallLog:
        """The log of the trial's calls, as the engine left it."""
        error = called.call_log_error
        return (
            CallLog(None, f"the log of calls ended early: {error}") if error else self._call_log()
        )

    def _write(self, name: str, content: Json) -> None:
        content = self._known.hide_json(content)
        self._write_text(name, json.dumps(content, indent=1, default=str) + "\n")

    def _write_text(self, name: str, text: str) -> None:
        (self._folder / name).write_text(text, encoding="utf-8")


def _finished(trial: Trial, measured: Measured) -> Trial:
    probe, *background = (group.without_histograms() for group in measured.called.groups)
    return replace(
        trial,
        status="measured",
        result=probe,
        background=tuple(background),
        engine=measured.called.caller,
        service=measured.service,
        link=measured.link,
        placement=_carried(trial.placement, measured.link),
        captures=measured.captures,
        wire=measured.wire,
        store=measured.store,
        proxy=measured.proxy,
        host=measured.host,
        noise=measured.noise,
    )


def _carried(placement: PlacementRecord, link: LinkRecord) -> PlacementRecord:
    """The placement, without the emulator if the kernel carried the link."""
    return (
        placement
        if link.driver == "emulator"
        else msgspec.structs.replace(placement, emulator=None)
    )
