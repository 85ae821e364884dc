"""Node data for Model Explorer: the dtypes of a model, or its error, as colours in that viewer.

Source: google-ai-edge/model-explorer, ``node_data_builder.py`` and ``node_data_provider_extension_service.ts``; the
names of nodes are those of ``model_explorer_onnx`` 0.4.2.
"""

from __future__ import annotations

import json
import math
from collections import Counter
from typing import TYPE_CHECKING

from ...errors import UsageFault
from ..graph.dtypes import leading
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


def require_onnx(graph: ModelGraph) -> None:
    """:raises UsageFault: if Model Explorer has no adapter that names nodes as the model does"""
    if graph.model.onnx is None:
        hint = "--format html shows every format"
        message = "--format model-explorer requires an ONNX model"
        raise UsageFault(message, name="not-onnx", path=graph.model.path, hint=hint)


def graph_node_data(answer: GraphAnswer, rows: Iterable[NodeAnswer]) -> str:
    """Return what each node runs in, its list, and whether a Cast runs at an input.

    :param rows: the nodes that are coloured
    """
    with_cast = {each.consumer for each in answer.casts if not each.constant}
    shown = {row.index for row in rows}

    def results() -> Iterator[tuple[str, dict[str, Any]]]:
        for name, node in _nodes_of(answer.graph):
            found = answer.graph.find(node)
            if found is None:
                yield name, {"value": "removed by fusion", "bgColor": _REMOVED}
            elif found.index in shown:
                yield name, _result(answer[found.index], found.index in with_cast)

    title = f"opsinfo graph, {answer.mode_name or 'as compiled'}"
    words = {"showExpandedSummaryOnGroupNode": True, "hideInAggregatedStatsTable": True}
    return _text(answer.graph, title, dict(results()), **words)


def simulation_node_data(report: SimulationReport) -> str:
    """Return the error of each node of the main graph as a gradient; an infinite error is the text ``inf``."""
    assert report.trace is not None
    graph = report.simulation.ready.prepared.graph
    errors = {each.node: each.error for each in report.trace.nodes}
    results = {
        name: {"value": errors[node]} if math.isfinite(errors[node]) else {"value": "inf", "bgColor": _NOT_FINITE}
        for name, node in _nodes_of(graph)
        if node in errors
    }
    gradient = [{"stop": stop, "bgColor": colour} for stop, colour in _GRADIENT]
    return _text(graph, f"opsinfo simulate, {report.simulation.mode}: error", results, gradient=gradient)


def _result(row: NodeAnswer, has_cast: bool) -> dict[str, Any]:
    if row.type in NOT_COMPUTED:
        return {"value": "constant", "bgColor": _NO_FLOATING}
    if not row.judged:
        return {"value": "not judged", "bgColor": _NOT_JUDGED}
    words = [leading(row.inputs, row.outputs) or "no dtype", row.policy, "Cast" if has_cast else None]
    colour = _NO_FLOATING
    if row.runs is not None:
        colour = _COLOURS.get((row.runs, row.policy or ""), _NO_LIST[row.runs])
    found = {"value": ", ".join(word for word in words if word), "bgColor": colour}
    return found | ({"textColor": _CAST} if has_cast else {})


def _nodes_of(graph: ModelGraph) -> Iterator[tuple[str, str]]:
    """Yield the nodes of an ONNX model's main graph and of the bodies of If: the name in Model Explorer, and ours.

    Model Explorer's adapter draws the bodies of If in the main graph. It names a node without a name ``node``, and
    numbers names that repeat in one graph.
    """
    assert graph.model.onnx is not None
    return _named(graph.model.onnx.graph, "", Counter())


def _named(graph: Any, prefix: str, numbers: Counter[str]) -> Iterator[tuple[str, str]]:
    used: set[str] = set()
    unnamed = 0
    for node in graph.node:
        base = shown = node.name or "node"
        while shown in used:
            numbers[base] += 1
            shown = f"{base}_{numbers[base]}"
        used.add(shown)
        if node.op_type == "Constant":
            continue
        name = node.name
        if not name:
            name = f"{node.op_type}_{unnamed}"
            unnamed += 1
        if node.name or not prefix:  # ours are numbered in another order in a body
            yield prefix + shown, name
        if node.op_type == "If":
            for attribute in node.attribute:
                yield from _named(attribute.g, f"{prefix}{shown}/{attribute.name}/", numbers)


def _text(graph: ModelGraph, title: str, results: Mapping[str, Mapping[str, Any]], **more: bool | Sequence[Any]) -> str:
    """Return the node data of a graph; without an id of the graph Model Explorer takes the one that is shown."""
    data = {"name": title, "results": results, **more}
    main = graph.model.onnx.graph.name if graph.model.onnx is not None else ""
    return json.dumps({main: data} if main else data, indent=1) + "\n"
