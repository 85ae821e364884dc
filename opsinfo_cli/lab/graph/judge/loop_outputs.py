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
    places = {node.index for node in marked}
    readers: dict[Producer, tuple[GraphNode, int]] = {}  # the first one of each output, and the number of its input
    for node in graph:
        for number, source in enumerate(node.sources):
            if source is not None and source.node in places:
                readers.setdefault(source, (node, number))
    for node in (*marked, *reversed(marked)):
        choice = choices[node.index]
        for number, tensor in enumerate(node.outputs):
            if not tensor.continuous or Producer(node.index, number) not in readers:
                continue
            reader, slot = readers[Producer(node.index, number)]
            dtype = choices[reader.index].inputs[slot]
            if dtype is None or dtype == choice.outputs[number]:
                continue
            spared_in = node.attributes.get("_format_agnostic_except_input", ())
            spared_out = node.attributes.get("_format_agnostic_except_output")
            if spared_out is None:
                spared_out = (1,) if node.type in ("Merge", "RefMerge") else ()
            assert isinstance(spared_in, (tuple, list))
            assert isinstance(spared_out, (tuple, list))
            choices[node.index] = choice._replace(
                inputs=tuple(own if own is None or at in spared_in else dtype for at, own in enumerate(choice.inputs)),
                outputs=tuple(own if at in spared_out else dtype for at, own in enumerate(choice.outputs)),
                why="continuous",
                decided=None,
                detail=reader.name,
            )
            break
