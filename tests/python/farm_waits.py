"""A farm of four nodes whose trials wait without CPU: ``python -m tests.python.farm_waits TRIALS
SECONDS``. Prints how long all trials took, in seconds."""

from __future__ import annotations

import sys
import time
from collections.abc import Sequence
from dataclasses import dataclass

from ray.cluster_utils import Cluster

from wirelab.clients.ray_connection import Cluster as Address
from wirelab.farm.ray_tasks import open_farm
from wirelab.farm.transport import Begun, HostLine
from wirelab.process.interruption import Interruption

NODES = ("127.0.0.2", "127.0.0.3", "127.0.0.4", "127.0.0.5")


@dataclass(frozen=True)
class Waiting:
    """The work of a host that measures nothing."""

    seconds: float

    def prepare(self, host: str) -> dict[str, str]:
        """Starts the process of the host's trials."""
        time.sleep(0.5)
        return {"program": "same on all hosts"}

    def measure(self, host: str, order: int, earlier: str) -> list[HostLine]:
        """Waits."""
        time.sleep(self.seconds)
        return [HostLine(f"{host} {order}".encode(), ())]


def main() -> int:
    trials, seconds = int(sys.argv[1]), float(sys.argv[2])
    head = {"num_cpus": 1, "include_dashboard": False, "node_ip_address": NODES[0]}
    cluster = Cluster(initialize_head=True, head_node_args=head)
    try:
        for address in NODES[1:]:
            cluster.add_node(num_cpus=1, node_ip_address=address)
        with open_farm(Address(cluster.address, insecure=True), Interruption()) as farm:
            farm.describe_all()
            farm.prepare(Waiting(seconds))
            began = time.monotonic()
            left, idle, running = trials, list(farm.hosts()), set[Begun]()
            lines: list[Sequence[HostLine]] = []
            while left or running:
                for host in idle[:left]:
                    running.add(farm.begin(host, left, ""))
                    left -= 1
                idle = []
                for begun in farm.wait(running, 1.0):
                    running.discard(begun)
                    lines.append(farm.result(begun))
                    idle.append(lines[-1][0].line.decode().split()[0])
            assert len(lines) == trials
            print(f"took {time.monotonic() - began:.3f}")
            return 0
    finally:
        cluster.shutdown()


if __name__ == "__main__":
    sys.exit(main())
