"""Ray options: the cluster, the resources of a trial, and the number of trials that fit. Nothing here imports Ray."""

from __future__ import annotations

import os
from collections import Counter
from math import floor
from typing import TYPE_CHECKING

from ...errors import UsageFault

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence
    from typing import Any

_OWN = {"CPU": "num_cpus", "GPU": "num_gpus", "memory": "memory"}
"""Resources that have their own argument in a Ray task."""
_FINEST = 10_000
"""Ray counts ten-thousandths of a resource."""


def address_of(text: str) -> str:
    """Return the address of a cluster: ``auto``, or ``HOST:PORT`` of its head.

    :raises UsageFault: if the text is neither
    """
    host, _, port = text.rpartition(":")
    if text == "auto" or (host and port.isdecimal() and "//" not in host):
        return text
    hint = "auto, or HOST:PORT as `ray start --head` prints it; start opsinfo on a host of the cluster"
    raise UsageFault(f"--ray: cannot read `{text}`", hint=hint)


def require_absolute(command: Sequence[str]) -> None:
    """Refuse local files in the command: a trial runs in another folder on another host.

    :raises UsageFault: if a word of the command names a file in the current directory
    """
    for number, word in enumerate(command):
        is_path = "/" in word if number == 0 else True  # a program without a slash is looked up in PATH
        if is_path and not os.path.isabs(word) and os.path.isfile(word):
            raise UsageFault(
                f"`{word}` is a file of the current directory, and trials run in other folders on other hosts",
                name="relative-path",
                hint=f"give its absolute path, which every host must have: {os.path.abspath(word)}",
            )


def resources_of(text: str) -> dict[str, float]:
    """Parse the resources of a trial: ``NPU=1``, ``NPU=2,CPU=8``.

    :raises UsageFault: if the text has another form
    """
    found: dict[str, float] = {}
    for word in text.split(","):
        name, _, number = (part.strip() for part in word.partition("="))
        try:
            amount = float(number)
        except ValueError:
            amount = 0.0
        if not name or name in found or not 1 / _FINEST <= amount < float("inf"):
            hint = "names and numbers, each name once, as in NPU=1 or NPU=2,CPU=8"
            raise UsageFault(f"--resources: cannot read `{word}`", hint=hint)
        if amount > 1 and amount != floor(amount):
            raise UsageFault(f"--resources: `{word}`: above 1 only whole numbers are allowed", hint="NPU=2, or NPU=0.5")
        found[name] = amount
    return found


def task_options(resources: Mapping[str, float]) -> dict[str, Any]:
    """Return the arguments of a Ray task that takes only these resources."""
    own = {_OWN[name]: amount for name, amount in resources.items() if name in _OWN}
    return {"num_cpus": 0, **own, "resources": {name: amount for name, amount in resources.items() if name not in _OWN}}


def slots_of(nodes: Iterable[Mapping[str, Any]], resources: Mapping[str, float]) -> int:
    """Return how many trials fit on the live nodes.

    :param nodes: as ``ray.nodes()`` returns them
    """
    return sum(_room(node["Resources"], resources) for node in nodes if node["Alive"])


def _room(has: Mapping[str, float], resources: Mapping[str, float]) -> int:
    counted = [(round(has.get(name, 0) * _FINEST), round(amount * _FINEST)) for name, amount in resources.items()]
    return min(total // each for total, each in counted)


def described(nodes: Iterable[Mapping[str, Any]]) -> str:
    """Return the resources of the live nodes as text: ``2 nodes with CPU 8, NPU 2; 1 node with CPU 4``."""
    kinds = Counter(_resources_text(node["Resources"]) for node in nodes if node["Alive"])
    each = [f"{count} {'node' if count == 1 else 'nodes'} with {has}" for has, count in sorted(kinds.items())]
    return "; ".join(each) or "no node"


def _resources_text(has: Mapping[str, float]) -> str:
    return ", ".join(f"{name} {amount:g}" for name, amount in sorted(has.items()) if _is_shown(name)) or "nothing"


def _is_shown(name: str) -> bool:
    """Return whether a resource is not one that every node has for Ray's own use."""
    return not name.startswith(("node:", "object_store_memory", "memory"))
