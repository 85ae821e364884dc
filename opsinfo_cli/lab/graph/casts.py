"""The Casts of a judged graph: on which edges the engine inserts one, how many run, and the bytes they convert; and the
bytes of the tensors of a graph, low and high, weights apart.

A Cast is on each edge whose ends differ, and pairs of Casts are removed again. Between two ordinary nodes, two adjacent
Casts with matching ends are both removed if one of them converts float to float, lossy or not: an intentional rounding
by the user disappears with the inserted Cast. Both are kept if a layout node (TransData) is between them. Source:
hicann/ge ffdcbc9f, compiler/engines/nn_engine/optimizer/graph_optimizer/shape_format_transfer/trans_node_manager/.
Layouts are those of the chosen columns: their propagation, which comes later, and two Transposes that undo each other
are not followed.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from math import prod
from typing import TYPE_CHECKING, NamedTuple

from ...core.cann.dtype_names import LOW
from ...core.document import Count
from .dtypes import BITS
from .graph import CONSTANTS

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from .graph import ModelGraph, Producer, Slots
    from .judge.graph_judge import GraphJudge
    from .judge.node_facts import DtypeChoice


_TRANSFORMS = frozenset({"TransData", "Cast", "Transpose", "TransposeD", "Reshape", "ReFormat"})
"""Op types of conversions between ordinary nodes (trans_node_merging.cc)."""
_FLOATS = frozenset({"float32", "float16", "float64", "bfloat16"})
_LONGEST = 100
"""The most nodes of a chain that the engine examines (trans_node_merging.cc, MergeTransOpBetweenTwoNormalOp)."""
_UNKNOWN_RANK = (-2,)


class Cast(NamedTuple):
    """One inserted Cast on one edge.

    :param producer: index of the node whose output is converted
    :param constant: whether the output is a constant's, so that the compiler folds the Cast
    """

    producer: int
    output: int
    consumer: int
    input: int
    begin: str
    end: str
    constant: bool
    shape: tuple[int, ...] | None

    @property
    def bytes(self) -> int | None:
        """The bytes that one run of it reads; None if unknown."""
        return tensor_bytes(self.begin, self.shape)


def tensor_bytes(dtype: str | None, shape: tuple[int, ...] | None) -> int | None:
    """Return the bytes of a tensor; None if that is unknown."""
    bits = BITS.get(dtype or "")
    if bits is None or shape is None or min(shape, default=0) < 0:
        return None
    return (prod(shape) * bits + 7) // 8


class CastCounts(NamedTuple):
    """Counts of Casts.

    :param run: Casts that run, equal ones of one output counted once
    :param folded: edges whose Cast is on a constant and costs nothing at run time
    :param bytes: the bytes that running Casts read in one run, as far as shapes are known
    :param unknown_sizes: Casts that run on tensors of unknown size
    """

    edges: int
    run: int
    folded: int
    bytes: int
    unknown_sizes: int


class Casts(NamedTuple):
    """The conversions on the edges.

    :param casts: one for each edge that needs one, in the order of consumers
    :param removed: indexes of the user's own conversions that were removed together with an inserted Cast
    :param rewired: (consumer, input) that bypass a removed conversion -> the output that feeds them instead
    """

    casts: list[Cast]
    removed: list[int]
    rewired: dict[tuple[int, int], Producer]

    @property
    def counts(self) -> CastCounts:
        running = {(cast.producer, cast.output, cast.begin, cast.end): cast for cast in self.casts if not cast.constant}
        sizes = [cast.bytes for cast in running.values()]
        known = [size for size in sizes if size is not None]
        folded = sum(cast.constant for cast in self.casts)
        return CastCounts(len(self.casts), len(running), folded, sum(known), len(sizes) - len(known))


@dataclass(eq=False, slots=True)
class _Unit:
    """A conversion: a Cast or a layout node that the engine inserts, or a node of the user.

    :ivar node: the user's node; -1 for an inserted one
    :ivar source: the output slot of an ordinary node, or the unit, that feeds it
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
    judge: GraphJudge, choices: Sequence[DtypeChoice], inputs: Sequence[str | None], outputs: Sequence[str | None]
) -> Casts:
    """Return the Casts of a judged graph."""
    transforms = {node.index for node in judge.graph if node.type in _TRANSFORMS}
    units = _user_units(judge.graph, transforms, inputs, outputs)
    feeds = _insert(judge.slots, units, choices, inputs, outputs)
    if transforms:
        for slot, node in enumerate(judge.slots.source_node):
            if node in transforms:
                feeds.setdefault(slot, units.get(node, judge.slots.source_slot[slot]))
        _remove_pairs(judge.slots, judge.order, transforms, units, feeds)
    return _casts_on(judge, units, feeds)


