"""Tensors of a control operator and of its bodies that must have one dtype.

Source: hicann/ge ffdcbc9f, graph_metadef/graph/refiner/ref_relation.cc:85-190, 360-470 and compiler/engines/nn_engine/
optimizer/graph_optimizer/op_judge/format_and_dtype/update_desc/subgraph/.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from ..graph import ModelGraph


_LOOPS = frozenset({"While", "StatelessWhile"})


class TensorCell(NamedTuple):
    """One input or output of a node."""

    is_input: bool
    node: int
    number: int


class Relations:
    """Groups of related cells.

    :ivar of: the cells of the group that a cell was first put into, itself included
    """

    def __init__(self, graph: ModelGraph) -> None:
        self.graph = graph
        self.of: dict[TensorCell, list[TensorCell]] = {}
        bodies: dict[int, list[range]] = {}
        for subgraph in graph.subgraphs[1:]:
            if subgraph.parent is not None:
                bodies.setdefault(subgraph.parent, []).append(subgraph.nodes)
        for parent, owned in bodies.items():
            for group in self._groups(parent, owned):
                for cell in group:
                    self.of.setdefault(cell, group)

    def may_differ(self, cell: TensorCell) -> bool:
        """Return whether the engine ignores a group: shapes are known and differ, or a tensor is missing."""
        shapes = set()
        for other in self.of.get(cell, ()):
            node = self.graph[other.node]
            tensors = node.inputs if other.is_input else node.outputs
            if other.is_input and node.type == "Data" and not node.inputs:
                tensors = node.outputs
            if other.number >= len(tensors):
                return True
            shape = tensors[other.number].shape
            if shape is not None:
                shapes.add(shape)
        return len(shapes) > 1

    def _groups(self, parent: int, bodies: list[range]) -> list[list[TensorCell]]:
        is_loop = self.graph.nodes[parent].type in _LOOPS
        fed: dict[int, list[TensorCell]] = {}
        given: dict[int, list[TensorCell]] = {}
        for number, body in enumerate(bodies):
            is_condition = is_loop and number == 0  # its output is none of the loop's
            for index in body:
                node = self.graph.nodes[index]
                number_of, numbers = node.attributes.get("parent_input"), node.attributes.get("parent_outputs")
                if node.type == "Data" and isinstance(number_of, int) and number_of >= 0:
                    fed.setdefault(number_of, []).extend((TensorCell(True, index, 0), TensorCell(False, index, 0)))
                if node.type != "NetOutput" or is_condition or not isinstance(numbers, (tuple, list)):
                    continue
                for at, output in enumerate(numbers):
                    if isinstance(output, int) and output >= 0:
                        given.setdefault(output, []).append(TensorCell(True, index, at))
        if is_loop:
            return self._loop_groups(parent, fed, given)
        groups = [[TensorCell(True, parent, index), *cells] for index, cells in sorted(fed.items())]
        return groups + [[TensorCell(False, parent, index), *cells] for index, cells in sorted(given.items())]

    def _loop_groups(
        self, parent: int, fed: dict[int, list[TensorCell]], given: dict[int, list[TensorCell]]
    ) -> list[list[TensorCell]]:
        """Input and output of a number are one; a body that hands an input on as another output joins both.

        They are joined once, in the order of outputs: a value that moves on by several numbers joins those before it
        only. Whether the engine goes on until nothing changes is not known.
        """
        nodes = self.graph.nodes
        count = len(nodes[parent].sources)
        groups = [
            [
                TensorCell(True, parent, index),
                TensorCell(False, parent, index),
                *fed.get(index, ()),
                *given.get(index, ()),
            ]
            for index in range(count)
        ]
        for output, cells in given.items():
            for cell in cells:
                sources = nodes[cell.node].sources
                source = sources[cell.number] if cell.number < len(sources) else None
                if source is None:
                    continue
                data = nodes[source.node]
                at = data.attributes.get("parent_input")
                if data.type == "Data" and isinstance(at, int) and 0 <= at < count and output < count:
                    groups[at] += groups[output]
                    groups[output] += groups[at]
        return [list(dict.fromkeys(group)) for group in groups]
