"""The pass after the judge: an output that must be continuous takes the dtype of its first reader.

Merge, and the Enter and NextIteration of a loop, carry ``_format_continuous`` on an output; if its first consumer's
input has another dtype, all tensors of the node take that one: in the order of nodes, then again backwards. Source:
hicann/ge ffdcbc9f, compiler/engines/nn_engine/fusion/graph_optimizer/graph_fusion/graph_fusion.cc:717-745, 1027-1096.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ..graph import ModelGraph
    from .facts import DtypeChoice


def settle(graph: ModelGraph, choices: list[DtypeChoice], source_slot: Sequence[int]) -> None:
    """Change the choices of continuous nodes in place.

    :param source_slot: the output slot that feeds each input
    """
    marked = [node for node in range(len(graph)) if any(tensor.continuous for tensor in graph[node].outputs)]
    readers = _first_readers(graph, marked, source_slot)
    for node in (*marked, *reversed(marked)):
        _settle(graph, choices, node, readers)


def _first_readers(graph: ModelGraph, marked: list[int], source_slot: Sequence[int]) -> dict[int, tuple[int, int]]:
    """The first consumer of each continuous output slot: (node, input)."""
    columns = graph.columns
    slots = {slot for node in marked for slot in range(columns.outputs_of[node], columns.outputs_of[node + 1])}
    readers: dict[int, tuple[int, int]] = {}
    for node in range(len(graph)):
        first = columns.inputs_of[node]
        for slot in range(first, columns.inputs_of[node + 1]):
            if source_slot[slot] in slots:
                readers.setdefault(source_slot[slot], (node, slot - first))
    return readers


def _settle(graph: ModelGraph, choices: list[DtypeChoice], node: int, readers: dict[int, tuple[int, int]]) -> None:
    first = graph.columns.outputs_of[node]
    for number, tensor in enumerate(graph[node].outputs):
        reader = readers.get(first + number)
        if not tensor.continuous or reader is None:
            continue
        dtype = choices[reader[0]].inputs[reader[1]]
        if dtype is not None and dtype != choices[node].outputs[number]:
            choices[node] = _all_as(graph, choices[node], node, dtype, reader[0])
            return


def _all_as(graph: ModelGraph, choice: DtypeChoice, node: int, dtype: str, reader: int) -> DtypeChoice:
    attributes = graph.attributes.get(node, {})
    spared_in = attributes.get("_format_agnostic_except_input", ())
    spared_out = attributes.get("_format_agnostic_except_output")
    if spared_out is None:
        spared_out = (1,) if graph.columns.types[node] in ("Merge", "RefMerge") else ()
    assert isinstance(spared_in, (tuple, list))
    assert isinstance(spared_out, (tuple, list))
    return choice._replace(
        inputs=tuple(own if own is None or at in spared_in else dtype for at, own in enumerate(choice.inputs)),
        outputs=tuple(own if at in spared_out else dtype for at, own in enumerate(choice.outputs)),
        why="continuous",
        decided=None,
        detail=graph.columns.names[reader],
    )
