"""Sorts a graph's nodes into kinds of equal facts, so that each kind is judged once for each producer dtype."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from .facts import Customized, Facts, Port

if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import TypeAlias

    from ..graph import GraphNode, GraphTensor, ModelGraph

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
        self.tensors: list[GraphTensor] = []
        self.codes: dict[GraphTensor, int] = {}
        self._known: dict[object, int] = {}
        self.lenient = graph.model.predicted

    def run(self) -> Sorted:
        fed = self._flags()
        codes, code_of = self.codes, self._code
        kinds: dict[object, int] = {}
        facts: list[Facts] = []
        kind_of: list[int] = []
        for node in self.graph.nodes:
            ins = []
            for tensor, source in zip(node.inputs, node.sources, strict=True):
                code = codes.get(tensor)
                code = code_of(tensor) if code is None else code
                if source is not None:
                    code |= fed[source[0]]
                else:
                    code |= _IS_LATE if tensor.first_dtype is None else _IS_LATE | _PRESENT
                ins.append(code)
            inputs = tuple(ins)
            outputs = tuple([code_of(tensor) for tensor in node.outputs])
            extra = self._extra(node)
            key = (node.type, inputs, outputs, extra)
            kind = kinds.get(key)
            if kind is None:
                kind = kinds[key] = len(facts)
                facts.append(self._facts(node.type, inputs, outputs, extra))
            kind_of.append(kind)
        return Sorted(kind_of, facts, self._acts())

    def _code(self, tensor: GraphTensor) -> int:
        """Return the number of a tensor's facts; sizes have no effect on the choice, and are left out."""
        code = self.codes.get(tensor)
        if code is None:
            facts = (tensor.original_dtype, tensor.dtype, tensor.format, tensor.continuous, _unknown(tensor))
            number = self._known.setdefault(facts, len(self._known))
            if number == len(self.tensors):
                self.tensors.append(tensor)
            code = self.codes[tensor] = number << _FLAG_BITS
        return code

    def _flags(self) -> list[int]:
        """The flags of the inputs that each node feeds; constants are also known through the Data of bodies."""
        nodes = self.graph.nodes
        flags = [
            _PRESENT | _FED | (_IS_LATE if node.type in _LATE else 0) | (_IS_CONST if node.type in _CONSTANTS else 0)
            for node in nodes
        ]
        for body in self.graph.subgraphs[1:]:
            for node in nodes[body.nodes.start : body.nodes.stop]:
                number = node.attributes.get("parent_input")
                if node.type != "Data" or not isinstance(number, int) or number < 0 or body.parent is None:
                    continue
                sources = nodes[body.parent].sources
                source = sources[number] if number < len(sources) else None
                if source is not None:
                    flags[node.index] |= flags[source.node] & _IS_CONST
        return flags

    def _extra(self, node: GraphNode) -> Extra | None:
        attributes, marks = node.attributes, self.marks
        if not (attributes or node.fused_from or node.index in marks.keep or node.index in marks.customized):
            return None
        extra = (
            node.index in marks.keep or attributes.get("_keep_dtype") in (1, True),
            bool(attributes.get("_inherit_dtype_from_predecessor")),
            bool(attributes.get("_force_fp32_to_fp16")),
            len(node.fused_from) > 1,
            marks.customized.get(node.index),
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
        nodes = self.graph.nodes
        acts = bytearray(CAST if node.type == "Cast" else PLAIN for node in nodes)
        for body in self.graph.subgraphs[1:]:
            for node in nodes[body.nodes.start : body.nodes.stop]:
                if node.type == "Data" and "parent_input" in node.attributes:
                    acts[node.index] = SUB_INPUT
                elif node.type == "NetOutput" and "parent_outputs" in node.attributes:
                    acts[node.index] = SUB_OUTPUT
        return acts


def _unknown(tensor: GraphTensor) -> int:
    """0 for a known shape, 1 with unknown dimensions, 2 of unknown rank; a shape that no file gives counts as known."""
    shape = tensor.shape or ()
    return 2 if -2 in shape else 1 if -1 in shape else 0
