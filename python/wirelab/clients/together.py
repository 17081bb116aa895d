"""Drives one plan by several clients that start together."""

from __future__ import annotations

import time
from collections.abc import Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from functools import partial
from typing import Any

import msgspec

from wirelab.clients import clock, parts
from wirelab.clients.client import ClientInfo, describe
from wirelab.clients.clock import ClockOffset
from wirelab.clients.ray_cluster import ClientsSpec, RayClient, start_clients
from wirelab.clients.ray_connection import THIS_MACHINE, Cluster
from wirelab.documents.event import Event, Fault, Outcome, Progress
from wirelab.documents.plan import Plan
from wirelab.errors import LabError, TrialFailed, UsageError
from wirelab.experiment.placement import available_cores
from wirelab.process.engine import RunObserver
from wirelab.process.interruption import Interruption
from wirelab.records.client import ClientRecord, ClientsRecord

START_S = 1.0
"""From the order to start until the load begins: every engine must be ready by then."""
BEAT_S = 0.25
"""How often clients hear from the front."""


@dataclass(frozen=True)
class Together:
    """What all clients measured."""

    outcome: Outcome
    """The sum."""
    record: ClientsRecord
    """What each did."""


class ClientsRunner:
    """Runs plans by several clients, and keeps what each did."""

    def __init__(self, spec: ClientsSpec) -> None:
        self._spec = spec
        self.together: Together | None = None
        """Of the last plan."""

    def __call__(
        self,
        plan: Plan,
        cores: Sequence[int],
        interruption: Interruption,
        observer: RunObserver,
    ) -> Outcome:
        """Clients are not pinned to ``cores``. Raises :class:`UsageError`, :class:`LabError`."""
        try:
            with ClientPool(self._spec.cluster) as pool:
                self.together = pool.drive(self._spec.count, plan, interruption, observer)
        except TrialFailed as failed:
            remedy = "look at that client's machine, and drive again"
            raise LabError(failed.reason, remedy) from failed
        return self.together.outcome


class ClientPool:
    """Clients that stay from one load to the next. A context manager that ends them."""

    def __init__(self, cluster: Cluster = THIS_MACHINE) -> None:
        """Starts nothing; see :meth:`start`."""
        self.cluster = cluster
        self._clients: Sequence[RayClient] = ()
        self._started = ExitStack()

    def __enter__(self) -> ClientPool:
        return self

    def __exit__(self, *_: object) -> None:
        self._end()

    def start(self, count: int, interruption: Interruption) -> None:
        """Starts that many clients unless they run. Raises as :func:`start_clients` does."""
        if len(self._clients) == count:
            return
        self._end()
        spec = ClientsSpec(count, self.cluster)
        self._clients = self._started.enter_context(start_clients(spec, interruption))

    def drive(
        self, count: int, plan: Plan, interruption: Interruption, observer: RunObserver
    ) -> Together:
        """Drives a plan. The next one gets other clients where one was lost. Raises
        :class:`UsageError` for a plan that cannot be divided, :class:`LabError` where clients
        cannot be used, :class:`TrialFailed` where one is lost, :class:`Interrupted` before the load
        has begun."""
        parts.refuse_indivisible(plan, count)
        self.start(count, interruption)
        try:
            return drive_by(self._clients, plan, interruption, observer)
        except TrialFailed:
            self._end()
            raise

    def _end(self) -> None:
        self._clients = ()
        self._started.close()


def drive_by(
    clients: Sequence[RayClient], plan: Plan, interruption: Interruption, observer: RunObserver
) -> Together:
    """Drives a plan by clients that run. Raises as :meth:`ClientPool.drive` does."""
    infos = [msgspec.json.decode(client.call("describe"), type=ClientInfo) for client in clients]
    _refuse_others(plan, infos)
    offsets = _measure_clocks(clients)
    begin_ns = time.monotonic_ns() + int(START_S * 1e9)
    plans = parts.divide(plan, [offset.there(begin_ns) for offset in offsets])
    begun = [
        client.begin("drive", msgspec.json.encode(part))
        for client, part in zip(clients, plans, strict=True)
    ]
    outcomes = _watch(clients, infos, begun, interruption, observer)
    again = _measure_clocks(clients)
    shares = parts.shares(plan, len(clients))
    results = zip(clients, infos, shares, outcomes, offsets, again, strict=True)
    cores = len(available_cores()) if len({info.boot for info in infos}) == 1 else None
    record = ClientsRecord(tuple(_describe_client(*one) for one in results), cores)
    return Together(parts.merge(outcomes), record)


