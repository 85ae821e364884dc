"""The Casts of a judged graph: on which edges the engine inserts one, how many run, and the bytes they convert; and the
bytes of the tensors of a graph, low and high, weights apart.

A Cast is inserted on each edge whose ends differ; then, from each input of an ordinary node back to the next ordinary
node, pairs of adjacent conversions that cancel each other are passed by. Two Casts with matching ends cancel if one of
them converts float to float, lossy or not: an intentional rounding by the user disappears with the inserted Cast. They
do not if a layout node (TransData) is between them. A conversion of the user that leads to no input any more is
removed. Source: hicann/ge ffdcbc9f, compiler/engines/nn_engine/optimizer/graph_optimizer/shape_format_transfer/
trans_node_manager/. Layouts are those of the chosen columns: their propagation, which comes later, and two Transposes
that undo each other are not followed.
"""

from __future__ import annotations

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
class _Conversion:
    """A Cast or a layout node that the engine inserts on one edge, or a node of the user that converts for its readers.

    :ivar source: the output slot of another node, or the conversion, that it reads
    :ivar node: the user's node; -1 for an inserted one
    """

    op_type: str
    begin: str | None
    end: str | None
    source: int | _Conversion
    shape_in: tuple[int, ...] | None
    shape_out: tuple[int, ...] | None
    layouts: tuple[str | None, str | None] = (None, None)
    node: int = -1


def casts_of(
    judge: GraphJudge, choices: Sequence[DtypeChoice], inputs: Sequence[str | None], outputs: Sequence[str | None]
) -> Casts:
    """Return the Casts of a judged graph."""
    graph, slots = judge.graph, judge.slots
    users = _user_conversions(graph, inputs, outputs)
    feeds = _insert(slots, users, choices, inputs, outputs)
    removed = _remove_pairs(graph, judge.order, users, feeds) if users else []
    casts: list[Cast] = []
    rewired: dict[tuple[int, int], Producer] = {}
    for slot in sorted(feeds):
        consumer, feed = slots.consumer[slot], feeds[slot]
        steps: list[tuple[str, str]] = []
        while isinstance(feed, _Conversion):
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
    return Casts(casts, removed, rewired)


def _user_conversions(
    graph: ModelGraph, inputs: Sequence[str | None], outputs: Sequence[str | None]
) -> dict[int, _Conversion]:
    """Return the user's own conversions that something reads, by the index of the node, as they are in the model."""
    slots = graph.slots
    nodes = [node for node in graph if node.type in _TRANSFORMS and node.sources and node.sources[0] and node.outputs]
    read = {node.index for node in nodes}.intersection(slots.source_node) if nodes else set()
    users: dict[int, _Conversion] = {}
    for node in nodes:
        if node.index in read:
            first, last = slots.inputs_of[node.index], slots.outputs_of[node.index]
            ends, shapes = (inputs[first], outputs[last]), (node.inputs[0].shape, node.outputs[0].shape)
            users[node.index] = _Conversion(node.type, *ends, slots.source_slot[first], *shapes, node=node.index)
    return users


