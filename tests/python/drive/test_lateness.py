"""Lateness of items of the contract stream, as the engine measures it: against the log of a server
that is late by known times, and what wrong items come to."""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Iterator
from statistics import fmean
from typing import Any

import msgspec
import pytest

from tests.python.feed_model import Feed
from tests.python.stream_server import EVENTS, Request, StreamServer, stream_server
from wirelab.documents.event import GroupOutcome
from wirelab.documents.plan import Plan
from wirelab.drive.amount import Amount
from wirelab.drive.session import run_here
from wirelab.process.engine import RunObserver
from wirelab.process.interruption import Interruption
from wirelab.stack.reference import Stack

Json = dict[str, Any]
Change = Callable[[Json], Json | None]
"""What an item becomes on its way; None: it does not come."""
LINES = "application/x-ndjson"
COUNT, GAP_US = 20, 2_000


class LateServer:
    """Answers feeds late by known times, and notes when it did what."""

    def __init__(
        self,
        *,
        late_s: tuple[float, ...] = (0.0,),
        held_s: float = 0.0,
        change: Change = lambda item: item,
        events: bool = True,
    ) -> None:
        """``late_s`` are the times by which items are sent late, in turn; each is held for
        ``held_s`` between its stamp and its way."""
        self.late_s, self.held_s, self.change, self.events = late_s, held_s, change, events
        self.service_late_ns: list[int] = []

    def __call__(self, request: Request) -> None:
        """An :data:`Answer`."""
        request.head(kind=EVENTS if self.events else LINES)
        for item in self.items(Feed(**json.loads(request.body)), request.received_ns):
            if changed := self.change(item):
                request.message(self.write(changed))
        request.end()

    def items(self, feed: Feed, received_ns: int) -> Iterator[Json]:
        """Each when it is to be sent."""
        for index, due_ns in enumerate(feed.due_ns()):
            at = received_ns + due_ns
            late_s = self.late_s[index % len(self.late_s)]
            time.sleep(max(0.0, (at - time.monotonic_ns()) / 1e9 + late_s))
            sent_ns = max(at, time.monotonic_ns())
            self.service_late_ns.append(sent_ns - at)
            time.sleep(self.held_s)
            yield {
                "index": index,
                "due_ns": due_ns,
                "sent_ns": sent_ns,
                "received_ns": 0 if index else received_ns,
                "text": feed.text(index),
            }

    def write(self, item: Json) -> bytes:
        """One message."""
        text = json.dumps(item)
        return (
            f"id: {item['index']}\ndata: {text}\n\n".encode()
            if self.events
            else (f"{text}\n".encode())
        )


def drive(server: StreamServer, stack: str, **items: Any) -> GroupOutcome:
    """Four feeds, one after another."""
    amount = Amount(calls=4, users=1)
    group = {
        **amount.group(),
        "target": f"127.0.0.1:{server.port}",
        "stack": Stack.parse(stack).engine_stack(),
        "workload": {
            "kind": "contract",
            "contract": "stream",
            "operation": "Feed",
            "bytes": 24,
            "items": {"count": COUNT, "gap_us": GAP_US, **items},
        },
    }
    plan = msgspec.convert({"threads": 1, "groups": [group]}, Plan)
    with Interruption() as interruption:
        outcome = run_here(plan, (), interruption, RunObserver())
    return outcome.groups[0]


def mean_ms(group: GroupOutcome, name: str) -> float:
    mean = group.times[name].mean_ns
    assert mean is not None
    return mean / 1e6


@pytest.mark.parametrize(("stack", "events"), [("sse@rust", True), ("rest@rust", False)])
@pytest.mark.parametrize("pattern", ["constant", "bursts", "pause", "tokens"])
def test_a_service_that_is_late_by_known_times_is_measured_so(
    real_engine: object, stack: str, events: bool, pattern: str
) -> None:
    late = LateServer(late_s=(0.0, 0.004, 0.02), events=events)
    with stream_server(late) as server:
        group = drive(server, stack, pattern=pattern)
    assert (group.ok, group.errors) == (4, 0), group.error_examples
    times = group.times
    assert [times[name].count for name in ("lateness", "service_late", "delivery")] == [80] * 3
    truth = fmean(late.service_late_ns) / 1e6
    # HDR histograms have three digits; the mean is that of their buckets.
    assert mean_ms(group, "service_late") == pytest.approx(truth, rel=0.005)
    longest = max(late.service_late_ns)
    assert times["service_late"].max_ns == pytest.approx(longest, rel=0.002)
    # Lateness is the sum of both parts, item by item, and so are the means.
    both = mean_ms(group, "service_late") + mean_ms(group, "delivery")
    assert mean_ms(group, "lateness") == pytest.approx(both, rel=0.01)


def test_a_delay_behind_the_stamp_counts_as_delivery(real_engine: object) -> None:
    late = LateServer(held_s=0.03)
    with stream_server(late) as server:
        group = drive(server, "sse@rust", gap_us=40_000, count=10)
    assert group.errors == 0, group.error_examples
    # Sleeping never ends early, and the read comes after it.
    assert group.times["delivery"].min_ns >= 0.999 * 30e6
    truth = fmean(late.service_late_ns) / 1e6
    assert mean_ms(group, "service_late") == pytest.approx(truth, rel=0.005)


def test_an_item_that_was_due_during_a_stall_counts_with_all_of_its_lateness(
    real_engine: object,
) -> None:
    def stall(item: Json) -> Json:
        if item["index"] == 5:
            time.sleep(0.1)
        return item

    with stream_server(LateServer(change=stall)) as server:
        group = drive(server, "sse@rust")
    assert group.errors == 0, group.error_examples
    # The items behind it, too, were due while nothing came: all but the first five of 20.
    assert group.times["lateness"].count == 80
    assert group.times["lateness"].mean_ns >= (15 * 100e6 - sum(range(15)) * 2e6) / 20 * 0.99


def drop_item(index: int) -> Change:
    return lambda item: None if item["index"] == index else item


def change_item(at: int, **fields: Any) -> Change:
    return lambda item: {**item, **fields} if item["index"] == at else item


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        (drop_item(4), "item 5 instead of item 4"),
        (drop_item(19), "1 of 20 items did not come"),
        (change_item(4, index=3), "item 3 instead of item 4"),
        (change_item(4, text="x" * 24), "the text of another stream or item"),
        (change_item(4, text="x" * 23), "23 bytes instead of 24"),
        (change_item(4, due_ns=1), "is due at 1 ns instead of 8000000"),
        (change_item(0, received_ns=0), "does not say when the request was received"),
        (change_item(4, received_ns=5), "item 4 has a time of receipt"),
        (change_item(4, sent_ns=1), "before it was due"),
        (change_item(4, sent_ns=1 << 62), "its service has another clock"),
        (change_item(4, index="4"), "not JSON as it should be"),
    ],
)
def test_a_feed_with_a_wrong_item_fails_with_its_reason(
    real_engine: object, change: Change, reason: str
) -> None:
    with stream_server(LateServer(change=change)) as server:
        group = drive(server, "sse@rust")
    assert (group.ok, group.errors) == (0, 4)
    assert any(reason in example for example in group.error_examples), group.error_examples
    assert group.errors_by_kind == {"wrong": 4}
