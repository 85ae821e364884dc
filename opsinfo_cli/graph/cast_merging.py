"""Casts that the engine inserts, one on each edge whose ends differ, and the pairs that it removes again.

Between two ordinary nodes, two adjacent Casts with matching ends are both removed if one of them converts float to
float, lossy or not: an intentional rounding by the user disappears with the inserted Cast. Both are kept if a layout
node (TransData) is between them. Source: hicann/ge ffdcbc9f,
compiler/engines/nn_engine/optimizer/graph_optimizer/shape_format_transfer/trans_node_manager/. Layouts are those of the
chosen columns: their propagation, which comes later, and two Transposes that undo each other are not followed.
"""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, NamedTuple

from .dtypes import BITS

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from .graph import ModelGraph


_TRANSFORMS = frozenset({"TransData", "Cast", "Transpose", "TransposeD", "Reshape", "ReFormat"})
"""Op types of conversions between ordinary nodes (trans_node_merging.cc)."""
_FLOATS = frozenset({"float32", "float16", "float64", "bfloat16"})
_LONGEST = 100
"""The most nodes of a chain that the engine examines."""
_UNKNOWN_RANK = (-2,)


class Inserted(NamedTuple):
    """Inserted Casts of one edge, from the producer on.

    :param slot: the consumer's input slot
    :param source: the output slot that feeds it now
    :param steps: (from, to) of each Cast
    """

    slot: int
    source: int
    steps: tuple[tuple[str | None, str | None], ...]


class Rewired(NamedTuple):
    """An input that another output feeds because Casts of the user were removed."""

    slot: int
    before: int
    now: int


class Layouts(NamedTuple):
    """Formats of slots that are not plain."""

    inputs: Mapping[int, str]
    outputs: Mapping[int, str]


class _Unit:
    """An inserted Cast, or a conversion node of the user.

    :ivar node: the user's node; -1 for an inserted Cast
    :ivar source: an output slot of an ordinary node, or the unit that feeds it
    :ivar readers: the number of inputs that it feeds
    """

    __slots__ = ("begin", "end", "layouts", "node", "op_type", "readers", "shape_in", "shape_out", "source")

    def __init__(self, node: int, op_type: str, begin: str | None, end: str | None, source: int | _Unit) -> None:
        self.node = node
        self.op_type = op_type
        self.begin = begin
        self.end = end
        self.source = source
        self.readers = 1
        self.layouts: tuple[str | None, str | None] = (None, None)
        self.shape_in: tuple[int, ...] | None = None
        self.shape_out: tuple[int, ...] | None = None


