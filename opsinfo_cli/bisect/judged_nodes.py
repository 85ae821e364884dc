"""The effect of sets of kept nodes on a model's graph, for the search among the nodes of the culprit types."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ..graph.judge.prepared import Prepared
from ..graph.judge.sorting import Marks as NodeMarks
from ..graph.judging import Ready
from ..graph.options.keep_dtype import KeepDtype

if TYPE_CHECKING:
    from collections.abc import Iterable

    from .judged_sets import JudgedSets


class JudgedNodes:
    """Judges a graph with nodes that keep their dtype.

    :param sets: the same graph, mode and base list
    """

    def __init__(self, sets: JudgedSets) -> None:
        self.sets = sets
        self._digests: dict[frozenset[str], str] = {}

    def low_nodes(self, types: Iterable[str]) -> list[str]:
        """Names of the nodes of op types that the base list leaves low, in the order of the graph."""
        base, wanted = self.sets.answer(frozenset()), set(types)
        return [node.name for node in self.sets.graph if node.type in wanted and base[node.index].low]

    def ready(self, nodes: Iterable[str]) -> Ready:
        """Return the graph with these nodes kept, prepared for judging."""
        prepared = self.sets.ready.prepared
        kept = KeepDtype(sorted(nodes)).marks(prepared.graph)
        judged_anew = Prepared(prepared.graph, prepared.kernels, NodeMarks(kept, {}), prepared.fp16_types)
        return Ready(judged_anew, self.sets.ready.considered)

    def digest(self, nodes: frozenset[str]) -> str:
        """As :meth:`JudgedSets.digest`."""
        found = self._digests.get(nodes)
        if found is None:
            answer = self.ready(nodes).judge(self.sets.mode, self.sets.base)
            found = self._digests[nodes] = self.sets.digest_of(answer)
        return found
