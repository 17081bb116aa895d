"""One trial from start to end: prepare, warm up, measure, drain, collect, check."""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Iterable
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Any

from wirelab import loadtools as callers
from wirelab.checks import load as verdicts
from wirelab.errors import TrialFailed
from wirelab.experiment import placement
from wirelab.experiment.link_profiles import LOOPBACK, Profile
from wirelab.experiment.matrix import PlannedTrial
from wirelab.experiment.model import NO_CAPTURE, Experiment
from wirelab.experiment.placement import Table
from wirelab.identity import Admission
from wirelab.loadtools import ToolRequest, Tools
from wirelab.process import cgroups as quotas
from wirelab.process.endpoint import Endpoint, ListenSpec
from wirelab.process.engine import Drive
from wirelab.process.interruption import Interruption
from wirelab.process.scratch import Scratch
from wirelab.process.services import Programs, Service, Settings
from wirelab.stack.axes import ENGINE
from wirelab.trial import capture as captures
from wirelab.trial import dissection, histograms, reconciliation
from wirelab.trial import link as links
from wirelab.trial.capture import Captures
from wirelab.trial.dissection import Look
from wirelab.trial.link import AnyLink, open_link
from wirelab.trial.observer import Observer
from wirelab.trial.reconciliation import CallLog
from wirelab.trial.record import Trial, now

PROGRESS_MS = 100

Json = dict[str, Any]


@dataclass(frozen=True)
class Lab:
    """What all trials of a run share."""

    experiment: Experiment
    programs: Programs
    admission: Admission
    scratch: Scratch
    interruption: Interruption
    on_progress: Callable[[Json], None] = lambda _: None
    tools: Tools = field(default_factory=Tools)
    nominal: dict[Profile, Json] = field(default_factory=dict)
    """What links nominally are, once they have been tried out."""


@dataclass(frozen=True)
class Measured:
    """What a trial gave before it is judged."""

    outcome: Json
    service: Json
    captures: Json
    link: Json = field(default_factory=dict)
    wire: Json = field(default_factory=dict)


@dataclass(frozen=True)
class TrialContext:
    """What is there when calls begin."""

    link: AnyLink
    service: Service
    captures: Captures
    contact: Endpoint
    client_group: Path | None = None
    """The control group of the caller, where it has a CPU quota."""


@dataclass(frozen=True)
class RunObserver:
    """Who hears of a caller while it runs."""

    on_progress: Callable[[Json], None]
    on_tick: Callable[[], None]


def measure(lab: Lab, planned: PlannedTrial, folder: Path) -> Trial:
    """Measures one trial into ``folder``. A trial that fails is returned as failed, with
    its reason. Raises :class:`LabError`, :class:`Interrupted`, :class:`OSError`."""
    table = placement.choose(planned.cell.placement)
    processors = lab.experiment.processors or table.processors()
    trial = Trial(
        id=planned.id,
        point=planned.cell.point,
        repeat=planned.repeat,
        order=planned.order,
        status="failed",
        started=now(),
        placement={**_placement(planned, table), "processors": processors},
    )
    began = time.monotonic()
    try:
        with placement.front_on(table):
            finished = _finished(trial, _measured(lab, planned, table, folder))
    except TrialFailed as failure:
        finished = replace(trial, reason=failure.reason)
    finished = replace(finished, seconds=time.monotonic() - began)
    return replace(finished, checks=verdicts.check(finished))


def try_out(lab: Lab, planned: Iterable[PlannedTrial]) -> None:
    """Makes each link of these trials once, and captures once where they do. Raises
    :class:`LabError` where it cannot be had here."""
    cells = [trial.cell for trial in planned]
    log = lab.scratch.folder / "link.log"
    for link in dict.fromkeys(cell.link for cell in cells if cell.link != LOOPBACK):
        lab.nominal[link] = links.try_out(link, log, lab.interruption)["nominal"]
    if any(cell.capture != NO_CAPTURE for cell in cells):
        captures.try_out(lab.scratch.folder, lab.interruption)


def settings(
    experiment: Experiment, planned: PlannedTrial, table: Table, collector: Json
) -> Settings:
    """How the trial's service is configured; ``collector`` is what its manifest sets, so
    that results name it, unless the experiment sets another."""
    language = planned.cell.stack.axes["language"]
    message = planned.cell.message
    return Settings(
        hello_bytes=message.bytes if message.name.startswith("Hello") else 14,
        processors=experiment.processors or table.processors(),
        collector=experiment.collector.get(language, collector),
        faults=planned.cell.point.options.get("faults", {}),
    )


