"""One drive from target to verdicts: what is looked up before, the calls, and what they show."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import msgspec

from wirelab.checks import clients
from wirelab.clients.ray_cluster import ClientsSpec
from wirelab.clients.together import ClientsRunner
from wirelab.documents.event import Outcome
from wirelab.drive.advice import hints, noise
from wirelab.drive.amount import Amount
from wirelab.drive.server_noise import ServerNoise
from wirelab.drive.session import Call, OnProgress, drive_server, drive_stack
from wirelab.drive.summary import summary
from wirelab.errors import EXIT_FAILED, EXIT_INTERRUPTED, EXIT_OK
from wirelab.process.build_progress import OnBuild
from wirelab.process.interruption import Interruption
from wirelab.records.group import GroupResult
from wirelab.secrets.finding import hide_target
from wirelab.stack.reference import Stack
from wirelab.stack.targets import Server

if TYPE_CHECKING:
    from wirelab.explain.thresholds import Condition, Judged

Json = dict[str, object]
Display = Callable[[], AbstractContextManager[OnProgress]]
"""Returns what shows the progress while the calls are made."""


@dataclass(frozen=True)
class DriveSpec:
    """What to drive, how, and how to judge the result."""

    reference: str
    """The target as it was given; it may contain secrets."""
    target: Stack | Server
    call: Call
    amount: Amount
    conditions: Sequence[Condition] = ()
    follow: bool = False
    """Redirects of a URL are followed before the load."""
    cookies: bool = False
    """Cookies of a URL are fetched before the load."""
    any_target: bool = False
    """A URL may be of another machine."""
    postgres: str = ""
    ready_timeout_s: float | None = None
    clients: ClientsSpec | None = None
    """Several engines; None: one."""

    def keeps_connections(self) -> bool:
        """Whether connections are kept open between calls."""
        if isinstance(self.target, Stack):
            return self.target.axes.connection.kind != "close"
        return not self.call.close


@dataclass(frozen=True)
class MeasuredDrive:
    """Result of a drive."""

    target: str
    """Without secrets."""
    result: Json
    outcome: Outcome
    judged: Sequence[Judged]
    """Verdicts on the thresholds."""

    def document(self) -> Json:
        """What ``--json`` prints."""
        conditions = [one.to_json() for one in self.judged]
        return {"target": self.target, **self.result, "conditions": conditions}

    @property
    def exit_code(self) -> int:
        if self.outcome.interrupted:
            return EXIT_INTERRUPTED
        if not self.result["ok"]:
            return EXIT_FAILED
        if not self.judged:
            return EXIT_OK
        from wirelab.explain import thresholds

        return thresholds.exit_code(self.judged)


def measure(spec: DriveSpec, display: Display, on_build: OnBuild) -> MeasuredDrive:
    """Makes the calls. Raises :class:`WirelabError`."""
    spec, notes = _look_ahead(spec)
    server_noise = ServerNoise()
    runner = None if spec.clients is None else ClientsRunner(spec.clients)
    with Interruption() as interruption, display() as on_progress:
        outcome = _drive(spec, interruption, on_progress, on_build, server_noise, runner)
    together = None if runner is None else runner.together
    group = GroupResult.of(outcome.groups[0])
    advice = hints(
        spec.target,
        group,
        spec.amount,
        interrupted=outcome.interrupted,
        keeps=spec.keeps_connections(),
        is_websocket=spec.call.stream.format == "websocket",
        authority=spec.call.ca,
    )
    result = {
        **msgspec.to_builtins(summary(outcome, spec.amount)),
        "hints": [*notes, *advice],
        "noise": [
            *noise(group, outcome.process, server_noise.measure_waits(group)),
            *(clients.notes(together.record, group.window_s) if together else ()),
        ],
        "clients": msgspec.to_builtins(together.record.clients) if together else [],
    }
    named = hide_target(spec.reference)
    return MeasuredDrive(named, result, outcome, _judge(spec.conditions, named, group, outcome))


def _look_ahead(spec: DriveSpec) -> tuple[DriveSpec, tuple[str, ...]]:
    """The drive after redirects and cookies have been resolved, and notes about them."""
    if isinstance(spec.target, Stack) or not (spec.follow or spec.cookies):
        return spec, ()
    from wirelab.drive.preflight import look_ahead  # loads an HTTP client that few runs need

    found = look_ahead(
        spec.reference,
        spec.call,
        follow=spec.follow,
        cookies=spec.cookies,
        any_target=spec.any_target,
    )
    return replace(spec, target=found.server, call=found.call), found.notes


def _drive(
    spec: DriveSpec,
    interruption: Interruption,
    on_progress: OnProgress,
    on_build: OnBuild,
    server_noise: ServerNoise,
    runner: ClientsRunner | None,
) -> Outcome:
    if isinstance(spec.target, Stack):
        return drive_stack(
            spec.target,
            spec.call,
            spec.amount,
            interruption=interruption,
            on_progress=on_progress,
            postgres=spec.postgres,
            ready_timeout_s=spec.ready_timeout_s,
            on_build=on_build,
            noise=server_noise,
            runner=runner,
        )
    return drive_server(
        spec.target,
        spec.call,
        spec.amount,
        any_target=spec.any_target,
        interruption=interruption,
        on_progress=on_progress,
        noise=server_noise,
        runner=runner,
    )


def _judge(
    conditions: Sequence[Condition], target: str, group: GroupResult, outcome: Outcome
) -> list[Judged]:
    if not conditions:
        return []
    from wirelab.documents.axes import Axes
    from wirelab.records.caller import CallerRecord
    from wirelab.records.load import LoadRecord
    from wirelab.records.trial import Point, Trial

    # A URL has no stack, and no figure of one run depends on the axes.
    axes = Axes.of({"binding": "rest", "language": "external"})
    trial = Trial(
        id="drive",
        point=Point(target, axes, "", 0, LoadRecord(kind=group.load)),
        repeat=0,
        order=0,
        status="measured",
        result=group,
        engine=CallerRecord.of(outcome.process),
    )
    return [condition.judge_run(target, trial) for condition in conditions]
