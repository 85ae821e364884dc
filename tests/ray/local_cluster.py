"""A Ray cluster of several nodes on this machine, as a process that obeys lines: ``kill N``, ``add NPUS``, end of file.

It prints one line of JSON when it is up, and one for every line that it obeyed.
"""

from __future__ import annotations

import json
import sys
from typing import Any

STORE = 80 * 1024 * 1024


def main() -> None:
    from ray.cluster_utils import Cluster

    npus = [int(word) for word in sys.argv[1:]]
    head: dict[str, Any] = {"num_cpus": 1, "object_store_memory": STORE, "resources": {"NPU": npus[0]}}
    cluster = Cluster(initialize_head=True, head_node_args={**head, "include_dashboard": False})
    nodes = [cluster.head_node, *(_add(cluster, count) for count in npus[1:])]
    _say({"address": cluster.address})
    for line in sys.stdin:
        word, number = line.split()
        if word == "kill":
            cluster.remove_node(nodes[int(number)], allow_graceful=False)
        else:
            nodes.append(_add(cluster, int(number)))
        _say({"done": line.strip()})
    cluster.shutdown()


def _add(cluster: Any, npus: int) -> Any:
    return cluster.add_node(num_cpus=1, object_store_memory=STORE, resources={"NPU": npus})


def _say(what: dict[str, str]) -> None:
    print(json.dumps(what), flush=True)


if __name__ == "__main__":
    main()