def _user_units(
    graph: ModelGraph, transforms: set[int], inputs: Sequence[str | None], outputs: Sequence[str | None]
) -> dict[int, _Unit]:
    """Return the user's own conversions that something reads, by the index of the node; their sources are not set."""
    slots = graph.slots
    readers = Counter(node for node in slots.source_node if node in transforms)
    units: dict[int, _Unit] = {}
    for index in transforms:
        user = graph.nodes[index]
        if user.sources and user.sources[0] is not None and user.outputs and index in readers:
            ends = inputs[slots.inputs_of[index]], outputs[slots.outputs_of[index]]
            shapes = user.inputs[0].shape, user.outputs[0].shape
            units[index] = _Unit(index, user.type, *ends, -1, *shapes, readers[index])
    return units


def _insert(
    slots: Slots,
    units: dict[int, _Unit],
    choices: Sequence[DtypeChoice],
    inputs: Sequence[str | None],
    outputs: Sequence[str | None],
) -> dict[int, int | _Unit]:
    """Insert a Cast and a TransData on each edge whose ends differ; return what now feeds these input slots."""
    layouts_in: dict[int, str] = {}
    layouts_out: dict[int, str] = {}
    for node, choice in enumerate(choices):
        if choice.layouts:
            first, last = slots.inputs_of[node], slots.outputs_of[node]
            layouts_in.update({first + at: name for at, name in enumerate(choice.layouts[0]) if name})
            layouts_out.update({last + at: name for at, name in enumerate(choice.layouts[1]) if name})

    feeds: dict[int, int | _Unit] = {}
    dtypes = [*outputs, None]
    for slot, source in enumerate(slots.source_slot):
        begin, end = dtypes[source], inputs[slot]
        if begin == end and slot not in layouts_in and source not in layouts_out:
            continue
        if begin is None or end is None:
            continue
        feed: int | _Unit = units.get(slots.source_node[slot], source)
        layouts = layouts_out.get(source), layouts_in.get(slot)
        shape = slots.outputs[source].shape
        cast_first = BITS.get(begin, 0) > BITS.get(end, 0) or (BITS.get(begin) == BITS.get(end) and bool(layouts[1]))
        if cast_first and begin != end:
            feed = _Unit(-1, "Cast", begin, end, feed, shape, shape)
        if layouts[0] != layouts[1]:
            dtype = end if cast_first else begin
            feed = _Unit(-1, "TransData", dtype, dtype, feed, shape, shape, layouts=layouts)
        if not cast_first and begin != end:
            feed = _Unit(-1, "Cast", begin, end, feed, shape, shape)
        feeds[slot] = feed
    return feeds


