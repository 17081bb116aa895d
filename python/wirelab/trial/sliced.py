"""Measures a trial in which several services take turns in slices.

All services are started and warmed up, and one engine calls them by turns, on connections that are
kept: what the machine does meanwhile, it does to all of them (randomised interleaving: Abedi and
Brecht, ICPE 2017).
"""

from __future__ import annotations

import contextlib
import random
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from statistics import median

import msgspec

from wirelab.checks import load as load_checks
from wirelab.documents import to_json
from wirelab.documents.event import Outcome, Progress, SliceEdges
from wirelab.documents.plan import Plan, Slices
from wirelab.errors import TrialFailed
from wirelab.experiment import placement
from wirelab.experiment.matrix import PlannedTrial
from wirelab.process.children import ProcessOptions
from wirelab.process.databases import Store
from wirelab.process.engine import Drive, RunObserver
from wirelab.process.system_noise import SystemNoiseSampler
from wirelab.records.caller import CallerRecord
from wirelab.records.group import GroupResult
from wirelab.records.line import from_line, to_line
from wirelab.records.slices import SlicesRecord
from wirelab.records.trial import Check, Trial
from wirelab.trial import series
from wirelab.trial.callers.engine import EngineCaller
from wirelab.trial.observer import Observer
from wirelab.trial.plans import hide_secrets
from wirelab.trial.runner import TrialRunner, begin_record, enter_link
from wirelab.trial.setup import Lab, TrialSetup
from wirelab.trial.slice_length import DRAIN_S, SKIP_SHARE, SliceTooShort, check_length
from wirelab.trial.stages.link import AnyLink, LinkReading
from wirelab.trial.stages.service import StartedService, admit_service


def measure_trial(
    lab: Lab, planned: PlannedTrial, fresh_folder: Callable[[str], Path]
) -> tuple[Trial, ...]:
    """The cells of a trial, each with its folder. Services whose calls take too long for slices are
    measured one after the other, and the cells state it. Raises what :class:`TrialRunner`
    raises."""
    plans = [planned.of_cell(number) for number in range(len(planned.cells))]
    if len(plans) == 1:
        return (TrialRunner(lab, planned, fresh_folder(planned.id)).run(),)
    while (length_s := lab.slice_lengths.of(planned)) is not None:
        folders = [fresh_folder(own.id) for own in plans]
        try:
            return SlicedTrial(lab, planned, folders, length_s).run()
        except SliceTooShort as short:
            lab.slice_lengths.note(planned, short)
    return _measure_apart(lab, plans, fresh_folder, lab.slice_lengths.reason(planned))


def _measure_apart(
    lab: Lab, plans: Sequence[PlannedTrial], fresh_folder: Callable[[str], Path], reason: str
) -> tuple[Trial, ...]:
    apart = [TrialRunner(lab, own, fresh_folder(own.id)).run() for own in plans]
    check = Check.unmeasurable("slices", f"{reason}; the services were measured apart")
    first = apart[0]
    return tuple(
        replace(
            trial,
            status=max((each.status for each in apart), key=("measured", "failed").index),
            reason="; ".join(filter(None, (each.reason for each in apart))),
            started=first.started,
            seconds=sum(each.seconds for each in apart) / len(apart),
            placement=first.placement,
            checks=(*trial.checks, check),
        )
        for trial in apart
    )


@dataclass(frozen=True)
class Seat:
    """One of the services that take turns."""

    setup: TrialSetup
    store: Store
    service: StartedService
    observer: Observer


