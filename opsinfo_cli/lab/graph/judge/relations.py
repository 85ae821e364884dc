"""Tensors of a control operator and of its bodies that get one dtype.

An input of the operator is one with the Data that it feeds in the bodies, an output with the inputs of the NetOutputs
that feed it; of a loop, an input is one with the output of its number, too. If the body of a loop hands an input on as
an output of another number, the groups of both numbers become one. That is done once, in the order of outputs, and a
tensor has the first group that it is in: of ``a, b, c = b, c, f(c)`` a and b have each other, and c has all three.
Source: hicann/ge ffdcbc9f, graph_metadef/graph/refiner/ref_relation.cc:85-190, 360-470, and compiler/engines/nn_engine/
optimizer/graph_optimizer/op_judge/format_and_dtype/update_desc/subgraph/.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from ..graph import GraphNode, ModelGraph

_LOOPS = frozenset({"While", "StatelessWhile"})


class TensorCell(NamedTuple):
    """One input or output of a node."""

    is_input: bool
    node: int
    number: int


def related_cells(graph: ModelGraph) -> dict[TensorCell, list[TensorCell]]:
    """Return the group of each cell, itself included; none of its cells if the engine ignores the group."""
    bodies: dict[int, list[range]] = {}
    for subgraph in graph.subgraphs[1:]:
        if subgraph.parent is not None:
            bodies.setdefault(subgraph.parent, []).append(subgraph.nodes)
    related: dict[TensorCell, list[TensorCell]] = {}
    for parent, owned in bodies.items():
        for group in _groups(graph, parent, owned):
            kept = [] if _may_differ(graph, group) else group
            for cell in group:
                related.setdefault(cell, kept)
    return related


def _groups(graph: ModelGraph, parent: int, bodies: list[range]) -> list[list[TensorCell]]:
    is_loop = graph.nodes[parent].type in _LOOPS
    groups: dict[TensorCell, list[TensorCell]] = {}  # by the cell of the operator, which is the first of its group
    handed_on: list[tuple[int, int]] = []
    for body_number, body in enumerate(bodies):
        for node in graph.nodes[body.start : body.stop]:
            if (number := _parent_input(node)) is not None:
                own = TensorCell(True, parent, number)
                groups.setdefault(own, [own]).extend(TensorCell(side, node.index, 0) for side in (True, False))
            numbers = node.attributes.get("parent_outputs")
            is_condition = is_loop and body_number == 0  # its output is none of the loop's
            if node.type != "NetOutput" or is_condition or not isinstance(numbers, (tuple, list)):
                continue
            for at, number in enumerate(numbers):
                if not isinstance(number, int) or number < 0:
                    continue
                own = TensorCell(False, parent, number)
                groups.setdefault(own, [own]).append(TensorCell(True, node.index, at))
                source = node.sources[at] if at < len(node.sources) else None
                given = None if source is None else _parent_input(graph.nodes[source.node])
                if given is not None:
                    handed_on.append((given, number))
    if not is_loop:
        return list(groups.values())
    ends = [[TensorCell(side, parent, at) for side in (True, False)] for at in range(len(graph.nodes[parent].sources))]
    joined = [[cell for own in pair for cell in groups.get(own, [own])] for pair in ends]
    for pair in handed_on:
        if max(pair) < len(joined):
            given, number = pair
            joined[given] = joined[number] = list(dict.fromkeys(joined[given] + joined[number]))
    return joined


def _parent_input(node: GraphNode) -> int | None:
    """Return the number of the parent's input that feeds the Data of a body; None if there is none."""
    number = node.attributes.get("parent_input")
    return number if node.type == "Data" and isinstance(number, int) and number >= 0 else None


def _may_differ(graph: ModelGraph, group: list[TensorCell]) -> bool:
    """Return whether the engine ignores a group: shapes are known and differ, or a tensor is missing."""
    shapes = set()
    for cell in group:
        node = graph.nodes[cell.node]
        tensors = node.inputs if cell.is_input and (node.inputs or node.type != "Data") else node.outputs
        if cell.number >= len(tensors):
            return True
        shapes.add(tensors[cell.number].shape)
    return len(shapes - {None}) > 1
