"""Executes one trial: prepare, warm up, measure, drain, collect, check."""

from __future__ import annotations

import contextlib
import time
from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path

import msgspec

from wirelab.checks import load as load_checks
from wirelab.documents.link import Measure
from wirelab.errors import TrialFailed
from wirelab.experiment import placement
from wirelab.experiment.link_profiles import LOOPBACK
from wirelab.experiment.matrix import PlannedTrial
from wirelab.experiment.model import NO_CAPTURE
from wirelab.process import proxies
from wirelab.process.endpoint import Endpoint
from wirelab.process.proxies import Proxy
from wirelab.records.conversion import convert
from wirelab.records.host import NAME
from wirelab.records.line import from_line, to_line
from wirelab.records.link import LinkRecord, PlacementRecord
from wirelab.records.trial import Trial, now
from wirelab.trial import hops
from wirelab.trial.callers import Called
from wirelab.trial.measuring import MeasuredTrial, TrialContext, measure_calls
from wirelab.trial.observer import window_ns
from wirelab.trial.reconciliation import CallLog
from wirelab.trial.setup import Lab, TrialSetup
from wirelab.trial.stages import capture as captures
from wirelab.trial.stages import host as hosts
from wirelab.trial.stages import link as links
from wirelab.trial.stages.capture import Captures
from wirelab.trial.stages.host import HostRecording
from wirelab.trial.stages.link import AnyLink, LinkReading, LinkSpec, open_link
from wirelab.trial.stages.service import StartedService, admit_service
from wirelab.trial.taken_packets import TakenPackets


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
        self._setup = TrialSetup.of(lab, planned, folder)

    def run(self) -> Trial:
        """Returns the trial, also if it failed, with its reason. Raises :class:`LabError`,
        :class:`Interrupted`, :class:`OSError`."""
        setup, known = self._setup, self._setup.experiment.secrets.known
        trial = begin_record(setup)
        began = time.monotonic()
        try:
            with placement.front_on(setup.table):
                finished = complete_record(trial, self._evaluate_packets(self._measure()))
        except TrialFailed as failure:
            finished = replace(trial, reason=failure.reason)
        finally:
            # The service and the engine may have printed secrets.
            known.hide_in_folder(setup.folder)
        finished = replace(finished, seconds=time.monotonic() - began)
        finished = replace(finished, checks=load_checks.check(finished))
        if not known:
            return finished
        (hidden,) = from_line(known.hide_json(to_line([finished])))
        return hidden

    def _measure(self) -> MeasuredTrial:
        """Enters the stages in this order, and makes the calls. The stages end in reverse order,
        also after a failure."""
        with contextlib.ExitStack() as stages:
            link = stages.enter_context(enter_link(self._setup))
            reading = stages.enter_context(LinkReading(link))
            origin = admit_service(self._setup, link)
            store = stages.enter_context(origin.open_store())
            service = stages.enter_context(origin.start_service(store))
            proxy, endpoint = stages.enter_context(self._start_proxy(link, service))
            origin.prepare_service(endpoint)
            capture = stages.enter_context(self._capture_packets(link, proxy, endpoint))
            host = stages.enter_context(self._record_host(service))
            measured = measure_calls(
                TrialContext(self._setup, link, store, service, proxy, endpoint, capture, host)
            )
            reading.window = window_ns(measured.called.probe)
        ended = service.complete_after_end(measured.service)
        return replace(measured, link=reading.record, service=ended)

    def _start_proxy(
        self, link: AnyLink, service: StartedService
    ) -> contextlib.AbstractContextManager[tuple[Proxy | None, Endpoint]]:
        """The proxy of the trial, where it has one, and what is called."""
        setup = self._setup
        place = proxies.Place(
            setup.folder,
            host=link.server.address,
            namespace=link.server.namespace,
            cores=setup.table.proxy,
            connections=sum(setup.cell.load.concurrencies),
        )
        return proxies.start_proxy(setup.axes, service.endpoint, place, setup.interruption)

    def _capture_packets(self, link: AnyLink, proxy: Proxy | None, endpoint: Endpoint) -> Captures:
        setup = self._setup
        return Captures(
            setup.cell.capture,
            link,
            setup.folder,
            port=endpoint.port,
            upstream=None if proxy is None else proxy.hop.upstream_port,
            cores=setup.table.capture,
            interruption=setup.interruption,
        )

    def _record_host(
        self, service: StartedService
    ) -> contextlib.AbstractContextManager[HostRecording | None]:
        """The record of what the service's threads do, where the experiment has one."""
        setup = self._setup
        pids = service.process.pids() if setup.cell.records_host else ()
        if not pids:
            return contextlib.nullcontext()
        return HostRecording(
            pids,
            setup.folder / NAME,
            cores=setup.table.capture,
            log=setup.folder / "host.log",
            interruption=setup.interruption,
        )

    def _evaluate_packets(self, measured: MeasuredTrial) -> MeasuredTrial:
        """Dissects the captures, and compares both sides of a proxy."""
        setup = self._setup
        taken = TakenPackets(
            setup.folder, measured.captures, measured.host, setup.keylog, setup.is_direct
        )
        wire = taken.dissect(self._find_call_log(measured.called), setup.interruption)
        measured = replace(measured, wire=wire)
        if measured.proxy is None or wire is None:
            return measured
        sides = hops.sides(measured.captures, setup.folder, setup.cell.link)
        proxy, wire = hops.compare_sides(sides, measured.proxy, wire, setup.cell.stack)
        return replace(measured, proxy=proxy, wire=wire)

    def _find_call_log(self, called: Called) -> CallLog:
        """The log of the trial's calls, as the engine left it."""
        error = called.call_log_error
        if error:
            return CallLog(None, f"the log of calls ended early: {error}")
        return self._setup.call_log


def enter_link(setup: TrialSetup) -> contextlib.AbstractContextManager[AnyLink]:
    """The link of a trial."""
    nominal = setup.lab.nominal.get(setup.cell.link)
    return open_link(
        LinkSpec.of(setup.cell.link, setup.axes, links.measurement(nominal)),
        cores=setup.table.emulator,
        log=setup.folder / "link.log",
        interruption=setup.interruption,
    )


def begin_record(setup: TrialSetup) -> Trial:
    """The record of a trial that has not been measured."""
    cell, table = setup.cell, setup.table
    shown = table.to_json(
        emulator=cell.link != LOOPBACK, capture=setup.has_captures, proxy=not setup.is_direct
    )
    processors = setup.experiment.processors or table.processors()
    return Trial(
        id=setup.planned.id,
        point=cell.point,
        repeat=setup.planned.repeat,
        order=setup.planned.order,
        status="failed",
        started=now(),
        placement=msgspec.structs.replace(convert(shown, PlacementRecord), processors=processors),
    )


def complete_record(trial: Trial, measured: MeasuredTrial) -> Trial:
    """The record of a trial with what was measured."""
    probe, *background = (group.remove_histograms() for group in measured.called.groups)
    return replace(
        trial,
        status="measured",
        result=probe,
        background=tuple(background),
        engine=measured.called.caller,
        service=measured.service,
        link=measured.link,
        placement=_place_carrier(trial.placement, measured.link),
        captures=measured.captures,
        wire=measured.wire,
        store=measured.store,
        proxy=measured.proxy,
        host=measured.host,
        clients=measured.called.clients,
        noise=measured.noise,
    )


def _place_carrier(placement: PlacementRecord, link: LinkRecord) -> PlacementRecord:
    """The placement, without the emulator if the kernel carried the link."""
    if link.driver == "emulator":
        return placement
    return msgspec.structs.replace(placement, emulator=None)