class SlicedTrial:
    """Measures the cells of one trial, each into its own folder."""

    def __init__(
        self, lab: Lab, planned: PlannedTrial, folders: Sequence[Path], length_s: float
    ) -> None:
        """``length_s`` is the measured length of a slice. Starts nothing; see :meth:`run`."""
        self._lab, self._planned, self._length_s = lab, planned, length_s
        self._setups = [
            TrialSetup.of(lab, planned.of_cell(number), folder)
            for number, folder in enumerate(folders)
        ]

    def run(self) -> tuple[Trial, ...]:
        """Returns the cells, also if the trial failed, with its reason. Raises
        :class:`SliceTooShort`, :class:`LabError`, :class:`Interrupted`, :class:`OSError`."""
        first, known = self._setups[0], self._lab.experiment.secrets.known
        shared = begin_record(first)
        began = time.monotonic()
        trials = [
            replace(shared, id=setup.planned.id, point=setup.cell.point) for setup in self._setups
        ]
        try:
            with placement.front_on(first.table):
                trials = self._measure(trials)
        except TrialFailed as failure:
            trials = [replace(trial, reason=failure.reason) for trial in trials]
        finally:
            for setup in self._setups:
                known.hide_in_folder(setup.folder)
        seconds = (time.monotonic() - began) / len(trials)
        trials = [replace(trial, seconds=seconds) for trial in trials]
        cells = tuple(
            replace(trial, checks=(*load_checks.check(trial), *trial.checks)) for trial in trials
        )
        return from_line(known.hide_json(to_line(cells))) if known else cells

    def _measure(self, trials: Sequence[Trial]) -> list[Trial]:
        """Enters the stages, as a trial of one service does, for each service in turn."""
        with contextlib.ExitStack() as stages:
            link = stages.enter_context(enter_link(self._setups[0]))
            reading = stages.enter_context(LinkReading(link))
            seats = [self._enter_service(stages, link, setup) for setup in self._setups]
            try:
                measured = self._call(link, seats, trials)
            finally:
                for seat in seats:
                    seat.observer.series.write(seat.setup.folder / series.NAME)
            windows = [(trial.result.window_start_ns or 0) for trial in measured]
            reading.window = (min(windows), time.monotonic_ns())
        return [
            replace(
                trial,
                link=reading.record,
                service=seat.service.complete_after_end(trial.service),
            )
            for trial, seat in zip(measured, seats, strict=True)
        ]

    def _enter_service(
        self, stages: contextlib.ExitStack, link: AnyLink, setup: TrialSetup
    ) -> Seat:
        of_service = admit_service(setup, link)
        store = stages.enter_context(of_service.open_store())
        service = stages.enter_context(of_service.start_service(store))
        of_service.prepare_service(service.endpoint)
        return Seat(setup, store, service, Observer(service.process, self._lab.on_runtime))

    def _call(self, link: AnyLink, seats: Sequence[Seat], trials: Sequence[Trial]) -> list[Trial]:
        first = seats[0].setup
        before = [seat.store.usage() for seat in seats]
        noise = SystemNoiseSampler(
            first.table.used,
            lambda: [pid for seat in seats for pid in seat.service.process.pids()],
            self._lab.other_runs,
        )
        outcome = self._drive(link, seats, noise)
        noise.mark()
        first.interruption.check()
        for seat in seats:
            if death := seat.service.process.death() or seat.store.death():
                raise TrialFailed(f"{death} during the trial")
            seat.observer.finish()
        check_length(self._planned, outcome)
        edges = outcome.slices.slices if outcome.slices else ()
        if not edges:
            raise TrialFailed("the trial ended before its first slice")
        window = (edges[0].began_ns, edges[-1].drained_ns)
        found, delay_s = noise.findings(*window), noise.service_run_delay_s(*window)
        measured = [
            replace(
                _finish(trial, seat, outcome, number, window, delay_s),
                noise=found,
                store=seat.store.record(usage),
            )
            for number, (trial, seat, usage) in enumerate(zip(trials, seats, before, strict=True))
        ]
        return _add_others_cpu(measured)

    def _drive(self, link: AnyLink, seats: Sequence[Seat], noise: SystemNoiseSampler) -> Outcome:
        first = seats[0].setup

        def tick_all() -> None:
            noise.tick()
            link.tick()
            for seat in seats:
                seat.observer.tick()

        def report_progress(progress: Progress) -> None:
            noise.progress(progress.phase)
            for seat in seats:
                seat.observer.progress(progress)
            self._lab.on_progress(progress)

        recorded = self._plan(
            [EngineCaller(seat.setup).plan_for(seat.service.endpoint) for seat in seats]
        )
        first.write_json("plan.json", hide_secrets(to_json(recorded)))
        revealed = [EngineCaller(seat.setup).reveal_plan(seat.service.endpoint) for seat in seats]
        drive = Drive(
            self._plan(revealed),
            ProcessOptions(
                log=first.folder / "engine.log",
                cores=first.table.engine,
                namespace=link.client.namespace,
            ),
            interruption=first.interruption,
            observer=RunObserver(report_progress, tick_all),
        )
        outcome = drive.outcome()
        first.write_json("result.json", to_json(outcome))
        return outcome

    def _plan(self, plans: Sequence[Plan]) -> Plan:
        """One plan with a group for each service."""
        slices = Slices(
            length_s=self._length_s,
            skip_s=SKIP_SHARE * self._length_s,
            drain_s=DRAIN_S,
            first=random.Random(self._planned.seed).randrange(len(plans)),
        )
        groups = tuple(group for plan in plans for group in plan.groups)
        is_distant = any(plan.allow_any_target for plan in plans)
        return msgspec.structs.replace(
            plans[0], groups=groups, slices=slices, allow_any_target=is_distant
        )