def plan(experiment: Experiment, planned: PlannedTrial, table: Table, contact: Endpoint) -> Json:
    """The engine's plan for the trial."""
    cell = planned.cell
    load = cell.load.point()
    if load["kind"] == "poisson":
        load["seed"] = planned.seed
    cold = cell.stack.axes["start"] == "cold"
    group = {
        "name": "main",
        **contact.group(),
        "stack": cell.stack.engine_stack(),
        "workload": cell.message.workload(),
        "load": load,
        "window": experiment.window.for_size(cell.message.bytes),
        "warmup": {
            "min_s": 0.0 if cold else experiment.warmup.min,
            "max_s": 0.0 if cold else experiment.warmup.max,
        },
        "timeout_s": experiment.timeout,
        "drain_s": experiment.drain,
    }
    return {
        **table.threading(rationed=quotas.share(cell.stack.axes["client.cpu"]) is not None),
        "progress_ms": PROGRESS_MS,
        "groups": [group],
    }


def errand(
    experiment: Experiment, planned: PlannedTrial, table: Table, scene: TrialContext
) -> ToolRequest:
    """What a foreign tool is asked to do in the trial. It has no warm-up of its own and
    cannot tell when a series is stationary, so that its first run takes the longest time that
    the experiment allows for that."""
    cell = planned.cell
    axes = cell.stack.axes
    return ToolRequest(
        target=scene.contact.address,
        axes=dict(axes),
        operation=cell.message.name,
        users=cell.load.point()["users"],
        window=experiment.window.for_size(cell.message.bytes),
        warmup_s=0.0 if axes["start"] == "cold" else experiment.warmup.max,
        timeout_s=experiment.timeout,
        processors=len(table.engine or table.available),
        cores=table.engine,
        namespace=scene.link.client.namespace,
        group=scene.client_group,
    )


def _measured(lab: Lab, planned: PlannedTrial, table: Table, folder: Path) -> Measured:
    axes = planned.cell.stack.axes
    with open_link(
        planned.cell.link,
        congestion=axes["congestion"],
        initial_window=axes["initial_window"],
        after_idle=axes["after_idle"],
        measure=links.measurement(lab.nominal.get(planned.cell.link, {})),
        cores=table.emulator,
        log=folder / "link.log",
        interruption=lab.interruption,
    ) as link:
        measured = _over(link, lab, planned, table, folder)
        record = _link_record(link, measured.outcome["groups"][0])
    log = _logged(lab, planned, measured.outcome, folder)
    wire = _dissected(lab, measured.captures, log, folder)
    return replace(measured, link=record, wire=wire)


def _over(link: AnyLink, lab: Lab, planned: PlannedTrial, table: Table, folder: Path) -> Measured:
    """The trial over a link that is there."""
    stack, contract = planned.cell.stack, planned.cell.message.contract
    identity = lab.admission.of(stack, contract)
    program = lab.programs.program(stack, lab.interruption, contract)
    configured = settings(lab.experiment, planned, table, program.manifest.collector)
    appointment = ListenSpec.of(stack, lab.scratch, link.server.address)
    configuration = configured.configuration(stack, contract, appointment)
    with (
        quotas.group(stack.axes["server.cpu"], "server") as group,
        Service(
            program,
            configuration,
            log=folder / "service.log",
            cores=table.service,
            namespace=link.server.namespace,
            group=group,
            interruption=lab.interruption,
        ) as service,
    ):
        ready = {key: value for key, value in service.said.items() if value is not None}
        _write(folder / "service.json", {"configuration": configuration, "ready": ready})
        contact = service.contact(appointment)
        with Captures(
            planned.cell.capture,
            link,
            folder,
            port=contact.port,
            cores=table.capture,
            interruption=lab.interruption,
        ) as taken:
            scene = TrialContext(link, service, taken, contact)
            measured = _watched(lab, planned, scene, table, folder)
    known = {"sha256": program.sha256, "identity": identity}
    return replace(measured, service={**ready, **known, **measured.service})


def _watched(
    lab: Lab, planned: PlannedTrial, scene: TrialContext, table: Table, folder: Path
) -> Measured:
    observer = Observer(scene.service)
    (folder / "metrics-before.txt").write_text(observer.text_before, encoding="utf-8")

    def tick() -> None:
        observer.tick()
        scene.link.tick()
        scene.captures.tick()

    foreign = planned.cell.stack.axes["caller"] != ENGINE
    call = _by_tool if foreign else _by_engine
    watch = RunObserver(_heard(lab, observer), tick)
    with quotas.group(planned.cell.stack.axes["client.cpu"], "client") as group:
        outcome = call(lab, planned, replace(scene, client_group=group), table, folder, watch)
    lab.interruption.check()
    _write(folder / "result.json", outcome)
    group = outcome["groups"][0]
    death = scene.service.death()
    if death:
        raise TrialFailed(f"{death} in mid-trial, after {group['ok']} good calls")
    observer.finish()
    (folder / "metrics-after.txt").write_text(observer.text_after, encoding="utf-8")
    if planned.cell.capture != NO_CAPTURE:
        scene.link.settle()
    return Measured(outcome, observer.findings(group), captures=scene.captures.finish())


