"""What a predicted graph cannot show: passes not applied, older rules, the host's results, and open dimensions, with
what they decided, as a line for the commands, and a graph in which they have sizes.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from ...core.cann.input_shapes import options_for
from ...errors import counted, join_some

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Iterator

    from ...core.cann.input_shapes import ModelInput
    from .fusions.fuse import Fused
    from .graph import GraphTensor, ModelGraph
    from .result import Answer

_SIZE = 7
"""The size that an open dimension gets: kernels and fusions ask whether it is known, hardly ever what it is. Rules that
ask for a multiple of 16 (``fusions/passes/layouts.py``) never fire where an open dimension is one of the last two."""
_SHOWN = 3


def has_open_dimensions(graph: ModelGraph) -> bool:
    """Return whether a shape in a model of another framework is open."""
    return graph.model.predicted and any(tensor.is_open for node in graph for tensor in node.outputs)


def with_sizes(graph: ModelGraph) -> ModelGraph:
    """Return a graph in which every open dimension has a size."""
    known: dict[GraphTensor, GraphTensor] = {}

    def sized(tensor: GraphTensor) -> GraphTensor:
        found = known.get(tensor)
        if found is None:
            shape = tensor.shape and tuple([_SIZE if dim == -1 else dim for dim in tensor.shape])
            found = known[tensor] = tensor._replace(shape=shape)
        return found

    nodes = []
    for node in graph:
        inputs, outputs = tuple(map(sized, node.inputs)), tuple(map(sized, node.outputs))
        nodes.append(replace(node, inputs=inputs, outputs=outputs))
    return graph.with_nodes(nodes)


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


def limits_of(answer: Answer) -> Iterator[Limit]:
    """Yield what the answer for a predicted graph cannot show."""
    if nodes := answer.decided_open:
        yield Limit("open-dimensions", open_dimensions_text(nodes, answer.graph.model.inputs), nodes)
    yield from fusion_limits(answer.fused)


def open_dimensions_text(nodes: Collection[str], inputs: Iterable[ModelInput]) -> str:
    """Return for how many nodes open dimensions decided, and the option that cures it.

    :param nodes: names of nodes, as :attr:`.Answer.decided_open` has them
    """
    named = join_some([f"`{name}`" for name in nodes], _SHOWN)
    cure = options_for(inputs)
    ends = f"; {cure}" if cure else ", which depend on values"
    return f"open dimensions decided the op types or dtypes of {counted(len(nodes), 'node')} ({named}){ends}"
