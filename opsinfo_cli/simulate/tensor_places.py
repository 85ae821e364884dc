"""The tensors of an ONNX model in the judged graph.

One ONNX node can become several CANN nodes. The first one that reads a value decides how the value is rounded as an
input, and the one that yields an output how that output is rounded; values between them are inner values.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from ..errors import Refused
from ..graph.readers.assemble import first_nodes
from ..graph.readers.onnx_graph import read_onnx_source
from ..graph.undo import inserted_nodes

if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Any

    from ..graph.graph import ModelGraph
    from ..graph.readers.source import SourceGraph, SourceNode
    from .onnx_file import OnnxFile

_NOT_READING = frozenset({"Shape"})
"""Operators added by an expansion that do not read the values of their input."""
CONSTANTS = frozenset({"Const", "Constant"})


class Entering(NamedTuple):
    """A value that enters a node.

    :param node: the number of the ONNX node
    :param slot: the deciding input slot of the graph
    :param origin: the output slot of the body's Data that passes the value in; -1: it comes from a node
    """

    node: int
    input: int
    slot: int
    origin: int
    type: str
    name: str


class Leaving(NamedTuple):
    """A value that leaves a node, or a graph as one of its outputs.

    :param owner: the number of the ONNX node; for an output of a graph, the number of the graph
    :param slot: the deciding output slot of the graph; for an output of a graph, the input slot
    """

    owner: int
    output: int
    slot: int
    type: str
    name: str


class Expanded(NamedTuple):
    """An ONNX node that became several CANN nodes."""

    name: str
    types: tuple[str, ...]
    inner: int


class TensorPlaces:
    """The tensors of a model that a policy can make low.

    :ivar names: for each ONNX node, its name in reports and its op type in CANN
    :ivar read: the values that each ONNX node reads
    """

    def __init__(self) -> None:
        self.entries: list[Entering] = []
        self.exits: list[Leaving] = []
        self.outputs: list[Leaving] = []
        self.names: dict[int, tuple[str, str]] = {}
        self.read: dict[int, tuple[str, ...]] = {}
        self.expanded: list[Expanded] = []


def tensor_places(path: str, file: OnnxFile, graph: ModelGraph) -> TensorPlaces:
    """Find the tensors.

    :param file: the model, or its conversion to a newer opset
    :param graph: the graph that is judged
    :raises Refused: if the graph is not that of the file
    """
    with open(path, "rb") as stream:
        source, _ = read_onnx_source(stream, path)
    return _Finder(file, graph, source, path).find()


class _Finder:
    def __init__(self, file: OnnxFile, graph: ModelGraph, source: SourceGraph, path: str) -> None:
        self.file = file
        self.columns = graph.columns
        self.places = TensorPlaces()
        self.source = source
        self.first = {id(each): index for each, index in first_nodes(source)}
        self.index = _indexes(graph, source, path)
        self.made_by = {
            value: number
            for number, node in enumerate(file.nodes)
            for value in node.proto.output
            if value not in file.original
        }

    def find(self) -> TensorPlaces:
        self._scope(self.source, 0)
        return self.places

    def _scope(self, source: SourceGraph, scope: int) -> None:
        base = self.first[id(source)]
        first = base + len(source.inputs)
        groups = _groups(source)
        owner = {value: group for group in groups for node in group for value in source.nodes[node].outputs if value}
        origins = {value: base + number for number, value in enumerate(source.inputs)} if scope else {}
        for number in self.file.nodes_of(scope):
            proto = self.file.nodes[number].proto
            group = next((owner[value] for value in proto.output if value in owner), None)
            if group is not None:
                self._node(number, proto, source, group, first, origins)
        if source.outputs:
            self._outputs(scope, source, first + len(source.nodes))

    def _node(
        self, number: int, proto: Any, source: SourceGraph, group: list[int], first: int, origins: dict[str, int]
    ) -> None:
        nodes = [(first + at, source.nodes[at]) for at in group]
        main = next(node for _, node in nodes if "source" not in node.extra)
        if main.type in CONSTANTS or any(self.index[index] < 0 for index, _ in nodes):
            return
        self.places.names[number] = main.name, main.type
        readers = _readers(nodes)
        seen: dict[str, int] = {}
        read = list(self._read(number, proto))
        self.places.read[number] = tuple(value for _, _, value in read)
        for reader, at, value in read:
            found = readers.get(value)
            if not value or not found:
                continue
            index, slot = found[min(seen.get(value, 0), len(found) - 1)]
            seen[value] = seen.get(value, 0) + 1
            origin = self._output_slot(origins[value], 0) if value in origins else -1
            entry = Entering(reader, at, self._input_slot(index, slot), origin, *self._named(index))
            self.places.entries.append(entry)
        given = {value: (index, at) for index, node in nodes for at, value in enumerate(node.outputs) if value}
        for at, value in enumerate(proto.output):
            if value in given:
                index, slot = given[value]
                exit_ = Leaving(number, at, self._output_slot(index, slot), *self._named(index))
                self.places.exits.append(exit_)
        computing = [node for _, node in nodes if node.type not in CONSTANTS]
        if len(computing) > 1:
            inner = sum(value not in proto.output for node in computing for value in node.outputs if value)
            self.places.expanded.append(Expanded(main.name, tuple(node.type for node in computing), inner))
        self._bodies(number, main)

    def _read(self, number: int, proto: Any) -> Iterator[tuple[int, int, str]]:
        """Yield the values that a node reads: the number of the node, that of the input, the value.

        If a conversion to a newer opset split the node, the nodes added before it read in its place; the judged model
        does not know their values.
        """
        for at, value in enumerate(proto.input):
            before = self.made_by.get(value)
            if before is None:
                yield number, at, value
            else:
                yield from self._read(before, self.file.nodes[before].proto)

    def _bodies(self, number: int, main: SourceNode) -> None:
        left = list(main.bodies)
        for attribute, scope in self.file.bodies_of(number):
            body = next((each for each in left if each.attribute == attribute), None)
            if body is not None:
                left.remove(body)
                self._scope(body, scope)

    def _outputs(self, scope: int, source: SourceGraph, index: int) -> None:
        for at in range(len(source.outputs)):
            self.places.outputs.append(Leaving(scope, at, self._input_slot(index, at), *self._named(index)))

    def _input_slot(self, index: int, number: int) -> int:
        return self.columns.inputs_of[self.index[index]] + number

    def _output_slot(self, index: int, number: int) -> int:
        return self.columns.outputs_of[self.index[index]] + number

    def _named(self, index: int) -> tuple[str, str]:
        """Return the op type and the name of a node of the graph."""
        return self.columns.types[self.index[index]], self.columns.names[self.index[index]]


def _groups(source: SourceGraph) -> list[list[int]]:
    """Return the nodes of one graph by their ONNX node; each group in the order of the graph."""
    mains: dict[str, list[int]] = {}
    for at, node in enumerate(source.nodes):
        if "source" not in node.extra:
            mains.setdefault(node.name, []).append(at)
    groups: dict[int, list[int]] = {at: [at] for known in mains.values() for at in known}
    for at, node in enumerate(source.nodes):
        if "source" in node.extra:
            known = mains.get(str(node.extra["source"]), [])
            if known:
                groups[_nearest(known, at)].append(at)
    return [sorted(group) for group in groups.values()]


def _nearest(places: list[int], at: int) -> int:
    """Return the nearest of several nodes with one name."""
    return min(places, key=lambda place: abs(place - at))


def _readers(nodes: list[tuple[int, SourceNode]]) -> dict[str, list[tuple[int, int]]]:
    """Return the input slots that read each value, for its first reader."""
    found: dict[str, list[tuple[int, int]]] = {}
    for index, node in nodes:
        if node.type in _NOT_READING and len(nodes) > 1:
            continue
        own: dict[str, list[tuple[int, int]]] = {}
        for at, value in enumerate(node.inputs):
            if value:
                own.setdefault(value, []).append((index, at))
        for value, slots in own.items():
            found.setdefault(value, slots)
    return found


def _indexes(graph: ModelGraph, source: SourceGraph, path: str) -> dict[int, int]:
    """Return the index of each node in the judged graph; nodes are counted as the reader counts them.

    The indexes differ if the judge removed conversions that look like the engine's own.
    """
    names = list(_names(source))
    if len(names) == len(graph):
        return {index: index for index in range(len(names))}
    from ..graph.readers import read_graph

    read = read_graph(path)
    gone = set(inserted_nodes(read))
    kept = [index for index in range(len(read)) if index not in gone]
    if len(read) != len(names) or len(kept) != len(graph):
        raise Refused("the model has changed since it was judged", name="changed", path=path)
    places = {index: place for place, index in enumerate(kept)}
    return {index: places.get(index, -1) for index in range(len(names))}


def _names(source: SourceGraph) -> Iterator[str]:
    for each, _ in first_nodes(source):
        yield from each.inputs
        yield from (node.name for node in each.nodes)
        if each.outputs or each is not source:
            yield ""
