"""The engine's plans of a trial, and the configuration of its service."""

from __future__ import annotations

import base64
from typing import Any

import msgspec

from wirelab.documents.plan import Plan
from wirelab.experiment.external import WARM_USERS, ExternalService
from wirelab.experiment.matrix import PlannedTrial
from wirelab.experiment.messages import Preparation
from wirelab.experiment.model import Experiment
from wirelab.experiment.placement import Table
from wirelab.process.endpoint import Endpoint
from wirelab.process.services import Settings
from wirelab.secrets.finding import hide_content

PROGRESS_MS = 100
FIRST_CALLS = 1000
"""Number of first calls of a fresh process whose response times are recorded individually."""
PREPARE_S_MAX = 120.0
"""Time limit for the calls of a preparation."""

Json = dict[str, Any]


def settings(
    experiment: Experiment, planned: PlannedTrial, table: Table, collector: Json
) -> Settings:
    """Configuration of the trial's service; ``collector`` is the default of its manifest, included
    so that results contain it, unless the experiment sets another."""
    language = planned.cell.stack.axes.language
    messages = (planned.cell.message, *(g.message for g in planned.cell.load.background))
    hellos = (size for message in messages for size in message.hello_sizes)
    return Settings(
        hello_bytes=next(hellos, 14),
        processors=experiment.processors or table.processors(),
        collector=experiment.collector.get(language, collector),
        faults=planned.cell.point.options.get("faults", {}),
        codec_times=experiment.codec_times,
    )


def store_timeout_ms(timeout_s: float) -> int:
    """Database timeout of a call: 10 % less than the caller's timeout, so that the caller still
    gets the error."""
    return max(1, round(timeout_s * 900))


def plan(experiment: Experiment, planned: PlannedTrial, table: Table, endpoint: Endpoint) -> Plan:
    """The engine's plan for the trial."""
    cell = planned.cell
    is_cold = cell.stack.axes.start == "cold"
    warmup = experiment.warmup_of(cell.load, cell.stack.axes)
    probe = {
        **_group(experiment, planned, endpoint),
        "workload": cell.workload(planned.seed),
        "load": cell.load.plan(planned.seed),
        "window": experiment.window_of(cell.message, cell.load),
        "warmup": {
            "min_s": warmup.least_s,
            "max_s": warmup.max,
        },
        "first_calls": FIRST_CALLS if is_cold else 0,
    }
    # The probe decides when the window opens and closes.
    background = [
        {
            **probe,
            "name": group.name,
            "workload": group.message.workload(planned.seed),
            "load": group.load.point().plan((planned.seed + number) % 2**63),
            "warmup": {"min_s": 0.0, "max_s": 0.0},
            "first_calls": 0,
        }
        for number, group in enumerate(cell.load.background, 1)
    ]
    rationed = cell.stack.axes.client.cpu_percent is not None
    # Each of several clients has one thread, on whatever core its machine gives it.
    threads = {} if experiment.clients > 1 else table.thread_options(rationed=rationed)
    document = {
        **threads,
        "progress_ms": PROGRESS_MS,
        "groups": [probe, *background],
        "allow_any_target": cell.external is not None and not cell.external.is_local,
    }
    return msgspec.convert(document, Plan)


def preparation(
    experiment: Experiment, planned: PlannedTrial, endpoint: Endpoint, step: Preparation
) -> Plan:
    """The engine's plan of calls that prepare the trial's service, made by one user."""
    group = {
        **_group(experiment, planned, endpoint),
        "workload": step.workload(planned.seed),
        "load": {"kind": "closed", "users": 1, "iterations": step.calls},
        "window": {"calls": {"calls": step.calls, "max_s": PREPARE_S_MAX}},
        "warmup": {"min_s": 0.0, "max_s": 0.0},
    }
    return msgspec.convert({"groups": [group]}, Plan)


def plan_warmup(experiment: Experiment, planned: PlannedTrial, endpoint: Endpoint) -> Plan:
    """The engine's plan of the trial's calls that warm up a service of the user's own, made by
    :data:`wirelab.experiment.external.WARM_USERS` users."""
    external = planned.cell.external
    assert external is not None  # others have `prepare`
    iterations = external.warm_calls // WARM_USERS
    group = {
        **_group(experiment, planned, endpoint),
        "workload": planned.cell.workload(planned.seed),
        "load": {"kind": "closed", "users": WARM_USERS, "iterations": iterations},
        "window": {"calls": {"calls": external.warm_calls, "max_s": PREPARE_S_MAX}},
        "warmup": {"min_s": 0.0, "max_s": 0.0},
    }
    return msgspec.convert({"groups": [group]}, Plan)


def _group(experiment: Experiment, planned: PlannedTrial, endpoint: Endpoint) -> Json:
    """Keys that all groups of a trial have in common."""
    return {
        "name": "main",
        **endpoint.group(),
        **_authority(planned.cell.external),
        "stack": planned.cell.stack.engine_stack(),
        **planned.cell.stack.login(),
        "timeout_s": experiment.timeout,
        "drain_s": experiment.drain,
    }


def _authority(external: ExternalService | None) -> Json:
    """The host that requests name: the service's own, or that of its URL."""
    server = external.server if external else None
    host = (external.host if external else None) or (server.authority if server else None)
    return {"authority": host} if host else {}


def hide_secrets(plan: Json) -> Json:
    """The plan as recorded: secrets in contents that come from files are replaced. It is made from
    an experiment without its other secrets."""
    for group in plan["groups"]:
        _hide(group["workload"])
    return plan


def _hide(workload: Json) -> None:
    for part in workload.get("parts", ()):
        _hide(part["workload"])
    for step in workload.get("steps", ()):
        if "request" in step:
            _hide(step["request"])
    if workload.get("body_base64"):
        content = hide_content(base64.b64decode(workload["body_base64"]))
        workload["body_base64"] = base64.b64encode(content).decode()
