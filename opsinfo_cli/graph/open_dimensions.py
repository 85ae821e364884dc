"""The nodes for which open dimensions decided: those that are judged otherwise once every dimension has a size."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from ..errors import counted, join_some
from .answer import NOT_COMPUTED
from .fusion_limits import FusionLimit, fusion_limits
from .shapes import options_for

if TYPE_CHECKING:
    from collections.abc import Iterator

    from .answer import Answer
    from .graph import GraphTensor, ModelGraph

_SIZE = 7
"""The size that an open dimension gets: kernels and fusions ask whether it is known, hardly ever what it is."""
_SHOWN = 3


def has_open_dimensions(graph: ModelGraph) -> bool:
    """Return whether a shape in a model of another framework is open."""
    return graph.model.predicted and any(_is_open(tensor) for node in graph for tensor in node.outputs)


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


def limits_of(answer: Answer) -> Iterator[FusionLimit]:
    """Yield what the answer for a predicted graph cannot show."""
    nodes = tuple(_decided(answer))
    if nodes:
        named = join_some([f"`{name}`" for name in nodes], _SHOWN)
        cure = options_for(answer.graph.model.inputs)
        ends = f"; {cure}" if cure else ", which depend on values"
        message = f"open dimensions decided the op types or dtypes of {counted(len(nodes), 'node')} ({named}){ends}"
        yield FusionLimit("open-dimensions", message, nodes)
    yield from fusion_limits(answer.fused)


def _decided(answer: Answer) -> Iterator[str]:
    known = answer.known()
    if known is None:
        return
    others = {row.name: (row.type, row.inputs, row.outputs) for row in known}
    for row, node in zip(answer, answer.graph, strict=True):
        if node.type in NOT_COMPUTED:
            continue
        measures = node.type == "Shape" and any(map(_is_open, node.inputs))  # folded, where the shape is known
        if measures or others.get(row.name) != (row.type, row.inputs, row.outputs):
            yield row.name


def _is_open(tensor: GraphTensor) -> bool:
    return tensor.shape is not None and -1 in tensor.shape
