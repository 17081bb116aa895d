"""A Ray cluster of two nodes in the network namespace of this process: ``python -m
tests.python.two_ray_nodes KILLED COMMAND...``. ``ADDRESS`` in COMMAND becomes the cluster's. With
KILLED 1 the second node is killed when a client's engine calls. Exits as the command does. Without
COMMAND it prints the address, and ends when standard input closes."""

from __future__ import annotations

import subprocess
import sys

from ray.cluster_utils import Cluster

from tests.python.engine_processes import wait_for_calls


def main() -> int:
    killed, *command = sys.argv[1:]
    # Ray replaces 127.0.0.1 by the address of an interface.
    head = {"num_cpus": 1, "include_dashboard": False, "node_ip_address": "127.0.0.2"}
    cluster = Cluster(initialize_head=True, head_node_args=head)
    try:
        second = cluster.add_node(num_cpus=1, node_ip_address="127.0.0.3")
        if not command:
            print(cluster.address, flush=True)
            sys.stdin.read()
            return 0
        words = [word.replace("ADDRESS", cluster.address) for word in command]
        with subprocess.Popen(words) as front:
            if killed == "1":
                wait_for_calls(2)
                cluster.remove_node(second, allow_graceful=False)
            return front.wait(100)
    finally:
        cluster.shutdown()


if __name__ == "__main__":
    sys.exit(main())
