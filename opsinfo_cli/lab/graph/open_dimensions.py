"""Open dimensions: what they decided, as a line that every command prints, and a graph in which they have sizes."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from ...core.cann.input_shapes import options_for
from ...errors import counted, join_some
from .fusions.limits import Limit, fusion_limits

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Iterator

    from ...core.cann.input_shapes import ModelInput
    from .graph import GraphTensor, ModelGraph
    from .result import Answer

_SIZE = 7
"""The size that an open dimension gets: kernels and fusions ask whether it is known, hardly ever what it is."""
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
