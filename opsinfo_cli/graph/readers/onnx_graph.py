"""ONNX models: CANN's graph before fusion.

Dtypes of inner tensors are inferred by the ``onnx`` package; external data is not loaded; functions of the model are
inlined. Nodes without a name get one as ATC gives it: the operator and a number, counted over the nameless ones, bodies
of ``If`` behind the graph around them (hicann/ge parser/parser/onnx/onnx_parser.cc:890-905).
"""

from __future__ import annotations

from array import array
from typing import TYPE_CHECKING

from ..graph import ModelFacts
from .assemble import assemble
from .folding import fold
from .notes import Notes
from .onnx_expand import expand
from .onnx_repeats import infer_repeats
from .onnx_structure import PLAN, OnnxModel, parse_onnx
from .onnx_types import infer, inlined, package
from .op_names import HIGHEST_OPSET, onnx_mapping
from .slim import Slim, slim
from .source import CONST, SourceGraph, SourceNode

if TYPE_CHECKING:
    from typing import IO

    from ..graph import ModelGraph

_BY_POSITION = {"Loop": 1, "Scan": 0}
"""Operators whose bodies take the inputs in order; so many outputs of the body come first and go nowhere."""


def read_onnx(file: IO[bytes], path: str) -> ModelGraph:
    """The graph of an ONNX model.

    :raises MissingPackage: if the ``onnx`` package is not installed
    :raises WireFault: if the file is broken
    :raises Damaged: if an edge refers to a missing node
    """
    return assemble(*read_onnx_source(file, path), path)


def read_onnx_source(file: IO[bytes], path: str) -> tuple[SourceGraph, ModelFacts]:
    """The translated graph with the names of its values, which :func:`read_onnx` drops, and the model's facts.

    :raises MissingPackage: if the ``onnx`` package is not installed
    :raises WireFault: if the file is broken
    """
    package()
    size = file.seek(0, 2)
    structure = slim(file, 0, size, PLAN)
    with structure.placed():
        model = parse_onnx(structure, path)
    if model.functions:
        data = inlined(slim(file, 0, size, PLAN, mark_all=True).data)
        structure = Slim(data, array("q", [0]), array("q", [0]))
        model = parse_onnx(structure, path)._replace(functions=model.functions)
    notes = _notes(model)
    if not infer_repeats(model) and (failed := infer(model.graph, structure.data)):
        notes.add("inference", f"the onnx package cannot infer dtypes: {failed}")
    _name(model.graph)
    for graph in model.graph.walk():
        for node in graph.nodes:
            if node.bodies:
                _join(graph, node)
    fold(model.graph)
    for graph in model.graph.walk():
        graph.nodes = _translated(graph, model.opsets, notes)
    facts = ModelFacts(
        format="onnx",
        path=path,
        judged=False,
        has_casts=False,
        attributes={"opsets": dict(model.opsets), "producer": model.producer},
        notes=notes.all(),
        predicted=True,
    )
    return model.graph, facts


def _notes(model: OnnxModel) -> Notes:
    """Return notes on the whole model."""
    notes = Notes()
    opset = model.opsets.get("", 0)
    if opset > HIGHEST_OPSET:
        said = f"CANN documents opsets up to {HIGHEST_OPSET}, the model has {opset}; operators are translated by name"
        notes.add("opset", said)
    if model.functions:
        notes.add("functions", f"{model.functions} functions of the model were inlined")
    for name in sorted(model.refused):
        notes.add("external-data", f"external data outside the model's folder is not read: `{name}`", name)
    return notes


def _unmapped(op: str, notes: Notes) -> None:
    domain, _, _ = op.rpartition("::")
    if domain:
        notes.add("foreign-domain", f"`{op}`: operators of the domain `{domain}` are unknown to CANN", op)
    else:
        notes.add("unmapped-operator", f"`{op}` has no documented translation in CANN", op)


def _name(graph: SourceGraph) -> None:
    """Name the nodes that have no name."""
    count = 0
    waiting = [graph]
    while waiting:
        current = waiting.pop(0)
        for node in current.nodes:
            if not node.name and node.op != CONST:
                node.name = f"{node.op.rpartition('::')[2]}_{count}"
                count += 1
            waiting += node.bodies


def _captured(body: SourceGraph) -> set[str]:
    """Return values that a body, or a body inside it, reads from the graph around it."""
    own = {value for node in body.nodes for value in node.outputs} | set(body.inputs)
    wanted = {value for node in body.nodes for value in node.inputs if value} | set(body.outputs)
    for node in body.nodes:
        for inner in node.bodies:
            wanted |= _captured(inner)
    return wanted - own


def _join(graph: SourceGraph, node: SourceNode) -> None:
    """Make values that a node's bodies capture its inputs, as ATC does for ``If``, and record their relation."""
    captured = sorted(set().union(*(_captured(body) for body in node.bodies)))
    first = len(node.inputs)
    node.inputs = [*node.inputs, *captured]
    skipped = _BY_POSITION.get(node.op)
    for body in node.bodies:
        formal = len(body.inputs)
        body.name = f"{node.name}/{body.attribute}"
        body.parent_inputs = [index if skipped is not None and index < first else -1 for index in range(formal)]
        body.parent_inputs += range(first, first + len(captured))
        body.inputs += captured
        for value in captured:
            body.tensors[value] = graph.tensor(value)
        body.parent_outputs = [max(index - (skipped or 0), -1) for index in range(len(body.outputs))]


def _translated(graph: SourceGraph, opsets: dict[str, int], notes: Notes) -> list[SourceNode]:
    """Return the nodes with op types of CANN."""
    made: list[SourceNode] = []
    plain: dict[str, str] = {}  # types of operators that become one node without a note; notes count nodes
    for node in graph.nodes:
        node.type = node.type or plain.get(node.op, "")
        if node.type:
            made.append(node)
            continue
        domain = node.op.rpartition("::")[0]
        opset = opsets.get(domain, 1)
        mapping = onnx_mapping(node.op, opset)
        if mapping is None:
            _unmapped(node.op, notes)
            node.type = node.op.rpartition("::")[2]
            made.append(node)
            continue
        if mapping.beyond and not opset > HIGHEST_OPSET:
            notes.add("opset", f"`{node.op}` of opset {opset} is translated as in a documented opset", node.op)
        elif not mapping.expands:
            plain[node.op] = mapping.types[0]
        if not mapping.expands:
            node.type = mapping.types[0]
            made.append(node)
            continue
        expansion = expand(graph, node, mapping)
        if not expansion.followed:
            types = ", ".join(mapping.types)
            notes.add("expansion", f"`{node.op}` becomes several nodes ({types}); only `{node.type}` is used", node.op)
        made += expansion.made
    return made
