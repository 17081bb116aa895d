"""One trial from start to end: prepare, warm up, measure, drain, collect, check."""

from __future__ import annotations

import copy
import json
import time
from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Any

from wirelab import callers, placement, verdicts
from wirelab.axes import ENGINE
from wirelab.callers import Errand, Tools
from wirelab.contact import Appointment, Contact
from wirelab.engine import Drive
from wirelab.errors import TrialFailed
from wirelab.experiment import Experiment
from wirelab.identity import Admission
from wirelab.interruption import Interruption
from wirelab.observer import Observer
from wirelab.placement import Table
from wirelab.planning import PlannedTrial
from wirelab.run_directory import now
from wirelab.scratch import Scratch
from wirelab.services import Programs, Service, Settings
from wirelab.trial import Trial

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


@dataclass(frozen=True)
class Measured:
    """What a trial gave before it is judged."""

    outcome: Json
    service: Json


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
        placement={**table.to_json(), "processors": processors},
    )
    began = time.monotonic()
    try:
        with placement.front_on(table):
            finished = _finished(trial, _measured(lab, planned, table, folder))
    except TrialFailed as failure:
        finished = replace(trial, reason=failure.reason)
    finished = replace(finished, seconds=time.monotonic() - began)
    return replace(finished, checks=verdicts.check(finished))


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
        faults=experiment.faults.given(),
    )


def plan(experiment: Experiment, planned: PlannedTrial, table: Table, contact: Contact) -> Json:
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
        "threads": table.threads(),
        "cores": list(table.engine),
        "progress_ms": PROGRESS_MS,
        "groups": [group],
    }


def errand(experiment: Experiment, planned: PlannedTrial, table: Table, address: str) -> Errand:
    """What a foreign tool is asked to do in the trial. It has no warm-up of its own and
    cannot tell when a series is stationary, so that its first run takes the longest time that
    the experiment allows for that."""
    cell = planned.cell
    axes = cell.stack.axes
    return Errand(
        target=address,
        axes=dict(axes),
        operation=cell.message.name,
        users=cell.load.point()["users"],
        window=experiment.window.for_size(cell.message.bytes),
        warmup_s=0.0 if axes["start"] == "cold" else experiment.warmup.max,
        timeout_s=experiment.timeout,
        processors=len(table.engine or table.available),
        cores=table.engine,
    )


def _measured(lab: Lab, planned: PlannedTrial, table: Table, folder: Path) -> Measured:
    stack, contract = planned.cell.stack, planned.cell.message.contract
    identity = lab.admission.of(stack, contract)
    program = lab.programs.program(stack, lab.interruption, contract)
    configured = settings(lab.experiment, planned, table, program.manifest.collector)
    appointment = Appointment.of(stack, lab.scratch)
    configuration = configured.configuration(stack, contract, appointment)
    with Service(
        program,
        configuration,
        log=folder / "service.log",
        cores=table.service,
        interruption=lab.interruption,
    ) as service:
        ready = service.ready.model_dump(mode="json", exclude_none=True)
        _write(folder / "service.json", {"configuration": configuration, "ready": ready})
        contact = service.contact(appointment)
        outcome, seen = _watched(lab, planned, service, table, folder, contact)
    known = {"sha256": program.sha256, "identity": identity}
    return Measured(outcome, {**ready, **known, **seen})


def _watched(
    lab: Lab, planned: PlannedTrial, service: Service, table: Table, folder: Path, contact: Contact
) -> tuple[Json, Json]:
    observer = Observer(service)
    (folder / "metrics-before.txt").write_text(observer.text_before, encoding="utf-8")
    foreign = planned.cell.stack.axes["caller"] != ENGINE
    call = _by_tool if foreign else _by_engine
    outcome = call(lab, planned, observer, table, contact, folder)
    lab.interruption.check()
    _write(folder / "result.json", outcome)
    group = outcome["groups"][0]
    death = service.death()
    if death:
        raise TrialFailed(f"{death} in mid-trial, after {group['ok']} good calls")
    observer.finish()
    (folder / "metrics-after.txt").write_text(observer.text_after, encoding="utf-8")
    return outcome, observer.findings(group)


