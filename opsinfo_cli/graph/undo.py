"""Restore a graph to its state before the judge: original dtypes, without inserted conversions.

A compiled model and a late dump carry ``origin_data_type`` on the tensors that the judge changed, and nodes named
``trans_Cast_<n>`` and ``trans_TransData_<n>`` that it inserted (hicann/ge ffdcbc9f, compiler/engines/nn_engine/
optimizer/graph_optimizer/shape_format_transfer/trans_node_implementation/trans_node_base_generator.cc:39).
"""

from __future__ import annotations

import re
from array import array
from bisect import bisect_left
from itertools import chain
from typing import TYPE_CHECKING

from ..errors import Damaged
from .graph import GraphColumns, ModelGraph, Subgraph

if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import TypeVar

    from .graph import GraphTensor

    Value = TypeVar("Value")


_INSERTED = re.compile(r"trans_(Cast|TransData)_\d+")


def inserted_nodes(graph: ModelGraph) -> list[int]:
    """Return indexes of the conversions that the engine inserted and named."""
    columns = graph.columns
    return [
        node
        for node, op_type in enumerate(columns.types)
        if op_type in ("Cast", "TransData")
        and (match := _INSERTED.fullmatch(columns.names[node]))
        and match[1] == op_type
        and columns.inputs_of[node] < columns.inputs_of[node + 1]
    ]


def before_judge(graph: ModelGraph) -> ModelGraph:
    """Return the graph before the judge; the same object if the engine changed nothing.

    :raises Damaged: if inserted conversions feed each other in a cycle
    """
    if graph.model.predicted:  # a model of another framework: nothing was compiled
        return graph
    gone = set(inserted_nodes(graph))
    changed = any(
        tensor.original_dtype not in (None, tensor.dtype)
        for tensor in chain(graph.columns.input_tensors, graph.columns.output_tensors)
    )
    return _Undoing(graph, gone).run() if gone or changed else graph


class _Undoing:
    def __init__(self, graph: ModelGraph, gone: set[int]) -> None:
        self.graph = graph
        self.gone = gone
        self.kept = [node for node in range(len(graph)) if node not in gone]
        self.place = {node: place for place, node in enumerate(self.kept)}
        self.tensors: dict[int, GraphTensor] = {}
        self.sources: dict[int, tuple[int, int]] = {}

    def run(self) -> ModelGraph:
        graph = self.graph
        subgraphs = [self._subgraph(subgraph) for subgraph in graph.subgraphs]
        return ModelGraph(
            self._columns(),
            graph.model._replace(judged=False, has_casts=False),
            subgraphs,
            self._control(),
            self._moved(graph.attributes),
            self._moved(graph.fused_from),
            self._moved(graph.weights),
        )

    def _columns(self) -> GraphColumns:
        columns = self.graph.columns
        inputs_of, outputs_of = array("i", [0]), array("i", [0])
        source_node, source_output = array("i"), array("i")
        inputs: list[GraphTensor] = []
        outputs: list[GraphTensor] = []
        for node in self.kept:
            for slot in range(columns.inputs_of[node], columns.inputs_of[node + 1]):
                producer, output = self._source(slot)
                source_node.append(self.place[producer] if producer >= 0 else -1)
                source_output.append(output)
                inputs.append(self._original(columns.input_tensors[slot]))
            first, last = columns.outputs_of[node], columns.outputs_of[node + 1]
            outputs += map(self._original, columns.output_tensors[first:last])
            inputs_of.append(len(inputs))
            outputs_of.append(len(outputs))
        return GraphColumns(
            [columns.names[node] for node in self.kept],
            [columns.types[node] for node in self.kept],
            inputs_of,
            source_node,
            source_output,
            inputs,
            outputs_of,
            outputs,
        )

    def _source(self, slot: int) -> tuple[int, int]:
        """Return the output that fed a slot before conversions were inserted."""
        columns = self.graph.columns
        passed: list[int] = []
        producer, output = columns.source_node[slot], columns.source_output[slot]
        while producer in self.gone:
            if producer in self.sources:
                producer, output = self.sources[producer]
                break
            if producer in passed[:1] or len(passed) > len(self.gone):
                said = f"inserted conversions form a cycle through `{columns.names[producer]}`"
                raise Damaged(said, name="bad-graph", path=self.graph.model.path)
            passed.append(producer)
            first = columns.inputs_of[producer]
            producer, output = columns.source_node[first], columns.source_output[first]
        self.sources.update(dict.fromkeys(passed, (producer, output)))
        return producer, output

    def _original(self, tensor: GraphTensor) -> GraphTensor:
        found = self.tensors.get(id(tensor))
        if found is None:
            found = self.tensors[id(tensor)] = tensor._replace(dtype=tensor.first_dtype, original_dtype=None)
        return found

    def _subgraph(self, subgraph: Subgraph) -> Subgraph:
        first, last = (bisect_left(self.kept, end) for end in (subgraph.nodes.start, subgraph.nodes.stop))
        parent = None if subgraph.parent is None else self.place.get(subgraph.parent)
        return Subgraph(subgraph.name, parent, range(first, last))

    def _control(self) -> dict[int, tuple[int, ...]]:
        """Move control edges from a conversion to the node that feeds it."""
        columns = self.graph.columns
        control: dict[int, tuple[int, ...]] = {}
        for node, producers in self.graph.control.items():
            if node in self.gone:
                continue
            found = [
                self._source(columns.inputs_of[producer])[0] if producer in self.gone else producer
                for producer in producers
            ]
            control[self.place[node]] = tuple(dict.fromkeys(self.place[each] for each in found if each >= 0))
        return control

    def _moved(self, by_node: Mapping[int, Value]) -> dict[int, Value]:
        return {self.place[node]: value for node, value in by_node.items() if node not in self.gone}
