"""The order in which nodes are judged: producers before consumers, a body right after the node that owns it."""

from __future__ import annotations

from array import array
from itertools import chain, repeat
from operator import sub
from typing import TYPE_CHECKING

from ..errors import Damaged

if TYPE_CHECKING:
    from collections.abc import Sequence

    from .graph import ModelGraph


LOOP_BACK = frozenset({"NextIteration", "RefNextIteration"})
"""Op types whose outputs close a loop: the engine does not wait for them (compute_graph.cc, GetInEdgeSize)."""


def order_of(graph: ModelGraph) -> list[int]:
    """Return all nodes in the engine's order (ComputeGraph::GetAllNodes); bodies whose owner is unknown come last.

    :raises Damaged: if a subgraph has a cycle that no NextIteration closes
    """
    if len(graph.subgraphs) == 1:
        return sorted_nodes(graph, graph.subgraphs[0].nodes)
    bodies: dict[int, list[int]] = {}
    for number, subgraph in enumerate(graph.subgraphs):
        if subgraph.parent is not None:
            bodies.setdefault(subgraph.parent, []).append(number)
    order: list[int] = []
    orphans = [subgraph.nodes for subgraph in reversed(graph.subgraphs) if subgraph.parent is None]
    waiting = [iter(sorted_nodes(graph, nodes)) for nodes in orphans]
    while waiting:
        node = next(waiting[-1], None)
        if node is None:
            waiting.pop()
            continue
        order.append(node)
        owned = bodies.pop(node, [])
        waiting.extend(iter(sorted_nodes(graph, graph.subgraphs[number].nodes)) for number in reversed(owned))
    if len(order) < len(graph):
        raise Damaged("subgraphs own each other", name="bad-graph", path=graph.model.path)
    return order


def sorted_nodes(graph: ModelGraph, nodes: range) -> list[int]:
    """Return one subgraph's nodes, producers first; in the file's order if that is a topological order."""
    types, starts = graph.columns.types, graph.columns.inputs_of[nodes.start : nodes.stop + 1]
    edges = zip(graph.columns.source_node[starts[0] : starts[-1]], owners(starts, nodes.start), strict=True)
    late = {source for source, node in edges if source >= node}
    late |= {source for node in _controlled(graph, nodes) for source in graph.control[node] if source >= node}
    if all(types[source] in LOOP_BACK for source in late):
        return list(nodes)
    return _kahn(graph, nodes, {index for index in nodes if types[index] in LOOP_BACK})


def owners(starts: array[int], first: int = 0) -> array[int]:
    """Return the node of each slot of successive nodes.

    :param starts: the first slot of each node, and the end of the last one
    :param first: the index of the first node
    """
    nodes = range(first, first + len(starts) - 1)
    return array("i", chain.from_iterable(map(repeat, nodes, map(sub, starts[1:], starts))))


def _controlled(graph: ModelGraph, nodes: range) -> Sequence[int]:
    return [node for node in graph.control if node in nodes]


def _kahn(graph: ModelGraph, nodes: range, loops: set[int]) -> list[int]:
    columns = graph.columns
    starts, sources = columns.inputs_of, columns.source_node
    waits = [0] * len(nodes)
    consumers: list[list[int]] = [[] for _ in nodes]
    for node in nodes:
        for source in (*sources[starts[node] : starts[node + 1]], *graph.control.get(node, ())):
            if source >= 0 and source not in loops:
                consumers[source - nodes.start].append(node)
                waits[node - nodes.start] += 1
    ready = [node for node in reversed(nodes) if not waits[node - nodes.start]]
    order: list[int] = []
    while ready:
        node = ready.pop()
        order.append(node)
        for consumer in reversed(consumers[node - nodes.start]):
            waits[consumer - nodes.start] -= 1
            if not waits[consumer - nodes.start]:
                ready.append(consumer)
    if len(order) < len(nodes):
        stuck = next(node for node in nodes if waits[node - nodes.start])
        name = columns.names[stuck]
        raise Damaged(f"the graph has a cycle through `{name}`", name="bad-graph", path=graph.model.path)
    return order


def consumers_of(graph: ModelGraph, producer: int) -> list[int]:
    """Return the nodes of the main graph that read an output of a node."""
    columns = graph.columns
    return [
        node
        for node in graph.subgraphs[0].nodes
        if producer in columns.source_node[columns.inputs_of[node] : columns.inputs_of[node + 1]]
    ]
