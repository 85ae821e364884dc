"""The Casts of a judged graph: their edges, how many run, and the bytes they convert."""

from __future__ import annotations

from bisect import bisect_right
from math import prod

from ..typed import TYPE_CHECKING, NamedTuple
from .cast_merging import Layouts, Merging
from .dtypes import BITS
from .graph import Producer

if TYPE_CHECKING:
    from collections.abc import Sequence

    from .graph import ModelGraph
    from .judge.facts import DtypeChoice
    from .judge.prepared import Prepared


_CONSTANTS = frozenset({"Const", "Constant"})


class Cast(NamedTuple):
    """One inserted Cast on one edge.

    :param producer: index of the node whose output is converted
    :param begin: the dtype of the output
    :param end: the dtype of the consumer's input
    :param constant: whether the output is a constant's, so that the compiler folds the Cast
    :param elements: the elements of the tensor; None if its shape is unknown
    """

    producer: int
    output: int
    consumer: int
    input: int
    begin: str
    end: str
    constant: bool
    elements: int | None

    @property
    def bytes(self) -> int | None:
        """The bytes that one run of it reads; None if unknown."""
        bits = BITS.get(self.begin)
        return None if self.elements is None or bits is None else (self.elements * bits + 7) // 8


class CastCounts(NamedTuple):
    """Counts of Casts.

    :param edges: edges that need a Cast
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


def casts_of(
    prepared: Prepared, choices: list[DtypeChoice], inputs: list[str | None], outputs: list[str | None]
) -> Casts:
    """Return the Casts of a judged graph.

    :param inputs: the dtype of every input slot
    :param outputs: the dtype of every output slot
    """
    graph = prepared.graph
    columns = graph.columns
    merging = Merging(graph, inputs, outputs, prepared.source_slot, prepared.order, _layouts(graph, choices))
    casts: list[Cast] = []
    for edge in merging.inserted():
        consumer = _owner(columns.inputs_of, edge.slot)
        producer = columns.source_node[edge.slot]
        if edge.source != prepared.source_slot[edge.slot]:
            producer = _owner(columns.outputs_of, edge.source)
        constant = columns.types[producer] in _CONSTANTS
        elements = _elements(columns.output_tensors[edge.source].shape)
        ends = producer, edge.source - columns.outputs_of[producer], consumer, edge.slot - columns.inputs_of[consumer]
        casts += [Cast(*ends, begin, end, constant, elements) for begin, end in edge.steps if begin and end]
    rewired = {}
    for moved in merging.rewired():
        consumer, producer = _owner(columns.inputs_of, moved.slot), _owner(columns.outputs_of, moved.now)
        at = moved.slot - columns.inputs_of[consumer]
        rewired[consumer, at] = Producer(producer, moved.now - columns.outputs_of[producer])
    return Casts(casts, merging.removed(), rewired)


def _owner(starts: Sequence[int], slot: int) -> int:
    """Return the node of a slot: the last one that begins at or before it."""
    return bisect_right(starts, slot) - 1


def _elements(shape: tuple[int, ...] | None) -> int | None:
    return None if shape is None or min(shape, default=0) < 0 else prod(shape)


def _layouts(graph: ModelGraph, choices: list[DtypeChoice]) -> Layouts | None:
    inputs: dict[int, str] = {}
    outputs: dict[int, str] = {}
    columns = graph.columns
    for node, choice in enumerate(choices):
        if choice.layouts is not None:
            for formats, starts, found in zip(
                choice.layouts, (columns.inputs_of, columns.outputs_of), (inputs, outputs), strict=True
            ):
                found.update({starts[node] + at: name for at, name in enumerate(formats) if name})
    return Layouts(inputs, outputs) if inputs or outputs else None