def _finish(
    trial: Trial,
    seat: Seat,
    outcome: Outcome,
    number: int,
    window: tuple[int, int],
    delay_s: float | None,
) -> Trial:
    """``delay_s`` is the time for which all services waited for a core."""
    assert outcome.slices is not None
    own = [edges for edges in outcome.slices.slices if edges.group == number]
    slices = _read_slices(seat, own, window)
    result = GroupResult.of(outcome.groups[number])
    EngineCaller(seat.setup).write_histograms(result)
    seat.setup.write_text("metrics-before.txt", seat.observer.text_before)
    seat.setup.write_text("metrics-after.txt", seat.observer.text_after)
    seat.observer.series.response(outcome.groups[number].response_over_time)
    findings = replace(seat.observer.findings(*window), run_delay_s=delay_s)
    if findings.concurrency_seen is not None:
        # Calls are inside the service in its own slices only.
        seen = findings.concurrency_seen * slices.whole_s / slices.own_s
        findings = replace(findings, concurrency_seen=seen)
    return replace(
        trial,
        status="measured",
        result=result.remove_histograms(),
        engine=_read_caller(outcome, own),
        service=seat.service.complete(findings),
        slices=slices,
    )


def _read_slices(seat: Seat, own: Sequence[SliceEdges], window: tuple[int, int]) -> SlicesRecord:
    called = [(edges.began_ns, edges.drained_ns) for edges in own]
    drains = [(edges.drained_ns - edges.end_ns) / 1e9 for edges in own]
    return SlicesRecord(
        count=len(own),
        length_s=(own[0].end_ns - own[0].start_ns) / 1e9,
        skip_s=(own[0].start_ns - own[0].began_ns) / 1e9,
        drain_s=median(drains),
        drain_max_s=max(drains),
        own_s=sum(end_ns - began_ns for began_ns, end_ns in called) / 1e9,
        whole_s=(window[1] - window[0]) / 1e9,
        idle_cpu=seat.observer.idle_cpu(called, window),
    )


def _add_others_cpu(trials: Sequence[Trial]) -> list[Trial]:
    """With what the other services used while each was called, as far as it is known of all."""
    slices = [trial.slices for trial in trials if trial.slices is not None]
    used = [one.idle_cpu for one in slices if one.idle_cpu is not None]
    if len(used) < len(trials):
        return list(trials)
    return [
        replace(
            trial,
            slices=msgspec.structs.replace(one, others_cpu=sum(used) - (one.idle_cpu or 0.0)),
        )
        for trial, one in zip(trials, slices, strict=True)
    ]


def _read_caller(outcome: Outcome, own: Sequence[SliceEdges]) -> CallerRecord:
    """The CPU time of the engine in the slices of one service; the rest is of the whole trial."""
    whole = CallerRecord.of(to_json(outcome.process))
    cpu_s = sum(edges.cpu_ns for edges in own) / 1e9
    user, system = whole.cpu_user_s or 0.0, whole.cpu_system_s or 0.0
    of_user = user / (user + system) if user + system else 0.0
    return replace(
        whole,
        cpu_user_s=cpu_s * of_user,
        cpu_system_s=cpu_s * (1.0 - of_user),
        spin_s=min(cpu_s, sum(edges.spin_ns for edges in own) / 1e9),
        version=outcome.engine,
        profile=outcome.profile,
    )
