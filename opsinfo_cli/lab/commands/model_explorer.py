"""Node data for Model Explorer: the dtypes of a model, or its error, as colours in that viewer.

Source: google-ai-edge/model-explorer, ``node_data_builder.py`` and ``node_data_provider_extension_service.ts``; the
names of nodes are those of ``model_explorer_onnx`` 0.4.2.
"""

from __future__ import annotations

import json
import math
from collections import Counter
from typing import TYPE_CHECKING, NamedTuple

from ...core.cann.dtype_names import leading_dtype
from ...core.cann.onnx_opsets import is_standard
from ...errors import UsageFault, counted, join_some
from ..graph.graph import NOT_COMPUTED
from ..graph.readers.onnx import bodies

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence
    from typing import Any

    from ..graph.document import NodeAnswer
    from ..graph.graph import ModelGraph, Subgraph
    from ..graph.result import GraphAnswer
    from ..simulate.report import SimulationReport

_COLOURS = {
    ("low", "white"): "#cfe3ff",
    ("low", "gray"): "#9cc3fb",
    ("low", "black"): "#5b93e0",
    ("high", "white"): "#ffe3c2",
    ("high", "gray"): "#ffc079",
    ("high", "black"): "#f08c2e",
}
"""By what a node runs in and its list: blue is low, orange is high, darker is a list that reduces less."""
_NO_LIST = {"low": "#9cc3fb", "high": "#ffc079"}
_NO_FLOATING, _NOT_JUDGED, _REMOVED = "#f1f3f4", "#c4c7c5", "#ffffff"
_CAST = "#7b1fa2"
"""The colour of the label of a node with a Cast at an input."""
_GRADIENT = (
    (0.0, "#ffffff"),
    (1e-4, "#fff3c4"),
    (1e-3, "#ffd873"),
    (1e-2, "#fba13a"),
    (1e-1, "#e4572e"),
    (1.0, "#a50f15"),
)
"""Colours by the share of the largest error; Model Explorer's gradients are linear, and errors span decades."""
_NOT_FINITE = "#4a0072"
_SHOWN = 3


def require_onnx(graph: ModelGraph) -> None:
    """:raises UsageFault: if Model Explorer has no adapter that names nodes as the model does"""
    if graph.model.onnx is None:
        hint = "--format html shows every format"
        message = "--format model-explorer requires an ONNX model"
        raise UsageFault(message, name="not-onnx", path=graph.model.path, hint=hint)


def graph_node_data(answer: GraphAnswer, rows: Iterable[NodeAnswer]) -> str:
    """Return what each node runs in, its list, and whether a Cast runs at an input."""
    graph = answer.graph
    with_cast = {cast.consumer for cast in answer.casts if not cast.constant}
    shown = {row.index for row in rows}
    results: dict[str, dict[str, Any]] = {"": {}}
    for node in _nodes_of(graph):
        if node.graph is None:
            continue
        drawn, index = results.setdefault(node.graph, {}), node.place
        if index is None and len(shown) == len(answer):  # else a pattern or state chose, and it has none
            drawn[node.shown] = {"value": "removed by fusion", "bgColor": _REMOVED}
        elif index is not None and index in shown:
            drawn[node.shown] = _result(answer[index], index in with_cast)
    title = f"opsinfo graph, {answer.mode_name or 'as compiled'}"
    words = {"showExpandedSummaryOnGroupNode": True, "hideInAggregatedStatsTable": True}
    return _text(graph, title, results, **words)


def not_drawn(graph: ModelGraph) -> str:
    """Return which nodes Model Explorer does not draw; empty if it draws all."""
    names = [node.name for node in _nodes_of(graph) if node.graph is None]
    if not names:
        return ""
    nodes = f"{counted(len(names), 'node')} ({join_some([f'`{name}`' for name in names], _SHOWN)})"
    return f"without a colour: {nodes} of a Loop or Scan in the body of another, which Model Explorer does not draw"


def simulation_node_data(report: SimulationReport) -> str:
    """Return the error of each node of the main graph as a gradient; an infinite error is the text ``inf``."""
    assert report.trace is not None
    graph = report.simulation.prepared.graph
    errors = {node.node: node.error for node in report.trace.nodes}
    results = {
        node.shown: {"value": errors[name]} if math.isfinite(errors[name]) else {"value": "inf", "bgColor": _NOT_FINITE}
        for node in _nodes_of(graph)
        if node.place is not None and node.place in graph.subgraphs[0].nodes
        if (name := graph.names[node.place]) in errors
    }
    gradient = [{"stop": stop, "bgColor": colour} for stop, colour in _GRADIENT]
    return _text(graph, f"opsinfo simulate, {report.simulation.mode}: error", {"": results}, gradient=gradient)