def _measure_clocks(clients: Sequence[RayClient]) -> list[ClockOffset]:
    return [clock.measure(partial(client.call, "clock_ns")) for client in clients]


def _refuse_others(plan: Plan, infos: Sequence[ClientInfo]) -> None:
    """Clients run the same engine as the front, and reach the same target."""
    here = describe()
    for info in infos:
        if (info.version, info.engine_sha256) != (here.version, here.engine_sha256):
            raise LabError(
                f"{info.node} has wirelab {info.version} with the engine "
                f"{info.engine_sha256[:12]}, this machine {here.version} with "
                f"{here.engine_sha256[:12]}",
                "install the same wheel on both",
            )
        is_elsewhere = (info.boot, info.network) != (here.boot, here.network)
        for group in plan.groups:
            if is_elsewhere and group.target.startswith(("127.", "[::1]", "unix:")):
                raise UsageError(
                    f"{group.target} is {info.node} itself on {info.node}, and not this machine",
                    "name an address that every node reaches, with --any-target",
                )


def _watch(
    clients: Sequence[RayClient],
    infos: Sequence[ClientInfo],
    begun: Sequence[object],
    interruption: Interruption,
    observer: RunObserver,
) -> list[Outcome]:
    """Sends signs of life to the clients until all have ended."""
    seen: list[Progress | None] = [None] * len(clients)
    ended: dict[int, Outcome] = {}

    def result(at: int, of: object) -> Any:
        try:
            return msgspec.json.decode(clients[at].result(of), type=Event | None)
        except TrialFailed as failed:
            raise TrialFailed(_describe_loss(failed.reason, at, infos, seen)) from failed

    while len(ended) < len(clients):
        running = [at for at in range(len(clients)) if at not in ended]
        beats = {at: clients[at].begin("beat", stop=interruption.requested) for at in running}
        for at, beat in beats.items():
            seen[at] = result(at, beat)
        observer.on_tick()
        _show(seen, observer)
        for at in running:
            if not clients[at].is_over(begun[at], BEAT_S / len(running)):
                continue
            event = result(at, begun[at])
            if isinstance(event, Fault):
                reason = f"{event.message}; {event.remedy}" if event.remedy else event.message
                raise TrialFailed(_describe_loss(reason, at, infos, seen))
            ended[at] = event
    return [ended[at] for at in range(len(clients))]


def _describe_loss(
    reason: str, at: int, infos: Sequence[ClientInfo], seen: Sequence[Progress | None]
) -> str:
    others = sum(one.calls for number, one in enumerate(seen) if one and number != at)
    return (
        f"{reason} (client {at + 1} of {len(infos)}, on {infos[at].node}); the others had made "
        f"{others:,} calls, which are not the load that was ordered"
    )


def _show(seen: Sequence[Progress | None], observer: RunObserver) -> None:
    """The sum of the last lines; percentiles of parts do not add up."""
    known = [one for one in seen if one is not None]
    if not known:
        return
    last = min(known, key=lambda one: one.elapsed_s)
    observer.on_progress(
        Progress(
            phase=last.phase,
            elapsed_s=last.elapsed_s,
            calls=sum(one.calls for one in known),
            errors=sum(one.errors for one in known),
            in_flight=sum(one.in_flight for one in known),
        )
    )


def _describe_client(
    client: RayClient,
    info: ClientInfo,
    share: float,
    outcome: Outcome,
    before: ClockOffset,
    after: ClockOffset,
) -> ClientRecord:
    group = outcome.groups[0]
    response = group.times.get("response")
    percentiles = {} if response is None else response.percentiles_ns
    p50, p99 = percentiles.get("p50"), percentiles.get("p99")
    return ClientRecord(
        client=client.name,
        node=info.node,
        share=share,
        calls=group.calls,
        errors=group.errors,
        rate_per_s=group.rate_per_s,
        p50_ms=None if p50 is None else p50 / 1e6,
        p99_ms=None if p99 is None else p99 / 1e6,
        cpu_s=outcome.process.cpu_user_s + outcome.process.cpu_system_s,
        late_ms=1e3 * (outcome.late_s or 0.0),
        clock_offset_ms=before.offset_ns / 1e6,
        clock_error_ms=before.error_ns / 1e6,
        clock_moved_ms=clock.drift_ns(before, after) / 1e6,
    )
