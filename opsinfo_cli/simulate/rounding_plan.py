"""The tensors of an ONNX model to round, and their dtypes, derived from an answer of the judge."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from ..graph.dtypes import LOW

if TYPE_CHECKING:
    from collections.abc import Mapping

    from ..graph.answer import Answer
    from .tensor_places import TensorPlaces

    Where = tuple[int, int]

STORED = frozenset({"float32", "float64", "float16", "bfloat16"})
"""Dtypes of a model whose tensors can be rounded."""


class RoundedTensor(NamedTuple):
    """A tensor and the dtype that it is rounded to.

    :param own: its dtype in the file
    :param type: the op type of the deciding node, and ``node`` its name
    """

    dtype: str
    own: str
    type: str
    node: str


class RoundingPlan:
    """Tensors that are rounded.

    :ivar entries: by the number of an ONNX node and of its input
    :ivar exits: by the number of an ONNX node and of its output
    :ivar outputs: by the number of a graph and of its output
    """

    __slots__ = ("entries", "exits", "outputs")

    def __init__(
        self,
        entries: Mapping[Where, RoundedTensor],
        exits: Mapping[Where, RoundedTensor],
        outputs: Mapping[Where, RoundedTensor],
    ) -> None:
        self.entries = entries
        self.exits = exits
        self.outputs = outputs

    @property
    def key(self) -> frozenset[tuple[int, int, int, str]]:
        """Equal for plans that round alike."""
        return frozenset(
            (side, *where, each.dtype) for side, tensors in enumerate(self._sides) for where, each in tensors.items()
        )

    @property
    def _sides(self) -> tuple[Mapping[Where, RoundedTensor], ...]:
        return self.entries, self.exits, self.outputs

    @property
    def dtypes(self) -> set[str]:
        return {each.dtype for tensors in self._sides for each in tensors.values()}

    def __len__(self) -> int:
        """Places where a tensor is rounded."""
        return sum(map(len, self._sides))

    @property
    def types(self) -> dict[str, tuple[str, ...]]:
        """The op types at whose nodes tensors are rounded, each with the names of the nodes."""
        found: dict[str, dict[str, None]] = {}
        for tensors in (self.entries, self.exits):
            for each in tensors.values():
                found.setdefault(each.type, {})[each.node] = None
        return {op_type: tuple(nodes) for op_type, nodes in found.items()}

    def only(self, op_type: str) -> RoundingPlan:
        """Return the part of the plan at the nodes of one op type."""
        return RoundingPlan(
            *({where: each for where, each in tensors.items() if each.type == op_type} for tensors in self._sides)
        )


def rounding_plan(places: TensorPlaces, answer: Answer) -> RoundingPlan:
    """Return the plan of an answer: the floating-point tensors that become low."""
    columns = answer.graph.columns
    entries: dict[tuple[int, int], RoundedTensor] = {}
    exits: dict[tuple[int, int], RoundedTensor] = {}
    outputs: dict[tuple[int, int], RoundedTensor] = {}
    for entry in places.entries:
        dtype = answer.inputs[entry.slot]
        if entry.origin >= 0 and dtype not in LOW:
            dtype = answer.outputs[entry.origin]
        own = columns.input_tensors[entry.slot].first_dtype
        if dtype in LOW and own in STORED and own != dtype:
            entries[entry.node, entry.input] = RoundedTensor(dtype, own, entry.type, entry.name)
    for leaving, slots, tensors, found in (
        *((each, answer.outputs, columns.output_tensors, exits) for each in places.exits),
        *((each, answer.inputs, columns.input_tensors, outputs) for each in places.outputs),
    ):
        dtype = slots[leaving.slot]
        own = tensors[leaving.slot].first_dtype
        if dtype in LOW and own in STORED and own != dtype:
            found[leaving.owner, leaving.output] = RoundedTensor(dtype, own, leaving.type, leaving.name)
    return RoundingPlan(entries, exits, outputs)


def unknown_tensors(places: TensorPlaces, answer: Answer) -> int:
    """Return how many inputs and outputs of judged nodes have no known dtype and are therefore not rounded."""
    columns = answer.graph.columns
    unknown = sum(columns.input_tensors[each.slot].first_dtype is None for each in places.entries)
    return unknown + sum(columns.output_tensors[each.slot].first_dtype is None for each in places.exits)
