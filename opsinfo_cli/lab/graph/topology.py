"""The order in which nodes are judged: producers before consumers, a body right after the node that owns it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ...errors import Damaged

if TYPE_CHECKING:
    from .graph import GraphNode, ModelGraph


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


def sorted_nodes(graph: ModelGraph, places: range) -> list[int]:
    """Return one subgraph's nodes, producers first; in the file's order if that is a topological order."""
    nodes = graph.nodes
    late = {before for index in places for before in _before(nodes[index]) if before >= index}
    if all(nodes[before].type in LOOP_BACK for before in late):
        return list(places)
    waits = dict.fromkeys(places, 0)
    consumers: dict[int, list[int]] = {index: [] for index in places}
    for index in places:
        for source in _before(nodes[index]):
            if nodes[source].type not in LOOP_BACK:
                consumers[source].append(index)
                waits[index] += 1
    ready = [index for index in reversed(places) if not waits[index]]
    order: list[int] = []
    while ready:
        index = ready.pop()
        order.append(index)
        for consumer in reversed(consumers[index]):
            waits[consumer] -= 1
            if not waits[consumer]:
                ready.append(consumer)
    if len(order) < len(places):
        name = nodes[next(index for index in places if waits[index])].name
        raise Damaged(f"the graph has a cycle through `{name}`", name="bad-graph", path=graph.model.path)
    return order


def _before(node: GraphNode) -> list[int]:
    """Return the nodes that a node reads or waits for; one that it reads twice is there twice."""
    return [*[source.node for source in node.sources if source is not None], *node.control]
