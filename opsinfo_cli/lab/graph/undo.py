"""Restore a graph to its state before the judge: original dtypes, without inserted conversions.

A compiled model and a late dump carry ``origin_data_type`` on the tensors that the judge changed, and nodes named
``trans_Cast_<n>`` and ``trans_TransData_<n>`` that it inserted (hicann/ge ffdcbc9f, compiler/engines/nn_engine/
optimizer/graph_optimizer/shape_format_transfer/trans_node_implementation/trans_node_base_generator.cc:39).
"""

from __future__ import annotations

import re
from dataclasses import replace
from typing import TYPE_CHECKING

from .graph import ModelGraph

if TYPE_CHECKING:
    from .graph import GraphTensor


def inserted_nodes(graph: ModelGraph) -> list[int]:
    """Return indexes of the conversions that the engine inserted and named."""
    return [
        node.index
        for node in graph
        if node.type in ("Cast", "TransData") and node.sources and re.fullmatch(rf"trans_{node.type}_\d+", node.name)
    ]


def before_judge(graph: ModelGraph) -> ModelGraph:
    """Return the graph before the judge; the same object if the engine changed nothing.

    :raises Damaged: if inserted conversions feed each other in a cycle
    """
    if graph.model.predicted:  # a model of another framework: nothing was compiled
        return graph
    gone = inserted_nodes(graph)
    changed = any(
        tensor.original_dtype not in (None, tensor.dtype) for node in graph for tensor in (*node.inputs, *node.outputs)
    )
    if not gone and not changed:
        return graph
    graph = graph.without({index: graph[index].sources[0] for index in gone})
    originals: dict[GraphTensor, GraphTensor] = {}

    def original(tensor: GraphTensor) -> GraphTensor:
        if tensor not in originals:
            originals[tensor] = tensor._replace(dtype=tensor.first_dtype, original_dtype=None)
        return originals[tensor]

    nodes = [
        replace(node, inputs=tuple(map(original, node.inputs)), outputs=tuple(map(original, node.outputs)))
        for node in graph
    ]
    return ModelGraph(nodes, graph.model._replace(judged=False), graph.subgraphs)