def _insert(
    slots: Slots,
    users: dict[int, _Conversion],
    choices: Sequence[DtypeChoice],
    inputs: Sequence[str | None],
    outputs: Sequence[str | None],
) -> dict[int, int | _Conversion]:
    """Insert a Cast and a TransData on each edge whose ends differ.

    :returns: what feeds an input slot, where it is a conversion; those of the user have it as their source instead
    """
    layouts_in: dict[int, str] = {}
    layouts_out: dict[int, str] = {}
    for node, choice in enumerate(choices):
        if choice.layouts:
            first, last = slots.inputs_of[node], slots.outputs_of[node]
            layouts_in.update({first + at: name for at, name in enumerate(choice.layouts[0]) if name})
            layouts_out.update({last + at: name for at, name in enumerate(choice.layouts[1]) if name})

    feeds: dict[int, int | _Conversion] = {}
    if users:
        feeds |= {slot: users[node] for slot, node in enumerate(slots.source_node) if node in users}
    dtypes = [*outputs, None]
    for slot, source in enumerate(slots.source_slot):
        begin, end = dtypes[source], inputs[slot]
        if begin == end and slot not in layouts_in and source not in layouts_out:
            continue
        if begin is None or end is None:
            continue
        feed = feeds.get(slot, source)
        layouts = layouts_out.get(source), layouts_in.get(slot)
        shape = slots.outputs[source].shape
        cast_first = BITS.get(begin, 0) > BITS.get(end, 0) or (BITS.get(begin) == BITS.get(end) and bool(layouts[1]))
        if cast_first and begin != end:
            feed = _Conversion("Cast", begin, end, feed, shape, shape)
        if layouts[0] != layouts[1]:
            dtype = end if cast_first else begin
            feed = _Conversion("TransData", dtype, dtype, feed, shape, shape, layouts)
        if not cast_first and begin != end:
            feed = _Conversion("Cast", begin, end, feed, shape, shape)
        feeds[slot] = feed
    for user in users.values():
        user.source = feeds.pop(slots.inputs_of[user.node], user.source)
    return feeds


def _remove_pairs(
    graph: ModelGraph, order: Sequence[int], users: dict[int, _Conversion], feeds: dict[int, int | _Conversion]
) -> list[int]:
    """Remove adjacent conversions that cancel each other, from each ordinary node's inputs back to the next one.

    What read the later one of a pair on this way reads what feeds the earlier one. Both stay if something else reads
    them: in ``a -> up -> down -> b``, where ``c`` reads ``up`` too, ``b`` reads ``a``, nothing reads ``down`` any more,
    and ``up`` stays for ``c``.

    :returns: the user's conversions that lead to no input any more; ``feeds`` has the sources of the others
    """
    slots = graph.slots
    for index in order:
        if graph.nodes[index].type in _TRANSFORMS:
            continue
        for slot in range(slots.inputs_of[index], slots.inputs_of[index + 1]):
            passed: list[_Conversion] = []
            current = feeds.get(slot)
            for _ in range(_LONGEST):
                if not isinstance(current, _Conversion):
                    break
                if passed and _cancel(passed[-1], current):
                    passed.pop()
                    if passed:
                        passed[-1].source = current.source
                    else:
                        feeds[slot] = current.source
                else:
                    passed.append(current)
                current = current.source
    left: set[int] = set()
    waiting = list(feeds.values())
    while waiting:
        feed = waiting.pop()
        if isinstance(feed, _Conversion) and feed.node not in left:
            if feed.node >= 0:
                left.add(feed.node)
            waiting.append(feed.source)
    feeds.update((slots.inputs_of[node], users[node].source) for node in left)
    return sorted(users.keys() - left)


def _cancel(later: _Conversion, earlier: _Conversion) -> bool:
    """Return whether two adjacent nodes cancel each other (trans_node_merging.cc:360-455)."""
    op_type, inserted = later.op_type, later.node < 0 and earlier.node < 0
    if op_type != earlier.op_type or op_type not in ("Cast", "Reshape", "TransData"):
        return False
    floating = {later.begin, later.end} <= _FLOATS or {earlier.begin, earlier.end} <= _FLOATS
    if op_type == "Cast" and not (inserted or floating):
        return False
    if op_type == "TransData" and not (inserted and later.layouts == earlier.layouts[::-1]):
        return False
    shapes = later.shape_in, later.shape_out, earlier.shape_in, earlier.shape_out
    if op_type == "Reshape" and any(-1 in (shape or (-1,)) for shape in shapes):
        return False
    return (
        (later.begin, later.end) == (earlier.end, earlier.begin)
        and _same(later.shape_in, earlier.shape_out)
        and _same(later.shape_out, earlier.shape_in)
    )


def _same(left: tuple[int, ...] | None, right: tuple[int, ...] | None) -> bool:
    return left is None or right is None or (left == right and left != _UNKNOWN_RANK)


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