def _by_engine(
    lab: Lab,
    planned: PlannedTrial,
    observer: Observer,
    table: Table,
    contact: Contact,
    folder: Path,
) -> Json:
    engine_plan = plan(lab.experiment, planned, table, contact)
    _write(folder / "plan.json", engine_plan)
    drive = Drive(
        engine_plan,
        log=folder / "engine.log",
        cores=table.engine,
        interruption=lab.interruption,
        on_progress=_heard(lab, observer),
        on_tick=observer.tick,
    )
    outcome = drive.outcome()
    log = histogram_log(outcome["groups"][0])
    (folder / "histograms.hlog").write_text(log, encoding="utf-8")
    return outcome


def _by_tool(
    lab: Lab,
    planned: PlannedTrial,
    observer: Observer,
    table: Table,
    contact: Contact,
    folder: Path,
) -> Json:
    tool = lab.tools.tool(planned.cell.stack.axes["caller"], lab.interruption)
    asked = errand(lab.experiment, planned, table, contact.address)
    _write(folder / "plan.json", {"tool": tool.identity(), "errand": asdict(asked)})
    return callers.drive(
        tool,
        asked,
        folder,
        interruption=lab.interruption,
        on_progress=_heard(lab, observer),
        on_tick=observer.tick,
    )


def _heard(lab: Lab, observer: Observer) -> Callable[[Json], None]:
    def heard(event: Json) -> None:
        observer.progress(event)
        lab.on_progress(event)

    return heard


def _finished(trial: Trial, measured: Measured) -> Trial:
    group = _without_histograms(measured.outcome["groups"][0])
    return replace(
        trial,
        status="measured",
        result=group,
        engine={**measured.outcome["process"], **_identity(measured.outcome)},
        service=measured.service,
    )


def _identity(outcome: Json) -> Json:
    """Who made the calls: the engine, or a tool by its name, version and hash."""
    if "tool" in outcome:
        return dict(outcome["tool"])
    return {"version": outcome["engine"], "profile": outcome["profile"]}


def _histograms(group: Json) -> Iterator[tuple[str, Json]]:
    """All times of a group by name: ``response``; ``Reserve.response`` where it calls several
    operations; ``sequence.response`` where it calls sequences."""
    yield from group["times"].items()
    for operation in group.get("operations") or ():
        for name, times in operation["times"].items():
            yield f"{operation['operation']}.{name}", times
    if group.get("sequences"):
        yield "sequence.response", group["sequences"]["response"]


def _without_histograms(group: Json) -> Json:
    """A copy of the group for the journal; the histograms are in a file of their own."""
    copied: Json = copy.deepcopy(group)
    for _, times in _histograms(copied):
        times.pop("hdr", None)
    return copied


def histogram_log(group: Json) -> str:
    """The group's histograms in the HdrHistogram log format, version 1.3, one tagged line
    each; the maximum is in milliseconds, as the format has it."""
    start_s = group["window_start_ns"] / 1e9
    lines = [
        "#[Histogram log format version 1.3]",
        f"#[StartTime: {start_s:.3f} (seconds of CLOCK_MONOTONIC)]",
        '"StartTimestamp","Interval_Length","Interval_Max","Interval_Compressed_Histogram"',
    ]
    for name, times in _histograms(group):
        if times.get("hdr"):
            extent = f"{start_s:.3f},{group['window_s']:.3f},{times['max_ns'] / 1e6:.3f}"
            lines.append(f"Tag={name},{extent},{times['hdr']}")
    return "\n".join(lines) + "\n"


def _write(path: Path, content: Json) -> None:
    path.write_text(json.dumps(content, indent=1) + "\n", encoding="utf-8")
