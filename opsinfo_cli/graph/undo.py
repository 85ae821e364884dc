"""Restore a graph to its state before the judge: original dtypes, without inserted conversions.

A compiled model and a late dump carry ``origin_data_type`` on the tensors that the judge changed, and nodes named
``trans_Cast_<n>`` and ``trans_TransData_<n>`` that it inserted (hicann/ge ffdcbc9f, compiler/engines/nn_engine/
optimizer/graph_optimizer/shape_format_transfer/trans_node_implementation/trans_node_base_generator.cc:39).
"""

from __future__ import annotations

import re
from bisect import bisect_left
from dataclasses import replace
from typing import TYPE_CHECKING

from ..errors import Damaged
from .graph import ModelGraph, Producer, Subgraph

if TYPE_CHECKING:
    from .graph import GraphTensor


_INSERTED = re.compile(r"trans_(Cast|TransData)_\d+")


def inserted_nodes(graph: ModelGraph) -> list[int]:
    """Return indexes of the conversions that the engine inserted and named."""
    return [
        node.index
        for node in graph
        if node.type in ("Cast", "TransData")
        and (match := _INSERTED.fullmatch(node.name))
        and match[1] == node.type
        and node.sources
    ]


def before_judge(graph: ModelGraph) -> ModelGraph:
    """Return the graph before the judge; the same object if the engine changed nothing.

    :raises Damaged: if inserted conversions feed each other in a cycle
    """
    if graph.model.predicted:  # a model of another framework: nothing was compiled
        return graph
    gone = set(inserted_nodes(graph))
    changed = any(
        tensor.original_dtype not in (None, tensor.dtype) for node in graph for tensor in (*node.inputs, *node.outputs)
    )
    if not gone and not changed:
        return graph
    kept = [node for node in graph if node.index not in gone]
    place = {node.index: at for at, node in enumerate(kept)}
    fed_by = _behind(graph, gone)
    originals: dict[GraphTensor, GraphTensor] = {}

    def moved(source: Producer | None) -> Producer | None:
        if source is not None and source.node in gone:
            source = fed_by[source.node]
        return None if source is None else Producer(place[source.node], source.output)

    def original(tensor: GraphTensor) -> GraphTensor:
        if tensor not in originals:
            originals[tensor] = tensor._replace(dtype=tensor.first_dtype, original_dtype=None)
        return originals[tensor]

    nodes = []
    for at, node in enumerate(kept):
        waited = [fed_by[index] if index in gone else Producer(index, 0) for index in node.control]
        made = replace(
            node,
            index=at,
            sources=tuple(map(moved, node.sources)),
            inputs=tuple(map(original, node.inputs)),
            outputs=tuple(map(original, node.outputs)),
            control=tuple(dict.fromkeys(place[each.node] for each in waited if each is not None)),
        )
        nodes.append(made)
    indexes = [node.index for node in kept]
    subgraphs = [
        Subgraph(
            subgraph.name,
            None if subgraph.parent is None else place.get(subgraph.parent),
            range(bisect_left(indexes, subgraph.nodes.start), bisect_left(indexes, subgraph.nodes.stop)),
        )
        for subgraph in graph.subgraphs
    ]
    return ModelGraph(nodes, graph.model._replace(judged=False, has_casts=False), subgraphs)


def _behind(graph: ModelGraph, gone: set[int]) -> dict[int, Producer | None]:
    """Return the output that feeds each inserted conversion, before any other one."""
    fed_by: dict[int, Producer | None] = {}
    for index in gone:
        passed: dict[int, None] = {}
        source: Producer | None = Producer(index, 0)
        while source is not None and source.node in gone:
            if source.node in passed:
                name = graph[source.node].name
                message = f"inserted conversions form a cycle through `{name}`"
                raise Damaged(message, name="bad-graph", path=graph.model.path)
            if source.node in fed_by:
                source = fed_by[source.node]
                break
            passed[source.node] = None
            source = graph[source.node].sources[0]
        fed_by.update(dict.fromkeys(passed, source))
    return fed_by
