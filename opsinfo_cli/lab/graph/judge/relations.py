"""Tensors of a control operator and of its bodies that must have one dtype.

Source: hicann/ge ffdcbc9f, graph_metadef/graph/refiner/ref_relation.cc:85-190, 360-470 and compiler/engines/nn_engine/
optimizer/graph_optimizer/op_judge/format_and_dtype/update_desc/subgraph/.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from ..graph import GraphTensor, ModelGraph


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
        for each in self.of.get(cell, ()):
            tensor = self._tensor(each)
            if tensor is None:
                return True
            if tensor.shape is not None:
                shapes.add(tensor.shape)
        return len(shapes) > 1

    def _tensor(self, cell: TensorCell) -> GraphTensor | None:
        node = self.graph[cell.node]
        if cell.is_input and node.type == "Data" and not node.inputs:
            return node.outputs[0] if node.outputs else None
        tensors = node.inputs if cell.is_input else node.outputs
        return tensors[cell.number] if cell.number < len(tensors) else None

    def _groups(self, parent: int, bodies: list[range]) -> list[list[TensorCell]]:
        is_loop = self.graph.nodes[parent].type in _LOOPS
        fed: dict[int, list[TensorCell]] = {}
        given: dict[int, list[TensorCell]] = {}
        for number, body in enumerate(bodies):
            for node in body:
                self._collect(node, fed, {} if is_loop and number == 0 else given)
        if is_loop:
            return self._loop_groups(parent, fed, given)
        groups = [[TensorCell(True, parent, index), *cells] for index, cells in sorted(fed.items())]
        return groups + [[TensorCell(False, parent, index), *cells] for index, cells in sorted(given.items())]

    def _collect(self, node: int, fed: dict[int, list[TensorCell]], given: dict[int, list[TensorCell]]) -> None:
        attributes, op_type = self.graph.nodes[node].attributes, self.graph.nodes[node].type
        parent_input, parent_outputs = attributes.get("parent_input"), attributes.get("parent_outputs")
        if op_type == "Data" and isinstance(parent_input, int) and parent_input >= 0:
            fed.setdefault(parent_input, []).extend((TensorCell(True, node, 0), TensorCell(False, node, 0)))
        if op_type == "NetOutput" and isinstance(parent_outputs, (tuple, list)):
            for number, output in enumerate(parent_outputs):
                if isinstance(output, int) and output >= 0:
                    given.setdefault(output, []).append(TensorCell(True, node, number))

    def _loop_groups(
        self, parent: int, fed: dict[int, list[TensorCell]], given: dict[int, list[TensorCell]]
    ) -> list[list[TensorCell]]:
        """Input and output of a number are one; a body that hands an input on as another output joins both."""
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
