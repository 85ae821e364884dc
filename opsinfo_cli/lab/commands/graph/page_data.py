"""A judged graph as columns for the script of a page: repeated values are stored once and referenced by number."""

from __future__ import annotations

from typing import TYPE_CHECKING, Generic, TypeVar

from ....core.cann.dtype_names import leading_dtype
from ....core.terminal.page import dtype_class
from ....core.text.escape import visible
from ...graph.graph import NOT_COMPUTED

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence
    from typing import Any

    from ...graph.casts import Cast
    from ...graph.document import NodeAnswer
    from ...graph.read_back import ReadBack
    from ...graph.result import AnswerComparison, GraphAnswer

Value = TypeVar("Value")


class Numbered(Generic[Value]):
    """Values, numbered in the order of their first use."""

    def __init__(self) -> None:
        self.values: list[Value] = []
        self._numbers: dict[Value, int] = {}

    def number(self, value: Value) -> int:
        found = self._numbers.get(value)
        if found is None:
            found = self._numbers[value] = len(self.values)
            self.values.append(value)
        return found


class PageColumns:
    """The columns of an outcome.

    :param order: node indexes in the order of the ribbon
    """

    def __init__(self, outcome: GraphAnswer, order: Sequence[int]) -> None:
        self.outcome = outcome
        self.order = order
        self.states: Numbered[tuple[Any, ...]] = Numbered()
        self.reasons: Numbered[tuple[str, str]] = Numbered()
        self.state: list[int] = []
        self.reason: list[int] = []
        self.follows: list[int] = []
        for index, row in enumerate(outcome):
            self.state.append(self.state_of(row))
            reason, follows = self.reason_of(index, row)
            self.reason.append(reason)
            self.follows.append(follows)
        self.leading = [_leading(state) for state in self.states.values]

    def state_of(self, row: NodeAnswer) -> int:
        dtypes = row.inputs, row.outputs, row.original_inputs, row.original_outputs
        return self.states.number((*dtypes, row.policy, row.runs, row.confidence, row.type not in NOT_COMPUTED))

    def reason_of(self, index: int, row: NodeAnswer) -> tuple[int, int]:
        """Return the number of the reason, and the distance back to the node that decided; 0: there is none."""
        decided = row.decided_by
        if decided is None:
            return self.reasons.number((row.why, "")), 0
        before, _, after = row.why.partition(f"`{decided.node}`")
        return self.reasons.number((before, after)), index - decided.source.node

    def dtypes(self) -> list[str | None]:
        """Return the dtype shown for each node, in the order of the ribbon."""
        return [self.leading[self.state[index]] for index in self.order]

    def document(self) -> dict[str, Any]:
        graph = self.outcome.graph
        types: Numbered[str] = Numbered()
        return {
            "mode": self.outcome.mode_name,
            **_names(graph.names),
            "type": [types.number(op_type) for op_type in graph.types],
            "types": list(map(visible, types.values)),
            "idle": [number for number, op_type in enumerate(types.values) if op_type in NOT_COMPUTED],
            "state": self.state,
            "states": [
                [
                    *([dtype and visible(dtype) for dtype in side] for side in state[:4]),
                    *state[4:7],
                    dtype_class(leading),
                ]
                for state in self.states.values
                for leading in [_leading(state)]
            ],
            "reason": self.reason,
            "reasons": [[visible(part) for part in parts] for parts in self.reasons.values],
            "follows": self.follows,
            **self._edges(),
            "order": None if self.order == range(len(graph)) else list(self.order),
            "subgraphs": [[visible(subgraph.name), subgraph.nodes.start] for subgraph in graph.subgraphs[1:]],
            "casts": _casts(self.outcome.casts if self.outcome.mode_name is not None else ()),
            "castNodes": sorted(self.outcome.inserted),
            "removed": sorted(self.outcome.removed),
        }

    def _edges(self) -> dict[str, Any]:
        """Return the distance back to the producer of every input slot (0: none), and the output numbers other than 0.

        An input that bypasses a removed Cast of the user has the new producer.
        """
        source: list[int] = []
        outputs: dict[int, int] = {}
        rewired = self.outcome.rewired
        for node in self.outcome.graph:
            for number, before in enumerate(node.sources):
                producer = rewired.get((node.index, number), before) if rewired else before
                if producer is not None and producer.output:
                    outputs[len(source)] = producer.output
                source.append(0 if producer is None else node.index - producer.node)
        return {"source": source, "output": outputs}

    def comparison(self, found: AnswerComparison) -> dict[str, Any]:
        """Return the differences of another answer: state and reason of nodes by index, and added and removed Casts."""
        nodes = [(b.index, self.state_of(b), *self.reason_of(b.index, b)) for _, b in found.changed]
        index, state, reason, follows = map(list, zip(*nodes, strict=True)) if nodes else ([], [], [], [])
        return {
            "changed": {"index": index, "state": state, "reason": reason, "follows": follows},
            "castsGone": _casts(found.casts_gone),
            "castsAdded": _casts(found.casts_added),
        }

    def read_back(self, found: ReadBack) -> dict[str, Any]:
        """Return the dtypes of the compiled model for nodes that differ, and why others were not compared."""
        differs = {
            index: [visible(node.name), visible(node.type), node.compiled.inputs, node.compiled.outputs]
            for node in found.differs
            if (index := self._index(node.row.name)) is not None
        }
        unmatched = {
            index: node.why
            for node in found.unmatched
            if node.side == "predicted" and (index := self._index(node.name)) is not None
        }
        return {"differs": differs, "unmatched": unmatched}

    def _index(self, name: str) -> int | None:
        found = self.outcome.graph.find(name)
        return None if found is None else found.index


def _leading(state: tuple[Any, ...]) -> str | None:
    """Return the dtype that a node is drawn in; None: it computes nothing, or has no dtype."""
    return leading_dtype(*state[:2]) if state[-1] else None


def _names(names: Iterable[str]) -> dict[str, Any]:
    """Return names in two parts, up to the last slash and after it: most nodes share both parts with others."""
    folders: Numbered[str] = Numbered()
    bases: Numbered[str] = Numbered()
    numbers = []
    for name in names:
        folder, slash, base = name.rpartition("/")
        numbers.append((folders.number(folder + slash), bases.number(base)))
    return {
        "folders": list(map(visible, folders.values)),
        "bases": list(map(visible, bases.values)),
        "folder": [folder for folder, _ in numbers],
        "base": [base for _, base in numbers],
    }


def _casts(casts: Iterable[Cast]) -> Mapping[str, list[Any]]:
    """Return Casts by their input slot; ``kind`` is the number of [from, to, folded]."""
    kinds: Numbered[tuple[str, str, bool]] = Numbered()
    found = [(cast.consumer, cast.input, kinds.number((cast.begin, cast.end, cast.constant))) for cast in casts]
    node, number, kind = map(list, zip(*found, strict=True)) if found else ([], [], [])
    return {"node": node, "input": number, "kind": kind, "kinds": [list(kind) for kind in kinds.values]}