def _logged(lab: Lab, planned: PlannedTrial, outcome: Json, folder: Path) -> CallLog:
    """The log of the trial's calls, as the engine left it."""
    log = reconciliation.call_log(lab.experiment, planned.cell, folder)
    error = (outcome.get("call_log") or {}).get("error")
    return CallLog(None, f"the log of calls broke off: {error}") if error else log


def _dissected(lab: Lab, taken: Json, log: CallLog, folder: Path) -> Json:
    """Dissects every capture, beside which its document is kept."""
    documents = []
    for side, record in taken.items():
        document = dissection.dissect(
            folder / record["file"],
            Look(calls=log.path),
            log=folder / f"dissection-{side}.log",
            interruption=lab.interruption,
        )
        _write(folder / f"dissection-{side}.json", document)
        documents.append(document)
    if not documents:
        return {}
    kept = reconciliation.kept(documents, log)
    return {**dissection.brief(documents[0]), "reconciliation": kept}


def _link_record(link: AnyLink, group: Json) -> Json:
    start_ns = int(group["window_start_ns"])
    end_ns = start_ns + round(group["window_s"] * 1e9)
    return link.finish(start_ns, end_ns)


def _by_engine(
    lab: Lab,
    planned: PlannedTrial,
    scene: TrialContext,
    table: Table,
    folder: Path,
    watch: RunObserver,
) -> Json:
    engine_plan = plan(lab.experiment, planned, table, scene.contact)
    calls = reconciliation.call_log(lab.experiment, planned.cell, folder)
    if calls.path is not None:
        engine_plan["call_log"] = str(calls.path)
    _write(folder / "plan.json", engine_plan)
    drive = Drive(
        engine_plan,
        log=folder / "engine.log",
        cores=table.engine,
        namespace=scene.link.client.namespace,
        group=scene.client_group,
        interruption=lab.interruption,
        on_progress=watch.on_progress,
        on_tick=watch.on_tick,
    )
    outcome = drive.outcome()
    log = histograms.log(outcome["groups"][0])
    (folder / "histograms.hlog").write_text(log, encoding="utf-8")
    return outcome


def _by_tool(
    lab: Lab,
    planned: PlannedTrial,
    scene: TrialContext,
    table: Table,
    folder: Path,
    watch: RunObserver,
) -> Json:
    tool = lab.tools.tool(planned.cell.stack.axes["caller"], lab.interruption)
    asked = errand(lab.experiment, planned, table, scene)
    _write(folder / "plan.json", {"tool": tool.identity(), "errand": asdict(asked)})
    return callers.drive(
        tool,
        asked,
        folder,
        interruption=lab.interruption,
        on_progress=watch.on_progress,
        on_tick=watch.on_tick,
    )


def _heard(lab: Lab, observer: Observer) -> Callable[[Json], None]:
    def heard(event: Json) -> None:
        observer.progress(event)
        lab.on_progress(event)

    return heard


def _finished(trial: Trial, measured: Measured) -> Trial:
    group = histograms.left_out(measured.outcome["groups"][0])
    return replace(
        trial,
        status="measured",
        result=group,
        engine={**measured.outcome["process"], **_identity(measured.outcome)},
        service=measured.service,
        link=measured.link,
        placement=_carried(trial.placement, measured.link),
        captures=measured.captures,
        wire=measured.wire,
    )


def _carried(placement: Json, link: Json) -> Json:
    """Without the emulator where the link was carried by the kernel."""
    if link.get("driver") == "emulator":
        return placement
    return {side: cores for side, cores in placement.items() if side != "emulator"}


def _placement(planned: PlannedTrial, table: Table) -> Json:
    return table.to_json(
        emulator=planned.cell.link != LOOPBACK, capture=planned.cell.capture != NO_CAPTURE
    )


def _identity(outcome: Json) -> Json:
    """Who made the calls: the engine, or a tool by its name, version and hash."""
    if "tool" in outcome:
        return dict(outcome["tool"])
    return {"version": outcome["engine"], "profile": outcome["profile"]}


def _write(path: Path, content: Json) -> None:
    path.write_text(json.dumps(content, indent=1, default=str) + "\n", encoding="utf-8")
