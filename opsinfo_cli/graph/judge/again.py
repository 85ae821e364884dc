"""Judges only the parts of a graph that a mixlist changes, for many lists on a large graph."""

from __future__ import annotations

from heapq import heapify, heappop, heappush
from typing import TYPE_CHECKING

from .facts import DtypeChoice
from .modes import judge_mode
from .prepared import JudgeWalk, Prepared
from .sorting import PLAIN

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping
    from typing import TypeAlias

    from ...model.policy import Mark
    from .facts import Seen
    from .prepared import State

    Marks: TypeAlias = Mapping[str, frozenset[Mark]]


class JudgedAgain:
    """A graph judged with base marks, and the changes by other marks.

    :param mode: any name of a mode
    """

    def __init__(self, prepared: Prepared, mode: str, marks: Marks) -> None:
        """:raises UsageFault: if there is no such mode
        :raises ValueError: if :meth:`fits` returns False
        """
        if not fits(prepared):
            raise ValueError("judged as a whole only")
        self.prepared = prepared
        self.base = marks
        self._walk = JudgeWalk(prepared, judge_mode(mode), marks)
        self.choices = self._walk.run().choices
        self._states = self._walk.states()
        self._place = {node: at for at, node in enumerate(prepared.order)}
        self._readers = _readers(prepared)
        self._nodes: dict[str, list[int]] = {}
        for node, op_type in enumerate(prepared.graph.columns.types):
            self._nodes.setdefault(op_type, []).append(node)
        self._kinds: dict[str, list[int]] = {}
        for kind, facts in enumerate(prepared.kinds):
            self._kinds.setdefault(facts.op_type, []).append(kind)

    def changed(self, marks: Marks) -> dict[int, DtypeChoice] | None:
        """Return the choices of nodes whose dtypes differ from those with the base marks.

        :returns: None if the marks of Cast differ: gray consumers then look through every Cast
        :raises ValueError: if the engine refuses the marks of an op type
        """
        types = {name for name in {*marks, *self.base} if marks.get(name) != self.base.get(name)}
        if "Cast" in types:
            return None
        states = {
            kind: self.prepared.state_of(kind, self._walk.policies(kind, marks), self._walk.setting)
            for name in types
            for kind in self._kinds.get(name, ())
        }
        visited = self._visit((node for name in types for node in self._nodes.get(name, ())), states)
        found = {}
        for node, (before, seen) in visited.items():
            after = self.choices[node]
            if (after.inputs, after.outputs) != (before.inputs, before.outputs):
                found[node] = after
            self.choices[node] = before
            first = self.prepared.graph.columns.outputs_of[node]
            self._walk.seen[first : first + len(seen)] = seen
        return found

    def _visit(
        self, nodes: Iterable[int], states: Mapping[int, State]
    ) -> dict[int, tuple[DtypeChoice, list[str | Seen | None]]]:
        """Judge nodes and the readers of changed outputs, in the engine's order.

        :returns: the previous choice and output dtypes of each node that was judged
        """
        order, place, walk = self.prepared.order, self._place, self._walk
        inputs_of, outputs_of = self.prepared.graph.columns.inputs_of, self.prepared.graph.columns.outputs_of
        waiting = [place[node] for node in nodes]
        heapify(waiting)
        before: dict[int, tuple[DtypeChoice, list[str | Seen | None]]] = {}
        while waiting:
            node = order[heappop(waiting)]
            if node in before:
                continue
            kind, first, end = self.prepared.kind_of[node], outputs_of[node], outputs_of[node + 1]
            before[node] = self.choices[node], walk.seen[first:end]
            state = states[kind] if kind in states else self._states[kind]
            slots = self.prepared.source_slot[inputs_of[node] : inputs_of[node + 1]]
            if isinstance(state, DtypeChoice):
                self.choices[node] = state
            else:
                feeds = tuple([walk.seen[slot] for slot in slots])
                self.choices[node] = state.choices.get(feeds) or walk.chosen(state, feeds)
            walk.seen[first:end] = self.choices[node].outputs
            if self.prepared.acts[node] != PLAIN:
                walk.act(node, self.prepared.acts[node])
            for slot, old in zip(range(first, end), before[node][1], strict=True):
                if walk.seen[slot] != old:
                    for reader in self._readers.get(slot, ()):
                        heappush(waiting, place[reader])
        return before


def fits(prepared: Prepared) -> bool:
    """Return whether each node depends only on nodes before it: no bodies, no loops, no continuous outputs."""
    columns = prepared.graph.columns
    if prepared.relations is not None or any(tensor.continuous for tensor in columns.output_tensors):
        return False
    seen: set[int] = set()
    for node in prepared.order:
        if any(source >= 0 and source not in seen for source in columns.source_node[_inputs(prepared, node)]):
            return False
        seen.add(node)
    return True


def _inputs(prepared: Prepared, node: int) -> slice:
    columns = prepared.graph.columns
    return slice(columns.inputs_of[node], columns.inputs_of[node + 1])


def _readers(prepared: Prepared) -> dict[int, list[int]]:
    """Return the nodes that each output slot feeds."""
    found: dict[int, list[int]] = {}
    for node in range(len(prepared.graph)):
        for slot in prepared.source_slot[_inputs(prepared, node)]:
            found.setdefault(slot, []).append(node)
    return found
