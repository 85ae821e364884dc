"""Counts facts that a reader could not read or had to assume."""

from __future__ import annotations

from collections import Counter

from ...typed import TYPE_CHECKING
from ..graph import Note

if TYPE_CHECKING:
    from .source import SourceGraph


class Notes:
    """Collects notes; a repeated note counts another node."""

    def __init__(self) -> None:
        self._counts: Counter[tuple[str, str, str]] = Counter()

    def add(self, kind: str, message: str, subject: str = "", nodes: int = 1) -> None:
        """Add a note.

        :param kind: a slug
        :param subject: the operator, domain, file or function
        """
        self._counts[kind, message, subject] += nodes

    def unknown_dtypes(self, graph: SourceGraph) -> None:
        """Report how many nodes have an output that is read and has no known dtype."""
        count = 0
        for each in graph.walk():
            known = each.tensors
            if all(value in known and known[value].dtype for node in each.nodes for value in node.outputs):
                continue
            read = {value for node in each.nodes for value in node.inputs} | set(each.outputs)
            for node in each.nodes:
                count += any(value in read and each.tensor(value).dtype is None for value in node.outputs)
        if count:
            self.add("unknown-dtype", "dtypes of these nodes are unknown: the file does not have them", nodes=count)

    def all(self) -> tuple[Note, ...]:
        """Return the notes, in the order in which they were added."""
        return tuple(Note(kind, message, subject, count) for (kind, message, subject), count in self._counts.items())
