"""A Ray cluster of two nodes in the network namespace of this process: ``python -m
tests.python.two_ray_nodes KILLED COMMAND...``. ``ADDRESS`` in COMMAND becomes the cluster's. With
KILLED 1 the second node is killed when a client's engine calls. Exits as the command does."""

from __future__ import annotations

import os
import subprocess
import sys
import time

import psutil
from ray.cluster_utils import Cluster


def main() -> int:
    killed, *command = sys.argv[1:]
    # Ray replaces 127.0.0.1 by the address of an interface.
    head = {"num_cpus": 1, "include_dashboard": False, "node_ip_address": "127.0.0.2"}
    cluster = Cluster(initialize_head=True, head_node_args=head)
    try:
        second = cluster.add_node(num_cpus=1, node_ip_address="127.0.0.3")
        words = [word.replace("ADDRESS", cluster.address) for word in command]
        with subprocess.Popen(words) as front:
            if killed == "1":
                _wait_for_engines(2)
                time.sleep(1.5)
                cluster.remove_node(second, allow_graceful=False)
            return front.wait(100)
    finally:
        cluster.shutdown()


def _wait_for_engines(count: int) -> None:
    mark = os.environ["WIRELAB_TEST_MARK"]
    until = time.monotonic() + 60.0
    while time.monotonic() < until:
        found = 0
        for process in psutil.process_iter():
            try:
                is_ours = process.environ().get("WIRELAB_TEST_MARK") == mark
                found += is_ours and process.name() == "wirelab-engine"
            except (psutil.NoSuchProcess, psutil.AccessDenied):
                continue
        if found >= count:
            return
        time.sleep(0.05)
    raise TimeoutError(f"not {count} engines")


if __name__ == "__main__":
    sys.exit(main())
