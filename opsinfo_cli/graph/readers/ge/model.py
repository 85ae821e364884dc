"""A graph from the graph engine's own form (``ge.proto.ModelDef``), for every file format with it.

Source: hicann/ge graph_metadef/proto/ge_ir.proto:226-353 (messages),
graph_metadef/graph/serialization/model_serialize.cc:117-165 (inputs: ``producer:output``, empty for an absent one,
``producer:-1`` for a control edge).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from ...builder import GraphBuilder
from ...dtypes import word_dtype
from ...graph import UNKNOWN, GraphTensor, ModelFacts
from ..command import arguments
from ..source import Notes

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from ...graph import ModelGraph, Weights

PARENT = "_parent_node_index"
NUMBERS = ("_keep_dtype", "_inherit_dtype_from_predecessor", "_force_fp32_to_fp16", PARENT, "judge_match_idx")
"""Attributes of a node that are kept, integers."""
LISTS = ("_format_agnostic_except_input", "_format_agnostic_except_output")
"""Attributes of a node that are kept, lists of integers: tensors that the pass after the judge spares."""
FUSED_FROM = "_datadump_original_op_names"
MODE = "graph_precision_mode"
CONTINUOUS = "_format_continuous"

FACTS = ("atc_cmdline", "atc_version", "soc_version", "target_type", "framework_version", "opp_version", "ge_version")
"""Attributes of a model that are kept, strings."""

_CASTS = "trans_Cast_"


class Desc(NamedTuple):
    """The facts of a tensor, and for a subgraph's output the parent's output that it feeds (-1: none)."""

    tensor: GraphTensor = UNKNOWN
    parent: int = -1


class Op(NamedTuple):
    """A node as the file has it."""

    name: str
    type: str
    inputs: Sequence[str]
    input_descs: Sequence[Desc]
    output_descs: Sequence[Desc]
    attributes: Mapping[str, int | tuple[int, ...]]
    subgraphs: Sequence[str] = ()
    fused_from: Sequence[str] = ()
    weights: Weights | None = None


class GeModel:
    """Takes graphs and operators in the file's order, and makes the graph value.

    :param format: the name of the file's format, for ``ModelFacts.format``
    """

    def __init__(self, format: str, path: str) -> None:
        self.builder = GraphBuilder(path=path)
        self.facts: dict[str, object] = {}
        self.notes = Notes()
        self.mode: int | None = None
        self._format = format
        self.path = path
        self._owners: dict[str, int] = {}
        self._graphs = 0
        self._waiting: list[tuple[str, list[Op]]] = []
        self._held: list[Op] | None = None
        self._started = False
        self._names: set[str] = set()
        self._judged = self._cast = False

    def descriptor(
        self,
        dtype: str | None,
        layout: str | None,
        shape: tuple[int, ...] | None,
        words: Mapping[str, str],
        original_shape: tuple[int, ...] | None,
        numbers: Mapping[str, int],
    ) -> Desc:
        """Return the kept part of a tensor's description.

        :param words: its attributes that are strings: ``origin_data_type``, ``origin_format``
        :param numbers: its attributes that are integers: ``_format_continuous``, ``_parent_node_index``
        """
        original = words.get("origin_data_type")
        tensor = self.builder.tensor(
            dtype,
            word_dtype(original) if original else None,
            words.get("origin_format") or layout,
            shape if original_shape is None else original_shape,
            bool(numbers.get(CONTINUOUS)),
        )
        return Desc(tensor, numbers.get(PARENT, -1))

    def open_graph(self) -> None:
        """Begin another graph of the file; the first one is the main graph."""
        self._graphs += 1
        self._held = None if self._graphs == 1 else []
        self._started = False

    def name_graph(self, name: str) -> None:
        """Name the open graph; its operators follow."""
        if self._graphs == 1:
            self.builder.name_graph(name)
        else:
            self._held = []
            self._started = True
            if not name or name not in self._names:  # a file of several models repeats the subgraphs of the first
                self._waiting.append((name, self._held))
        self._names.add(name)

    def add(self, op: Op) -> None:
        """Add an operator to the open graph."""
        if self._held is not None:
            if not self._started:
                self.name_graph("")
            self._held.append(op)
        else:
            self._add(op)

    def close(self) -> ModelGraph:
        """Return the graph.

        :raises Damaged: if an edge or a subgraph refers to a missing node
        """
        self._close_subgraphs()
        facts = self.facts
        command = facts.get("atc_cmdline")
        soc = facts.get("soc_version")
        model = ModelFacts(
            format=self._format,
            path=self.path,
            soc_version=soc if isinstance(soc, str) and soc else None,
            atc_cmdline=command if isinstance(command, str) and command else None,
            graph_precision_mode=self.mode,
            command=arguments(command) if isinstance(command, str) else (),
            judged=True if self._judged or self._cast or self._format == "om" else self._changed(),
            has_casts=True if self._cast else (None if self._format == "om" else False),
            attributes={name: value for name, value in facts.items() if name not in ("atc_cmdline", "soc_version")},
            notes=self.notes.all(),
        )
        return self.builder.build(model)

    def _changed(self) -> bool:
        """Return whether a tensor's dtype differs from its original one, so that the judge had run."""
        return any(
            tensor.original_dtype is not None and tensor.dtype != tensor.original_dtype
            for tensor in self.builder.tensors()
        )

    def _close_subgraphs(self) -> None:
        """Add subgraphs after the graph that owns them, in the file's order; one without an owner comes last."""
        waiting = self._waiting
        while waiting:
            ready = [graph for graph in waiting if graph[0] in self._owners] or waiting[:1]
            for name, ops in ready:
                self.builder.subgraph(name, self._owners.get(name))
                for op in ops:
                    self._add(op)
            done = {id(graph) for graph in ready}
            waiting = [graph for graph in waiting if id(graph) not in done]

    def _add(self, op: Op) -> None:
        sources: list[tuple[int | str, int] | None] = []
        control: list[int | str] = []
        for reference in op.inputs:
            name, colon, number = reference.rpartition(":")
            if not colon:
                name, number = reference, "0"
            if not name:
                sources.append(None)
            elif number == "-1":
                control.append(name)
            else:
                sources.append((name, _index(number)))
        sources += [None] * (len(op.input_descs) - len(sources))
        attributes: dict[str, object] = {name: value for name, value in op.attributes.items() if name != PARENT}
        if PARENT in op.attributes:
            attributes["parent_input"] = op.attributes[PARENT]
        if op.type == "NetOutput" and any(desc.parent >= 0 for desc in op.input_descs):
            attributes["parent_outputs"] = tuple(desc.parent for desc in op.input_descs)
        self._judged = self._judged or "judge_match_idx" in attributes
        self._cast = self._cast or op.name.startswith(_CASTS)
        index = self.builder.add(
            op.name,
            op.type,
            sources,
            [desc.tensor for desc in op.output_descs],
            inputs=[desc.tensor for desc in op.input_descs],
            control=control,
            attributes=attributes,
            fused_from=op.fused_from,
            weights=op.weights,
        )
        for name in op.subgraphs:
            self._owners.setdefault(name, index)


_MOST = (1 << 31) - 1


def _index(number: str) -> int:
    """Return the number of an output; 0 for other text, as in the engine's ``strtol``."""
    return min(int(number[:18]), _MOST) if number.isascii() and number.isdigit() else 0