def _result(row: NodeAnswer, has_cast: bool) -> dict[str, Any]:
    if row.type in NOT_COMPUTED:
        return {"value": "constant", "bgColor": _NO_FLOATING}
    if not row.judged:
        return {"value": "not judged", "bgColor": _NOT_JUDGED}
    words = [leading_dtype(row.inputs, row.outputs) or "no dtype", row.policy, "Cast" if has_cast else None]
    colour = _NO_FLOATING
    if row.runs is not None:
        colour = _COLOURS.get((row.runs, row.policy or ""), _NO_LIST[row.runs])
    found = {"value": ", ".join(word for word in words if word), "bgColor": colour}
    return found | ({"textColor": _CAST} if has_cast else {})


class _ViewerNode(NamedTuple):
    """A node of an ONNX file in Model Explorer.

    :param graph: the graph that it is drawn in, empty for the main one; None: it is not drawn
    :param shown: its name there
    :param name: its name in the model, or the one that the reader gives it
    :param place: the index of the node of our graph; None: it is in no graph, as after a fusion
    """

    graph: str | None
    shown: str
    name: str
    place: int | None


def _nodes_of(graph: ModelGraph) -> Iterator[_ViewerNode]:
    """Yield the nodes of an ONNX model, bodies included, without constants.

    Model Explorer's adapter draws the bodies of If in the graph around them, and those of other nodes of the main graph
    as graphs of their own. It names a node without a name ``node``, and numbers names that repeat in one graph. Nodes
    without a name are numbered here breadth first, as the reader of ONNX does it.
    """
    assert graph.model.onnx is not None
    unnamed, waiting = 0, [("", graph.model.onnx.graph)]
    names: dict[str, list[str]] = {}
    while waiting:
        place, proto = waiting.pop(0)
        own = names[place] = []
        for at, node in enumerate(proto.node):
            own.append(node.name or f"{node.op_type}_{unnamed}")
            unnamed += not node.name
            waiting += [(f"{place}/{at}/{word}", body) for word, body in bodies(node)]
    return _Drawing(graph, names).nodes(graph.model.onnx.graph, graph.subgraphs[0], "", "", "")


class _Drawing:
    """:param names: of the nodes of each graph of the file, by its place: empty, or ``/3/body`` for that of node 3"""

    def __init__(self, graph: ModelGraph, names: Mapping[str, Sequence[str]]) -> None:
        self._graph = graph
        self._names = names
        self._numbers: Counter[str] = Counter()
        """How often a name was numbered in the whole model."""
        self._bodies = {(body.parent, body.name.rpartition("/")[2]): body for body in reversed(graph.subgraphs[1:])}

    def nodes(
        self, proto: Any, subgraph: Subgraph | None, place: str, graph: str | None, prefix: str
    ) -> Iterator[_ViewerNode]:
        """:param prefix: of the names of a body of If that is drawn in the graph around it"""
        used: set[str] = set()
        indexes = self._indexes(proto, subgraph, self._names[place])
        for at, (node, name, index) in enumerate(zip(proto.node, self._names[place], indexes, strict=True)):
            base = shown = node.name or "node"
            while shown in used:
                self._numbers[base] += 1
                shown = f"{base}_{self._numbers[base]}"
            used.add(shown)
            if node.op_type != "Constant":
                yield _ViewerNode(graph, prefix + shown, name, index)
            for word, body in bodies(node):
                inner = None if index is None else self._bodies.get((index, word))
                drawn, below = f"{prefix}{shown}/{word}", f"{place}/{at}/{word}"
                if node.op_type == "If" and is_standard(node.domain):
                    yield from self.nodes(body, inner, below, graph, f"{drawn}/")
                else:
                    yield from self.nodes(body, inner, below, drawn if graph == "" else None, "")

    def _indexes(self, proto: Any, subgraph: Subgraph | None, names: Sequence[str]) -> list[int | None]:
        """Return the node of our graph for each of a graph of the file: of its name, or of its number if others have
        that name, too.
        """
        found = [] if subgraph is None else [self._graph[index] for index in subgraph.nodes]
        by_name = {node.name: node.index for node in found}
        by_number = {node.origin.number: node.index for node in found if node.origin is not None and node.origin.main}
        first, times = len(proto.initializer) + len(proto.sparse_initializer), Counter(names)
        return [
            by_name.get(name) if times[name] == 1 else by_number.get(number) for number, name in enumerate(names, first)
        ]


def _text(graph: ModelGraph, title: str, results: Mapping[str, Mapping[str, Any]], **more: bool | Sequence[Any]) -> str:
    """Return the node data of graphs; without an id of the main graph Model Explorer takes the one that is shown.

    :param results: by graph, the main one without a name
    """
    main = graph.model.onnx.graph.name if graph.model.onnx is not None else ""
    data = {place or main: {"name": title, "results": own, **more} for place, own in results.items()}
    return json.dumps(data if main or len(data) > 1 else data[main], indent=1) + "\n"
