"""Builds a graph, node by node, in the file's order; names are resolved to edges at the end of each subgraph."""

from __future__ import annotations

from array import array
from sys import intern
from typing import TYPE_CHECKING

from ..errors import Damaged
from .graph import UNKNOWN, GraphColumns, GraphTensor, ModelFacts, ModelGraph, Subgraph, Weights

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence
    from typing import TypeAlias

    Reference: TypeAlias = tuple[int | str, int]


class GraphBuilder:
    """Collects nodes and their edges.

    An input names its producer by name or by the index that :meth:`add` returned; a name may be used before its node is
    added, and is looked up in the same subgraph. The main graph is open from the start; :meth:`subgraph` closes what is
    open and opens the next.

    :param path: the file, for messages
    """

    def __init__(self, *, path: str | None = None) -> None:
        self.path = path
        self._names: list[str] = []
        self._types: list[str] = []
        self._sources: list[Sequence[Reference | None]] = []
        self._inputs: list[Sequence[GraphTensor | None]] = []
        self._outputs: list[Sequence[GraphTensor]] = []
        self._control: dict[int, Sequence[int | str]] = {}
        self._attributes: dict[int, dict[str, object]] = {}
        self._fused_from: dict[int, tuple[str, ...]] = {}
        self._weights: dict[int, Weights] = {}
        self._subgraphs: list[tuple[str, int | str | None, int]] = [("", None, 0)]
        self._shared: dict[object, GraphTensor] = {}

    def __len__(self) -> int:
        return len(self._names)

    def name_graph(self, name: str) -> None:
        """Name the main graph."""
        self._subgraphs[0] = (name, None, 0)

    def subgraph(self, name: str, parent: int | str | None) -> None:
        """Open a subgraph; nodes added from now on belong to it.

        :param parent: index or name of the node that owns it; a name is looked up among all nodes, the main graph
            first; None: the file does not say
        """
        self._subgraphs.append((name, parent, len(self._names)))

    def tensors(self) -> Iterable[GraphTensor]:
        """All distinct tensors."""
        return self._shared.values()

    def tensor(
        self,
        dtype: str | None = None,
        original_dtype: str | None = None,
        format: str | None = None,
        shape: tuple[int, ...] | None = None,
        continuous: bool = False,
    ) -> GraphTensor:
        """Return the shared tensor with these facts."""
        made = (dtype, original_dtype, format, shape, continuous)
        found = self._shared.get(made)
        if found is None:
            found = self._shared[made] = GraphTensor(*made)
        return found

    def add(
        self,
        name: str,
        op_type: str,
        sources: Sequence[Reference | None] = (),
        outputs: Sequence[GraphTensor] = (),
        *,
        inputs: Sequence[GraphTensor | None] = (),
        control: Sequence[int | str] = (),
        attributes: Mapping[str, object] | None = None,
        fused_from: Iterable[str] = (),
        weights: Weights | None = None,
    ) -> int:
        """Add a node, and return its index.

        :param sources: (producer, output) of each input, or None for an absent optional input
        :param inputs: facts of each input in the file; None or missing at the end: those of the producer's output
        """
        index = len(self._names)
        self._names.append(name)
        self._types.append(intern(op_type))
        self._sources.append(sources)
        self._inputs.append(inputs)
        self._outputs.append(outputs)
        if control:
            self._control[index] = control
        if attributes:
            self._attributes[index] = dict(attributes)
        if fused_from:
            self._fused_from[index] = tuple(fused_from)
        if weights is not None:
            self._weights[index] = weights
        return index

    def build(self, model: ModelFacts) -> ModelGraph:
        """The graph.

        :raises Damaged: if an edge names a node or an output that does not exist, or two nodes have the same name
        """
        ranges = self._ranges()
        source_node, source_output = array("i"), array("i")
        inputs_of = array("i", [0])
        control: dict[int, tuple[int, ...]] = {}
        for nodes in ranges:
            index_of = self._index_of(nodes)
            self._edges(nodes, index_of, source_node, source_output, inputs_of)
            control.update(self._controls(nodes, index_of))
        outputs_of, output_tensors = _flat(self._outputs)
        columns = GraphColumns(
            self._names,
            self._types,
            inputs_of,
            source_node,
            source_output,
            self._input_tensors(source_node, source_output, outputs_of, output_tensors),
            outputs_of,
            output_tensors,
        )
        return ModelGraph(
            columns, model, self._closed(ranges), control, self._attributes, self._fused_from, self._weights
        )

    def _ranges(self) -> list[range]:
        starts = [start for _, _, start in self._subgraphs]
        return [range(start, end) for start, end in zip(starts, [*starts[1:], len(self._names)], strict=True)]

    def _index_of(self, nodes: range) -> dict[str, int]:
        names = self._names[nodes.start : nodes.stop]
        index_of = dict(zip(names, nodes, strict=True))
        if len(index_of) != len(nodes):
            twice = next(name for number, name in enumerate(names, nodes.start) if index_of[name] != number)
            raise self._damaged(f"two nodes are named `{twice}`")
        return index_of

    def _edges(
        self,
        nodes: range,
        index_of: dict[str, int],
        source_node: array[int],
        source_output: array[int],
        inputs_of: array[int],
    ) -> None:
        outputs, first, last = self._outputs, nodes.start, nodes.stop
        for node in nodes:
            for number, reference in enumerate(self._sources[node]):
                if reference is None:
                    source_node.append(-1)
                    source_output.append(0)
                    continue
                producer, output = reference
                found = index_of.get(producer, -1) if isinstance(producer, str) else producer
                if not first <= found < last or not 0 <= output < len(outputs[found]):
                    raise self._not_an_edge(nodes, found, node, number, reference)
                source_node.append(found)
                source_output.append(output)
            inputs_of.append(len(source_node))

    def _not_an_edge(self, nodes: range, found: int, node: int, number: int, reference: Reference) -> Damaged:
        said = f"input {number} of `{self._names[node]}`"
        if found not in nodes:
            return self._damaged(f"{said} comes from `{reference[0]}`, which is not a node of its graph")
        producer, outputs = self._names[found], len(self._outputs[found])
        return self._damaged(f"{said} is output {reference[1]} of `{producer}`, which has {outputs} outputs")

    def _controls(self, nodes: range, index_of: dict[str, int]) -> dict[int, tuple[int, ...]]:
        control = {}
        for node in nodes if self._control else ():
            producers = self._control.get(node, ())
            if not producers:
                continue
            found = [index_of.get(producer, -1) if isinstance(producer, str) else producer for producer in producers]
            for producer, index in zip(producers, found, strict=True):
                if index not in nodes:
                    raise self._damaged(
                        f"`{self._names[node]}` has a control edge from `{producer}`, which is not a node of its graph"
                    )
            control[node] = tuple(found)
        return control

    def _input_tensors(
        self,
        source_node: array[int],
        source_output: array[int],
        outputs_of: array[int],
        output_tensors: list[GraphTensor],
    ) -> list[GraphTensor]:
        fed = [
            UNKNOWN if node < 0 else output_tensors[outputs_of[node] + output]
            for node, output in zip(source_node, source_output, strict=True)
        ]
        first = 0
        for sources, said in zip(self._sources, self._inputs, strict=True):
            if said:
                for number, tensor in enumerate(said[: len(sources)]):
                    if tensor is not None:
                        fed[first + number] = tensor
            first += len(sources)
        return fed

    def _closed(self, ranges: list[range]) -> list[Subgraph]:
        index_of: dict[str, int] = {}
        if len(ranges) > 1:
            index_of = {self._names[node]: node for node in range(len(self._names) - 1, -1, -1)}
        closed = []
        for (name, parent, _), nodes in zip(self._subgraphs, ranges, strict=True):
            found = index_of.get(parent, -1) if isinstance(parent, str) else parent
            if found is not None and (not 0 <= found < len(self._names) or found in nodes):
                raise self._damaged(f"subgraph `{name}` belongs to `{parent}`, which is not a node outside it")
            closed.append(Subgraph(name, found, nodes))
        return closed

    def _damaged(self, message: str) -> Damaged:
        return Damaged(message, name="bad-graph", path=self.path)


def _flat(lists: list[Sequence[GraphTensor]]) -> tuple[array[int], list[GraphTensor]]:
    starts = array("i", [0])
    flat: list[GraphTensor] = []
    for tensors in lists:
        flat.extend(tensors)
        starts.append(len(flat))
    return starts, flat
