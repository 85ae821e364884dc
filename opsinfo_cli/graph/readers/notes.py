"""Counts facts that a reader could not read or had to assume."""

from __future__ import annotations

from collections import Counter

from ..graph import Note


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

    def all(self) -> tuple[Note, ...]:
        """Return the notes, in the order in which they were added."""
        return tuple(Note(kind, message, subject, count) for (kind, message, subject), count in self._counts.items())
