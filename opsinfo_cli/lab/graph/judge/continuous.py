"""The pass after the judge: an output that must be continuous takes the dtype of its first reader.

Merge, and the Enter and NextIteration of a loop, carry ``_format_continuous`` on an output; if its first consumer's
input has another dtype, all tensors of the node take that one: in the order of nodes, then again backwards. Source:
hicann/ge ffdcbc9f, compiler/engines/nn_engine/fusion/graph_optimizer/graph_fusion/graph_fusion.cc:717-745, 1027-1096.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from ..graph import Producer

if TYPE_CHECKING:
    from ..graph import GraphNode, ModelGraph
    from .node_facts import DtypeChoice


def settle(graph: ModelGraph, choices: list[DtypeChoice]) -> None:
    """Change the choices of continuous nodes in place."""
    marked = [node for node in graph if any(tensor.continuous for tensor in node.outputs)]
    readers = _first_readers(graph, {node.index for node in marked})
    for node in (*marked, *reversed(marked)):
        _settle(choices, node, readers)


def _first_readers(graph: ModelGraph, marked: set[int]) -> dict[Producer, tuple[GraphNode, int]]:
    """The first consumer of each output of continuous nodes, and the number of its input."""
    readers: dict[Producer, tuple[GraphNode, int]] = {}
    for node in graph:
        for number, source in enumerate(node.sources):
            if source is not None and source.node in marked:
                readers.setdefault(source, (node, number))
    return readers


def _settle(choices: list[DtypeChoice], node: GraphNode, readers: dict[Producer, tuple[GraphNode, int]]) -> None:
    for number, tensor in enumerate(node.outputs):
        reader = readers.get(Producer(node.index, number))
        if not tensor.continuous or reader is None:
            continue
        dtype = choices[reader[0].index].inputs[reader[1]]
        if dtype is not None and dtype != choices[node.index].outputs[number]:
            choices[node.index] = _all_as(choices[node.index], node, dtype, reader[0].name)
            return


def _all_as(choice: DtypeChoice, node: GraphNode, dtype: str, reader: str) -> DtypeChoice:
    spared_in = node.attributes.get("_format_agnostic_except_input", ())
    spared_out = node.attributes.get("_format_agnostic_except_output")
    if spared_out is None:
        spared_out = (1,) if node.type in ("Merge", "RefMerge") else ()
    assert isinstance(spared_in, (tuple, list))
    assert isinstance(spared_out, (tuple, list))
    return choice._replace(
        inputs=tuple(own if own is None or at in spared_in else dtype for at, own in enumerate(choice.inputs)),
        outputs=tuple(own if at in spared_out else dtype for at, own in enumerate(choice.outputs)),
        why="continuous",
        decided=None,
        detail=reader,
    )
