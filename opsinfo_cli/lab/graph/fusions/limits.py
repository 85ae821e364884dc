"""What a predicted graph cannot show because of fusions: passes not applied, older rules, the host's results."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING

from ....errors import counted, join_some

if TYPE_CHECKING:
    from collections.abc import Iterator

    from .fuse import Fused

_SHOWN = 3
"""Names of nodes that are shown of one pass."""


@dataclass(frozen=True)
class Limit:
    """One limit of an answer."""

    kind: str
    """The subject: kernels, fusion, replaced, overflow, inner-tensors and others."""
    message: str
    """The limit as text."""
    nodes: tuple[str, ...] = ()
    """The affected nodes; empty if all nodes may be affected."""


def fusion_limits(fused: Fused) -> Iterator[Limit]:
    if fused.not_applied:
        shown = (
            f"{name} ({counted(len(nodes), 'node')}: {join_some([f'`{node}`' for node in nodes], _SHOWN)})"
            for name, nodes in fused.not_applied.items()
        )
        nodes = tuple(dict.fromkeys(node for names in fused.not_applied.values() for node in names))
        yield Limit("fusions-not-applied", f"fusions that may run and are not applied: {', '.join(shown)}", nodes)
    unsure = [fusion for fusion in fused.fusions if fusion.confidence != "high"]
    if unsure:
        times = Counter(fusion.name for fusion in unsure)
        shown = (f"{name} ({counted(count, 'time')})" for name, count in times.items())
        message = f"fusions by rules of older sources, not confirmed for this chip: {', '.join(shown)}"
        yield Limit("older-fusions", message, tuple([name for fusion in unsure for name in fusion.result]))
    hosted = tuple([node.name for node in fused.graph if "host_inputs" in node.attributes])
    if hosted:
        parameters = f"parameters of BatchNorm in {counted(len(hosted), 'node')}"
        message = f"{parameters}: the host computes new ones from them, whose values are not known here"
        yield Limit("host-computed", message, hosted)
