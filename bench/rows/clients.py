"""Several clients: how far apart they start, and what it costs to add up their results."""

from __future__ import annotations

import math
import time
from dataclasses import dataclass
from importlib.util import find_spec

import msgspec

from bench.bounds import Ratio
from bench.process import BenchError, NotHere
from bench.races import SERVER_CORE
from bench.servers import REST_SMALL, run_service
from wirelab.clients import parts
from wirelab.clients.ray_cluster import ClientsSpec, start_clients
from wirelab.clients.together import drive_by
from wirelab.documents.event import Outcome
from wirelab.documents.plan import Plan
from wirelab.errors import LabError, TrialFailed
from wirelab.process.engine import RunObserver
from wirelab.process.interruption import Interruption

SKEW_MS_MAX = 5.0
"""Start skew, 99 of 100 starts."""
ADDED = 8
"""Results that are added up."""


@dataclass(frozen=True)
class Divided:
    """Every start, and every sum."""

    late_ms: tuple[float, ...]
    """Of each start, how late the later client was."""
    merge_ms: tuple[float, ...]
    """Wall time of a sum of :data:`ADDED` results, a process included."""

    @property
    def figures(self) -> list[Ratio]:
        """The skew of 99 in 100 starts, in milliseconds."""
        ordered = sorted(self.late_ms)
        p99 = ordered[math.ceil(0.99 * len(ordered)) - 1]
        name = f"start skew in ms, p99 of {len(ordered)} starts"
        return [Ratio(name, "the common start", (p99,), at_most=SKEW_MS_MAX)]


def run(starts: int) -> Divided:
    """Starts two clients on this machine that often.

    Raises:
        NotHere: no Ray.
        BenchError: a service or a client could not be had.
    """
    if find_spec("ray") is None:
        raise NotHere("several clients need Ray: pip install 'wirelab[ray]'")
    late_ms: list[float] = []
    with run_service(REST_SMALL, SERVER_CORE) as served:
        plan = _plan(served.address)
        try:
            with start_clients(ClientsSpec(2), Interruption()) as clients:
                for _ in range(starts):
                    made = drive_by(clients, plan, Interruption(), RunObserver())
                    late_ms.append(max(client.late_ms for client in made.record.clients))
        except (TrialFailed, LabError) as error:
            raise BenchError(str(error)) from error
    return Divided(tuple(late_ms), tuple(_time_merge(made.outcome) for _ in range(starts)))


def _plan(target: str) -> Plan:
    group = {
        "name": "main",
        "target": target,
        "stack": {"binding": "rest", "codec": "text", "transport": "http/1.1"},
        "workload": {
            "kind": "contract",
            "contract": "transfer",
            "operation": "Hello",
            "bytes": REST_SMALL.hello_bytes,
        },
        "load": {"kind": "closed", "users": 8},
        "window": {"duration_s": 0.5},
        "warmup": {"min_s": 0.0, "max_s": 0.0},
    }
    return msgspec.convert({"groups": [group]}, Plan)


def _time_merge(outcome: Outcome) -> float:
    began = time.monotonic()
    parts.merge([outcome] * ADDED)
    return 1e3 * (time.monotonic() - began)
