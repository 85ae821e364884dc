"""Sorts a graph's nodes into kinds of equal facts, so that each kind is judged once for each producer dtype."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from .facts import Customized, Facts, Port

if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import TypeAlias

    from ..graph import GraphTensor, ModelGraph

    Extra: TypeAlias = tuple[bool, bool, bool, bool, Customized | None]


PLAIN, CAST, SUB_INPUT, SUB_OUTPUT = range(4)
"""The actions of the walk at a node besides the choice."""

_CONSTANTS = frozenset({"Const", "Constant"})
_LATE = frozenset({"Const", "Constant", "Variable"})
_PRESENT, _FED, _IS_LATE, _IS_CONST = 1, 2, 4, 8
_FLAG_BITS = 4


class Marks(NamedTuple):
    """Attributes of nodes from the user's files, in addition to those of the graph."""

    keep: frozenset[int]
    customized: Mapping[int, Customized]


class Sorted(NamedTuple):
    """A graph's nodes by kind.

    :param kind_of: the kind's number of each node
    :param kinds: the facts of each kind
    :param acts: of each node one of PLAIN, CAST, SUB_INPUT, SUB_OUTPUT
    """

    kind_of: list[int]
    kinds: list[Facts]
    acts: bytearray


def sort_nodes(graph: ModelGraph, marks: Marks) -> Sorted:
    """The nodes by kind."""
    return _Sorting(graph, marks).run()


class _Sorting:
    def __init__(self, graph: ModelGraph, marks: Marks) -> None:
        self.graph = graph
        self.marks = marks
        self.columns = graph.columns
        tensors = [*self.columns.input_tensors, *self.columns.output_tensors]
        distinct = dict(zip(map(id, tensors), tensors, strict=True))
        self.tensors: list[GraphTensor] = []
        self.codes: dict[int, int] = {}
        known: dict[object, int] = {}
        for key, tensor in distinct.items():  # sizes have no effect: merge tensors that differ only in them
            facts = (tensor.original_dtype, tensor.dtype, tensor.format, tensor.continuous, _unknown(tensor))
            number = known.setdefault(facts, len(known))
            if number == len(self.tensors):
                self.tensors.append(tensor)
            self.codes[key] = number << _FLAG_BITS
        self.lenient = graph.model.predicted

    def run(self) -> Sorted:
        columns, graph = self.columns, self.graph
        inputs = self._input_codes()
        outputs = tuple(map(self.codes.__getitem__, map(id, columns.output_tensors)))
        marked = {*graph.attributes, *self.marks.keep, *self.marks.customized, *graph.fused_from}
        kinds: dict[object, int] = {}
        facts: list[Facts] = []
        kind_of: list[int] = []
        first_in = first_out = 0
        ends = zip(columns.types, columns.inputs_of[1:], columns.outputs_of[1:], strict=True)
        for node, (op_type, end_in, end_out) in enumerate(ends):
            ins, outs = inputs[first_in:end_in], outputs[first_out:end_out]
            first_in, first_out = end_in, end_out
            extra = self._extra(node) if node in marked else None
            key = (op_type, ins, outs, extra)
            kind = kinds.get(key)
            if kind is None:
                kind = kinds[key] = len(facts)
                facts.append(self._facts(op_type, ins, outs, extra))
            kind_of.append(kind)
        return Sorted(kind_of, facts, self._acts())

    def _input_codes(self) -> tuple[int, ...]:
        flags = self._flags()
        flags.append(_IS_LATE)  # for -1: not fed
        tensors, sources, code_of = self.columns.input_tensors, self.columns.source_node, self.codes
        codes = [code_of[key] | flags[source] for key, source in zip(map(id, tensors), sources, strict=True)]
        for slot, source in enumerate(sources) if -1 in sources else ():
            if source < 0 and tensors[slot].first_dtype is not None:
                codes[slot] |= _PRESENT
        return tuple(codes)

    def _flags(self) -> list[int]:
        """The flags of the inputs that each node feeds; constants are also known through the Data of bodies."""
        types, columns = self.columns.types, self.columns
        by_type = {
            op_type: _PRESENT
            | _FED
            | (_IS_LATE if op_type in _LATE else 0)
            | (_IS_CONST if op_type in _CONSTANTS else 0)
            for op_type in set(types)
        }
        flags = [by_type[op_type] for op_type in types]
        for body in self.graph.subgraphs[1:]:
            for node in body.nodes:
                parent_input = self.graph.attributes.get(node, {}).get("parent_input")
                if types[node] != "Data" or not isinstance(parent_input, int) or body.parent is None:
                    continue
                if parent_input < 0:
                    continue
                slot = columns.inputs_of[body.parent] + parent_input
                if slot >= columns.inputs_of[body.parent + 1] or (source := columns.source_node[slot]) < 0:
                    continue
                flags[node] |= flags[source] & _IS_CONST
        return flags

    def _extra(self, node: int) -> Extra | None:
        attributes = self.graph.attributes.get(node, {})
        extra = (
            node in self.marks.keep or attributes.get("_keep_dtype") in (1, True),
            bool(attributes.get("_inherit_dtype_from_predecessor")),
            bool(attributes.get("_force_fp32_to_fp16")),
            len(self.graph.fused_from.get(node, ())) > 1,
            self.marks.customized.get(node),
        )
        return extra if any(extra) else None

    def _facts(
        self,
        op_type: str,
        inputs: tuple[int, ...],
        outputs: tuple[int, ...],
        extra: Extra | None,
    ) -> Facts:
        keep, inherits, forced, fused, customized = extra or (False, False, False, False, None)
        tensors = [self.tensors[code >> _FLAG_BITS] for code in (*inputs, *outputs)]
        return Facts(
            op_type,
            tuple(self._port(code) for code in inputs),
            tuple(self._port(code | _PRESENT) for code in outputs),
            keep,
            inherits,
            forced,
            max(map(_unknown, tensors), default=0),
            customized,
            self.lenient or fused,
        )

    def _port(self, code: int) -> Port:
        tensor = self.tensors[code >> _FLAG_BITS]
        return Port(
            tensor.first_dtype,
            tensor.format,
            tensor.continuous,
            bool(code & _PRESENT),
            bool(code & _FED),
            bool(code & _IS_LATE),
            bool(code & _IS_CONST),
        )

    def _acts(self) -> bytearray:
        acts = bytearray(len(self.columns.types))
        for node, op_type in enumerate(self.columns.types):
            if op_type == "Cast":
                acts[node] = CAST
        for body in self.graph.subgraphs[1:]:
            for node in body.nodes:
                attributes = self.graph.attributes.get(node, {})
                if self.columns.types[node] == "Data" and "parent_input" in attributes:
                    acts[node] = SUB_INPUT
                elif self.columns.types[node] == "NetOutput" and "parent_outputs" in attributes:
                    acts[node] = SUB_OUTPUT
        return acts


def _unknown(tensor: GraphTensor) -> int:
    """0 for a known shape, 1 with unknown dimensions, 2 of unknown rank; a shape that no file gives counts as known."""
    shape = tensor.shape or ()
    return 2 if -2 in shape else 1 if -1 in shape else 0
