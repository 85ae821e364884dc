"""A Ray cluster of several nodes on this machine, as a process that reads commands: ``kill N`` and ``add N``.

Each argument is the number of NPUs of a node; the first node is the head. It prints the address in a line of JSON when
the cluster is up, and a line after each command. It ends the cluster when its input ends.
"""

from __future__ import annotations

import json
import sys
from typing import Any

STORE = 80 * 1024 * 1024


def main() -> None:
    from ray.cluster_utils import Cluster

    first, *others = map(int, sys.argv[1:])
    cluster = Cluster(initialize_head=True, head_node_args={**options_of_node(0, first), "include_dashboard": False})
    nodes = {0: cluster.head_node}
    for number, npus in enumerate(others, 1):
        nodes[number] = cluster.add_node(**options_of_node(number, npus))
    report(address=cluster.address)
    for line in sys.stdin:
        word, number = line.split()[0], int(line.split()[1])
        if word == "kill":
            cluster.remove_node(nodes.pop(number), allow_graceful=False)
        else:
            nodes[number] = cluster.add_node(**options_of_node(number, 1))
        report(done=line.strip())
    cluster.shutdown()


def options_of_node(number: int, npus: int) -> dict[str, Any]:
    """Its processes have its number in their environment."""
    environ = {"NODE_OF_TEST": str(number)}
    return {"num_cpus": 1, "object_store_memory": STORE, "resources": {"NPU": npus}, "env_vars": environ}


def report(**what: str) -> None:
    print(json.dumps(what), flush=True)


if __name__ == "__main__":
    main()