def _remove_pairs(
    slots: Slots, order: Sequence[int], transforms: set[int], units: dict[int, _Unit], feeds: dict[int, int | _Unit]
) -> None:
    """Remove adjacent conversions that cancel each other, from each ordinary node's inputs back to the next one.

    At the start and after each step ``readers`` of a unit is the number of inputs and units that read it: what lost its
    last reader is removed, and reads nothing any more. In ``a -> up -> down -> b``, where ``c`` reads ``up`` too, the
    pair cancels for ``b``: ``down`` loses its only reader, thus ``up`` loses one of two and stays for ``c``, and ``b``
    reads ``a``. If ``a`` is a unit, it has a reader more while ``up`` reads it beside ``b``.
    """
    starts = slots.inputs_of
    for unit in units.values():
        unit.source = feeds.get(starts[unit.node], slots.source_slot[starts[unit.node]])
    touched = {slots.consumer[slot] for slot in feeds} - transforms
    inputs = [slot for node in order if node in touched for slot in range(starts[node], starts[node + 1])]
    for slot in inputs:
        behind: list[_Unit] = []
        current = feeds.get(slot)
        for _ in range(_LONGEST):
            if not isinstance(current, _Unit):
                break
            if behind and _cancel(behind[-1], current):
                later, before = behind.pop(), current.source
                later.readers -= 1
                if not later.readers:  # else it stays for its other readers, and still reads the earlier one
                    current.readers -= 1
                if current.readers and isinstance(before, _Unit):
                    before.readers += 1  # it is read past the pair as well
                if behind:
                    behind[-1].source = before
                else:
                    feeds[slot] = before
            else:
                behind.append(current)
            current = current.source
    for unit in units.values():
        feeds[starts[unit.node]] = unit.source


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


def _casts_on(judge: GraphJudge, units: dict[int, _Unit], feeds: dict[int, int | _Unit]) -> Casts:
    """Return the Casts on the edges that are left, each edge from the user's node that now feeds it."""
    graph, slots = judge.graph, judge.slots
    removed = {unit.node for unit in units.values() if not unit.readers}
    casts: list[Cast] = []
    rewired: dict[tuple[int, int], Producer] = {}
    for slot in sorted(feeds):
        consumer, feed = slots.consumer[slot], feeds[slot]
        if consumer in removed:
            continue
        steps: list[tuple[str, str]] = []
        while isinstance(feed, _Unit):
            if feed.node >= 0:
                feed = slots.outputs_of[feed.node]
                break
            if feed.op_type == "Cast" and feed.begin and feed.end:
                steps.append((feed.begin, feed.end))
            feed = feed.source
        producer, number = slots.producer(feed), slot - slots.inputs_of[consumer]
        constant, shape = graph[producer.node].type in CONSTANTS, slots.outputs[feed].shape
        casts += [Cast(*producer, consumer, number, *step, constant, shape) for step in reversed(steps)]
        if feed != slots.source_slot[slot]:
            rewired[consumer, number] = producer
    return Casts(casts, sorted(removed), rewired)


@dataclass(frozen=True)
class Memory:
    """Sizes in bytes of the tensors of the whole graph that a node reads, without layouts that pad and without
    Casts.
    """

    low: Count
    """Tensors in a low dtype."""
    high: Count
    """Other tensors."""
    weights: Count
    """Constants, in the dtypes in which they are read."""
    unknown: Count
    """Number of tensors whose size is unknown."""


def memory_of(graph: ModelGraph, casts: Iterable[Cast], dtype_of: Callable[[Producer], str | None]) -> Memory:
    """Return the sizes of all tensors that a node reads; a tensor is an output, at the size of its shape. Layouts that
    pad, buffers that a compiler reuses and Casts are not considered.
    """
    converted = {(cast.consumer, cast.input): cast.end for cast in casts if cast.constant}
    read: set[tuple[Producer, str | None]] = set()
    for node in graph:
        for number, source in enumerate(node.sources):
            if source is not None:
                read.add((source, converted.get((node.index, number)) or dtype_of(source)))
    low = high = weights = unknown = 0
    for source, dtype in read:
        producer = graph[source.node]
        size = tensor_bytes(dtype, producer.outputs[source.output].shape)
        if size is None:
            unknown += 1
        elif producer.type in CONSTANTS:
            weights += size
        elif dtype in LOW:
            low += size
        else:
            high += size
    return Memory(low, high, weights, unknown)
