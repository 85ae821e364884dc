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
from ..graph.readers.onnx import bodies
from ..graph.result import NOT_COMPUTED

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence
    from typing import Any

    from ..graph.graph import ModelGraph
    from ..graph.result import GraphAnswer, NodeAnswer
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
    places = {
        (subgraph.name if number else "", graph.names[index]): index
        for number, subgraph in enumerate(graph.subgraphs)
        for index in reversed(subgraph.nodes)
    }
    results: dict[str, dict[str, Any]] = {}
    for node in _nodes_of(graph):
        if node.graph is None:
            continue
        drawn = results.setdefault(node.graph, {})
        index = places.get((node.subgraph, node.name))
        if index is None:
            drawn[node.shown] = {"value": "removed by fusion", "bgColor": _REMOVED}
        elif index in shown:
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
        node.shown: {"value": errors[node.name]}
        if math.isfinite(errors[node.name])
        else {"value": "inf", "bgColor": _NOT_FINITE}
        for node in _nodes_of(graph)
        if not node.subgraph and node.name in errors
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
    :param subgraph: the subgraph of ours that it is in, empty for the main graph
    :param name: its name there
    """

    graph: str | None
    shown: str
    subgraph: str
    name: str


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
        subgraph, proto = waiting.pop(0)
        own = names[subgraph] = []
        for node in proto.node:
            own.append(node.name or f"{node.op_type}_{unnamed}")
            unnamed += not node.name
            waiting += [(_body_name(own[-1], word), body) for word, body in bodies(node)]
    return _drawn(graph.model.onnx.graph, "", "", "", names, Counter())


def _body_name(owner: str, attribute: str) -> str:
    return f"{owner}/{attribute}"


def _drawn(
    proto: Any, subgraph: str, graph: str | None, prefix: str, names: Mapping[str, Sequence[str]], numbers: Counter[str]
) -> Iterator[_ViewerNode]:
    """:param prefix: of the names of a body of If that is drawn in the graph around it
    :param numbers: how often a name was numbered in the whole model
    """
    used: set[str] = set()
    for node, name in zip(proto.node, names[subgraph], strict=True):
        base = shown = node.name or "node"
        while shown in used:
            numbers[base] += 1
            shown = f"{base}_{numbers[base]}"
        used.add(shown)
        if node.op_type != "Constant":
            yield _ViewerNode(graph, prefix + shown, subgraph, name)
        for word, body in bodies(node):
            inner, place = _body_name(name, word), f"{prefix}{shown}/{word}"
            if node.op_type == "If" and is_standard(node.domain):
                yield from _drawn(body, inner, graph, f"{place}/", names, numbers)
            else:
                yield from _drawn(body, inner, place if graph == "" else None, "", names, numbers)


def _text(graph: ModelGraph, title: str, results: Mapping[str, Mapping[str, Any]], **more: bool | Sequence[Any]) -> str:
    """Return the node data of graphs; without an id of the main graph Model Explorer takes the one that is shown.

    :param results: by graph, the main one without a name
    """
    main = graph.model.onnx.graph.name if graph.model.onnx is not None else ""
    data = {place or main: {"name": title, "results": own, **more} for place, own in results.items()}
    return json.dumps(data if main or len(data) > 1 else data[main], indent=1) + "\n"
