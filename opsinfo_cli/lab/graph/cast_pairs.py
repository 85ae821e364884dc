"""Casts that the engine inserts, one on each edge whose ends differ, and the pairs that it removes again.

Between two ordinary nodes, two adjacent Casts with matching ends are both removed if one of them converts float to
float, lossy or not: an intentional rounding by the user disappears with the inserted Cast. Both are kept if a layout
node (TransData) is between them. Source: hicann/ge ffdcbc9f,
compiler/engines/nn_engine/optimizer/graph_optimizer/shape_format_transfer/trans_node_manager/. Layouts are those of the
chosen columns: their propagation, which comes later, and two Transposes that undo each other are not followed.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING

from .casts import Cast, Casts
from .dtypes import BITS
from .graph import CONSTANTS

if TYPE_CHECKING:
    from collections.abc import Sequence

    from .graph import Producer
    from .judge.node_facts import DtypeChoice
    from .judge.prepared import Prepared


_TRANSFORMS = frozenset({"TransData", "Cast", "Transpose", "TransposeD", "Reshape", "ReFormat"})
"""Op types of conversions between ordinary nodes (trans_node_merging.cc)."""
_FLOATS = frozenset({"float32", "float16", "float64", "bfloat16"})
_LONGEST = 100
"""The most nodes of a chain that the engine examines."""
_UNKNOWN_RANK = (-2,)


@dataclass(eq=False, slots=True)
class _Unit:
    """An inserted Cast or layout node, or a conversion node of the user.

    :ivar node: the user's node; -1 for an inserted one
    :ivar source: an output slot of an ordinary node, or the unit that feeds it
    :ivar readers: the number of inputs that it feeds
    """

    node: int
    op_type: str
    begin: str | None
    end: str | None
    source: int | _Unit
    shape_in: tuple[int, ...] | None
    shape_out: tuple[int, ...] | None
    readers: int = 1
    layouts: tuple[str | None, str | None] = (None, None)


def casts_of(
    prepared: Prepared, choices: list[DtypeChoice], inputs: Sequence[str | None], outputs: Sequence[str | None]
) -> Casts:
    """Return the Casts of a judged graph.

    :param inputs: the dtype of every input slot
    :param outputs: the dtype of every output slot
    """
    return _Merging(prepared, choices, inputs, outputs).casts()


class _Merging:
    """The edges of a judged graph after the engine has inserted and removed Casts.

    :ivar feeds: by input slot, the output slot or the unit that feeds it; only where a unit is or was in between
    :ivar units: the user's conversions, by node
    """

    def __init__(
        self,
        prepared: Prepared,
        choices: list[DtypeChoice],
        inputs: Sequence[str | None],
        outputs: Sequence[str | None],
    ) -> None:
        self.graph, self.slots = prepared.graph, prepared.slots
        self.inputs = inputs
        self.outputs = outputs
        self.source_slot = self.slots.source_slot
        self.layouts_in: dict[int, str] = {}
        self.layouts_out: dict[int, str] = {}
        for node, choice in enumerate(choices):
            for formats, start, found in (
                (
                    (choice.layouts[0], self.slots.inputs_of[node], self.layouts_in),
                    (choice.layouts[1], self.slots.outputs_of[node], self.layouts_out),
                )
                if choice.layouts
                else ()
            ):
                found.update({start + at: name for at, name in enumerate(formats) if name})
        self.transforms = {node.index for node in self.graph if node.type in _TRANSFORMS}
        self.feeds: dict[int, int | _Unit] = {}
        self.units: dict[int, _Unit] = {}
        self._units()
        dtypes = [*outputs, None]
        for slot, source in enumerate(self.source_slot):
            if dtypes[source] != inputs[slot] or slot in self.layouts_in or source in self.layouts_out:
                self._insert(slot)
        if not self.transforms:
            return
        for slot, node in enumerate(self.slots.source_node):
            if node in self.transforms:
                self.feeds.setdefault(slot, self.units.get(node, self.source_slot[slot]))
        for unit in self.units.values():
            first = self.slots.inputs_of[unit.node]
            unit.source = self.feeds.get(first, self.source_slot[first])
        self._merge(prepared.order)
        for unit in self.units.values():
            self.feeds[self.slots.inputs_of[unit.node]] = unit.source

    def casts(self) -> Casts:
        slots = self.slots
        removed = {unit.node for unit in self.units.values() if not unit.readers}
        casts: list[Cast] = []
        rewired: dict[tuple[int, int], Producer] = {}
        for slot in sorted(self.feeds):
            consumer = slots.consumer[slot]
            if consumer in removed:
                continue
            source, steps = self._followed(slot)
            producer, number = slots.producer(source), slot - slots.inputs_of[consumer]
            constant, shape = self.graph[producer.node].type in CONSTANTS, slots.outputs[source].shape
            casts += [Cast(*producer, consumer, number, *step, constant, shape) for step in reversed(steps)]
            if source != self.source_slot[slot]:
                rewired[consumer, number] = producer
        return Casts(casts, sorted(removed), rewired)

    def _followed(self, slot: int) -> tuple[int, list[tuple[str, str]]]:
        """Return the output slot of the user's node that feeds a slot, and the inserted Casts between them."""
        feed = self.feeds[slot]
        steps: list[tuple[str, str]] = []
        while isinstance(feed, _Unit):
            if feed.node >= 0:
                return self.slots.outputs_of[feed.node], steps
            if feed.op_type == "Cast" and feed.begin and feed.end:
                steps.append((feed.begin, feed.end))
            feed = feed.source
        return feed, steps

    def _insert(self, slot: int) -> None:
        producer, source = self.slots.source_node[slot], self.source_slot[slot]
        begin, end = self.outputs[source] if producer >= 0 else None, self.inputs[slot]
        if producer < 0 or begin is None or end is None:
            return
        feed: int | _Unit = self.units.get(producer, source)
        layouts = self.layouts_out.get(source), self.layouts_in.get(slot)
        shape = self.slots.outputs[source].shape
        cast_first = BITS.get(begin, 0) > BITS.get(end, 0) or (BITS.get(begin) == BITS.get(end) and bool(layouts[1]))
        for op_type in ("Cast", "TransData") if cast_first else ("TransData", "Cast"):
            if (begin == end) if op_type == "Cast" else (layouts[0] == layouts[1]):
                continue
            dtype = end if cast_first else begin
            if op_type == "Cast":
                feed = _Unit(-1, op_type, begin, end, feed, shape, shape)
            else:
                feed = _Unit(-1, op_type, dtype, dtype, feed, shape, shape, layouts=layouts)
        self.feeds[slot] = feed

    def _units(self) -> None:
        readers = Counter(node for node in self.slots.source_node if node in self.transforms)
        for index in self.transforms:
            node = self.graph.nodes[index]
            if not node.sources or node.sources[0] is None or not node.outputs or index not in readers:
                continue
            first, last = self.slots.inputs_of[index], self.slots.outputs_of[index]
            shapes = node.inputs[0].shape, node.outputs[0].shape
            ends = self.inputs[first], self.outputs[last]
            self.units[index] = _Unit(index, node.type, *ends, -1, *shapes, readers[index])

    def _merge(self, order: Sequence[int]) -> None:
        starts = self.slots.inputs_of
        touched = {self.slots.consumer[slot] for slot in self.feeds} - self.transforms
        for node in order:
            if node in touched:
                for slot in range(starts[node], starts[node + 1]):
                    if isinstance(self.feeds.get(slot), _Unit):
                        self._merge_chain(slot)

    def _merge_chain(self, slot: int) -> None:
        """Walk from an ordinary node's input back to the next ordinary node."""
        behind: list[_Unit] = []
        unit = self.feeds[slot]
        for _ in range(_LONGEST):
            if not isinstance(unit, _Unit):
                return
            if behind and _cancel(behind[-1], unit):
                later, before = behind.pop(), unit.source
                if later.readers == 1:
                    later.readers = 0
                else:
                    later.readers -= 1
                    unit.readers += 1
                unit.readers -= 1
                if unit.readers and isinstance(before, _Unit):
                    before.readers += 1
                if behind:
                    behind[-1].source = before
                else:
                    self.feeds[slot] = before
            else:
                behind.append(unit)
            unit = unit.source


def _cancel(later: _Unit, earlier: _Unit) -> bool:
    """Return whether two adjacent nodes cancel each other (trans_node_merging.cc:360-455)."""
    if later.op_type != earlier.op_type or later.op_type not in ("Cast", "Reshape", "TransData"):
        return False
    if later.op_type == "TransData" and (
        later.node >= 0 or earlier.node >= 0 or later.layouts != earlier.layouts[::-1]
    ):
        return False
    if later.op_type == "Cast":
        floating = {later.begin, later.end} <= _FLOATS or {earlier.begin, earlier.end} <= _FLOATS
        if not floating and (later.node >= 0 or earlier.node >= 0):
            return False
    elif later.op_type == "Reshape" and any(
        -1 in (shape or (-1,)) for shape in (later.shape_in, later.shape_out, earlier.shape_in, earlier.shape_out)
    ):
        return False
    return (
        (later.begin, later.end) == (earlier.end, earlier.begin)
        and _same(later.shape_in, earlier.shape_out)
        and _same(later.shape_out, earlier.shape_in)
    )


def _same(left: tuple[int, ...] | None, right: tuple[int, ...] | None) -> bool:
    return left is None or right is None or (left == right and left != _UNKNOWN_RANK)
