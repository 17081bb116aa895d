"""Makes the calls of a trial, and observes its processes meanwhile."""

from __future__ import annotations

from dataclasses import dataclass, field, replace

from wirelab.documents import to_json
from wirelab.documents.event import Progress
from wirelab.errors import TrialFailed
from wirelab.process import cgroups
from wirelab.process.databases import Store
from wirelab.process.endpoint import Endpoint
from wirelab.process.engine import RunObserver
from wirelab.process.proxies import Proxy
from wirelab.process.services import Service
from wirelab.process.system_noise import SystemNoiseSampler
from wirelab.records.codec import CodecRecord
from wirelab.records.host import HostRecord
from wirelab.records.link import CaptureRecord, LinkRecord, Side
from wirelab.records.noise import NoiseRecord
from wirelab.records.proxy import ProxyRecord
from wirelab.records.service import ServiceRecord, StoreRecord
from wirelab.records.wire import WireRecord
from wirelab.trial import hops, series
from wirelab.trial.callers import Called, CallerPlace, choose_caller
from wirelab.trial.observer import Observer, window_ns
from wirelab.trial.setup import TrialSetup
from wirelab.trial.stages.capture import Captures
from wirelab.trial.stages.host import HostRecording
from wirelab.trial.stages.link import AnyLink
from wirelab.trial.stages.service import StartedService

CODEC_S = 2.0
"""Time for which the codec of a reply is timed, seconds."""


@dataclass(frozen=True)
class MeasuredTrial:
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

    setup: TrialSetup
    link: AnyLink
    store: Store
    service: StartedService
    proxy: Proxy | None
    endpoint: Endpoint
    """What is called: the proxy if there is one, or the service."""
    captures: Captures
    host: HostRecording | None

    def tick(self) -> None:
        """Raises :class:`TrialFailed` or :class:`StorageError` if a process has ended."""
        self.link.tick()
        self.captures.tick()
        if self.host is not None:
            self.host.tick()
        if self.proxy is not None:
            self.proxy.tick()


def measure_calls(context: TrialContext) -> MeasuredTrial:
    """Makes the calls and observes all processes. Raises :class:`TrialFailed`,
    :class:`LabError`, :class:`Interrupted`."""
    observer = Observer(context.service.process, context.setup.lab.on_runtime)
    try:
        return _observe_calls(context, observer)
    finally:
        # Also recorded for a failed trial, because it shows what led to the failure.
        observer.series.write(context.setup.folder / series.NAME)


def _observe_calls(context: TrialContext, observer: Observer) -> MeasuredTrial:
    setup, process = context.setup, context.service.process
    before = context.store.usage()
    setup.write_text("metrics-before.txt", observer.text_before)
    noise = SystemNoiseSampler(setup.table.used, process.pids, setup.lab.other_runs)
    called = _make_calls(context, _watch_calls(context, observer, noise))
    noise.mark()
    _refuse_death(context, called)
    observer.finish()
    setup.write_text("metrics-after.txt", observer.text_after)
    if setup.has_captures:
        context.link.settle()
    window = window_ns(called.probe)
    findings = replace(observer.findings(*window), run_delay_s=noise.service_run_delay_s(*window))
    observer.series.response(called.over_time)
    store = context.store.record(before)
    # Planning has rejected all others.
    if setup.experiment.codec_times and isinstance(process, Service):
        findings = replace(findings, codec=_time_codec(setup, process))
    return MeasuredTrial(
        called,
        context.service.complete(findings),
        captures=context.captures.finish(),
        host=None if context.host is None else context.host.finish(),
        store=store,
        proxy=hops.record(context.proxy, window),
        noise=noise.findings(*window),
    )


def _make_calls(context: TrialContext, observer: RunObserver) -> Called:
    """The calls of the trial's caller, within its CPU quota."""
    with cgroups.group(context.setup.axes.client.cpu_percent, "client") as group:
        place = CallerPlace(context.endpoint, context.link.client.namespace, group)
        return choose_caller(context.setup).make_calls(place, observer)


def _refuse_death(context: TrialContext, called: Called) -> None:
    """Raises :class:`TrialFailed` if a process has ended, and :class:`Interrupted`."""
    context.setup.interruption.check()
    death = context.service.process.death() or context.store.death()
    if death:
        raise TrialFailed(f"{death} during the trial, after {called.probe.ok} good calls")
    if context.proxy is not None:
        context.proxy.tick()


def _watch_calls(
    context: TrialContext, observer: Observer, noise: SystemNoiseSampler
) -> RunObserver:
    def tick_all() -> None:
        noise.tick()
        observer.tick()
        context.tick()

    def report_progress(progress: Progress) -> None:
        noise.progress(progress.phase)
        observer.progress(progress)
        context.setup.lab.on_progress(progress)

    return RunObserver(report_progress, tick_all)


def _time_codec(setup: TrialSetup, service: Service) -> CodecRecord:
    """Codec times of the last reply, measured after everything else was read from the service."""
    times = service.codec_times(setup.cell.message.called[0], CODEC_S)
    setup.write_json("codec-times.json", to_json(times))
    return CodecRecord.of(times)