class Merging:
    """The edges of a judged graph after the engine has inserted and removed Casts.

    :param inputs: the dtype of every input slot
    :param outputs: the dtype of every output slot
    :param layouts: formats of input slots, and of output slots, that are not plain
    """

    def __init__(
        self,
        graph: ModelGraph,
        inputs: Sequence[str | None],
        outputs: Sequence[str | None],
        order: Iterable[int],
        layouts: Layouts | None = None,
    ) -> None:
        self.graph = graph
        self.inputs = inputs
        self.outputs = outputs
        self.slots = graph.slots
        self.source_slot = self.slots.source_slot
        self.layouts = layouts or Layouts({}, {})
        self.transforms = {node.index for node in graph if node.type in _TRANSFORMS}
        self.feeds: dict[int, int | _Unit] = {}
        self.units: dict[int, _Unit] = {}
        dtypes = [*outputs, None]
        self.differing = [slot for slot, source in enumerate(self.source_slot) if dtypes[source] != inputs[slot]]
        if not self.transforms:
            return
        self._units()
        for slot in self._touched():
            self._insert(slot)
        for slot, node in enumerate(self.slots.source_node):
            if node in self.transforms:
                self.feeds.setdefault(slot, self.units.get(node, self.source_slot[slot]))
        for unit in self.units.values():
            first = self.slots.inputs_of[unit.node]
            unit.source = self.feeds.get(first, self.source_slot[first])
        self._merge(order)
        for unit in self.units.values():
            self.feeds[self.slots.inputs_of[unit.node]] = unit.source

    def _touched(self) -> list[int]:
        """Input slots on whose edge the engine inserts a Cast or a layout node."""
        inputs, outputs = self.layouts
        if not inputs and not outputs:
            return self.differing
        laid = [slot for slot, source in enumerate(self.source_slot) if slot in inputs or source in outputs]
        return sorted({*self.differing, *laid})

    def inserted(self) -> list[Inserted]:
        """Every edge that runs through inserted Casts, by slot."""
        if not self.transforms:
            return self._plain()
        found = []
        removed = set(self.removed())
        for slot in sorted(self.feeds):
            if self.slots.consumer[slot] in removed:
                continue
            source, steps = self._followed(slot)
            if steps:
                found.append(Inserted(slot, source, tuple(reversed(steps))))
        return found

    def _plain(self) -> list[Inserted]:
        """Return the edges if nothing can be merged, because there is no conversion of the user in between."""
        inputs, outputs, sources = self.inputs, [*self.outputs, None], self.source_slot
        found = []
        for slot in self.differing:
            source = sources[slot]
            begin, end = outputs[source], inputs[slot]
            if begin is not None and end is not None and begin != end:
                found.append(Inserted(slot, source, ((begin, end),)))
        return found

    def removed(self) -> list[int]:
        """Return the user's nodes that were removed."""
        return sorted(unit.node for unit in self.units.values() if not unit.readers)

    def rewired(self) -> list[Rewired]:
        """Inputs that another output feeds now: none without a conversion of the user's."""
        if not self.transforms:
            return []
        removed, consumers = set(self.removed()), self.slots.consumer
        found = []
        for slot in sorted(self.feeds):
            now, _ = self._followed(slot)
            if now != self.source_slot[slot] and consumers[slot] not in removed:
                found.append(Rewired(slot, self.source_slot[slot], now))
        return found

    def _followed(self, slot: int) -> tuple[int, list[tuple[str | None, str | None]]]:
        """Return the output slot of the user's node that feeds a slot, and the inserted Casts between them."""
        feed = self.feeds[slot]
        steps: list[tuple[str | None, str | None]] = []
        while isinstance(feed, _Unit):
            if feed.node >= 0:
                return self.slots.outputs_of[feed.node], steps
            if feed.op_type == "Cast":
                steps.append((feed.begin, feed.end))
            feed = feed.source
        return feed, steps

    def _insert(self, slot: int) -> None:
        producer, source = self.slots.source_node[slot], self.source_slot[slot]
        begin, end = self.outputs[source] if producer >= 0 else None, self.inputs[slot]
        if producer < 0 or begin is None or end is None:
            return
        feed: int | _Unit = self.units.get(producer, source)
        layouts = self.layouts.outputs.get(source), self.layouts.inputs.get(slot)
        cast_first = BITS.get(begin, 0) > BITS.get(end, 0) or (BITS.get(begin) == BITS.get(end) and bool(layouts[1]))
        for op_type in ("Cast", "TransData") if cast_first else ("TransData", "Cast"):
            if (begin == end) if op_type == "Cast" else (layouts[0] == layouts[1]):
                continue
            dtype = end if cast_first else begin
            unit = _Unit(-1, op_type, *((begin, end) if op_type == "Cast" else (dtype, dtype)), feed)
            unit.shape_in = unit.shape_out = self.slots.outputs[source].shape
            if op_type == "TransData":
                unit.layouts = layouts
            feed = unit
        self.feeds[slot] = feed

    def _units(self) -> None:
        readers = Counter(node for node in self.slots.source_node if node in self.transforms)
        for index in self.transforms:
            node = self.graph.nodes[index]
            if not node.sources or node.sources[0] is None or not node.outputs or index not in readers:
                continue
            first, last = self.slots.inputs_of[index], self.slots.outputs_of[index]
            unit = _Unit(index, node.type, self.inputs[first], self.outputs[last], -1)
            unit.shape_in, unit.shape_out = node.inputs[0].shape, node.outputs[0].shape
            unit.readers = readers[index]
            self.units[index] = unit

    def _merge(self, order: Iterable[int]) -> None:
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
