"""A stall of which findings tell, in trials made from known times.

Nothing here was measured: what a test proposes or judges follows from these figures alone.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from wirelab.experiment import loading as experiment_file
from wirelab.experiment import matrix as planning
from wirelab.experiment.matrix import PlannedTrial
from wirelab.records.group import GroupResult, Times
from wirelab.records.load import LoadRecord
from wirelab.records.trial import Point, Trial
from wirelab.records.wire import WireRecord
from wirelab.run.adaptive.proposal import Proposal, propose
from wirelab.run.adaptive.record import Claim, Planned, Spot
from wirelab.stack import manifests
from wirelab.stack.reference import Stack

STALLED = "rest@rust?server.writes=split&server.nagle=on"
FLIPPED = "rest@rust?server.writes=split"
JOINED = "rest@rust?server.nagle=on"
NEITHER = "rest@rust"
NAGLE = "nagle-delayed-ack"
SPLIT = "split-writes"
USERS = LoadRecord(kind="closed", users=1, think_s=0.0)


def point_of(stack: str) -> Point:
    axes = Stack.parse(stack).axes
    options = {"placement": "pinned", "capture": "client"}
    return Point(stack, axes, "Hello", 14, USERS, options=options)


def trials_of(stack: str, times_ms: Sequence[float], *findings: dict[str, Any]) -> list[Trial]:
    return [
        Trial(
            f"{stack}-{repeat}",
            point_of(stack),
            repeat,
            repeat,
            "measured",
            result=GroupResult(times={"service": Times(count=100, mean_ns=ms * 1e6)}),
            wire=WireRecord.of({"exchanges": 100, "findings": list(findings)}),
        )
        for repeat, ms in enumerate(times_ms, 1)
    ]


def finding_of(
    cause: str, occurrences: int, ms_total: float, axis: str | None = None, value: str = ""
) -> dict[str, Any]:
    test = {"axis": axis, "value": value, "predict": ""} if axis else None
    return {
        "cause": cause,
        "occurrences": occurrences,
        "exchanges": occurrences,
        "ms_total": ms_total,
        "ms_median": ms_total / max(1, occurrences),
        "words": "",
        "test": test,
    }


STALL = finding_of(NAGLE, 90, 3600.0, "server.nagle", "off")
"""36 ms per call."""
SMALL_BUFFER = finding_of("tcp-window-exhausted", 9, 900.0, "server.tcp_window", "kernel")


def plan_test(cause: str = NAGLE, after: str = FLIPPED, ms: float = 36.0) -> Planned:
    claim = Claim(cause=cause, ms_per_call=ms, occurrences_per_call=0.9, share=0.9, trials=1)
    (axis,) = Stack.parse(STALLED).list_differing_axes(Stack.parse(after))
    return Planned(
        claim=claim,
        axis=axis,
        was=Stack.parse(STALLED).value(axis),
        becomes=Stack.parse(after).value(axis),
        before=Spot.of(point_of(STALLED)),
        after=Spot.of(point_of(after)),
        ms_predicted=ms,
    )


FILE = """\
name: seeded
services: ["{stack}"]
messages: [{{operation: Hello, bytes: 14 B}}]
loads: [closed: {{users: 1}}]
links: [{link}]
capture: {capture}
window: {{calls: 20}}
warmup: {{min: 0 s, max: 0 s}}
repeats: 1
"""


def text_of(stack: str = STALLED, link: str = "loopback", capture: str = "client") -> str:
    return FILE.format(stack=stack, link=link, capture=capture)


def proposal_of(text: str, *findings: dict[str, Any], causes: Sequence[str] = ()) -> Proposal:
    """The proposal for a run whose every trial shows these findings in calls of 40 ms."""
    experiment, catalogue = experiment_file.parse(text), manifests.load()
    trials = [
        trial_of(planned, findings) for planned in planning.schedule(experiment, catalogue).trials
    ]
    return propose(experiment, catalogue, trials, causes)


def trial_of(planned: PlannedTrial, findings: Sequence[dict[str, Any]]) -> Trial:
    point = planned.cell.point
    wire: WireRecord | None = WireRecord.of({"exchanges": 100, "findings": list(findings)})
    if point.options.get("capture", "none") == "none":
        wire = None
    times = {"service": Times(count=100, mean_ns=40e6)}
    return Trial(
        planned.id,
        point,
        planned.repeat,
        planned.order,
        "measured",
        result=GroupResult(times=times),
        wire=wire,
    )
