"""A parsed JSON text: nodes with their spans, and the faults of the text."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, NamedTuple

from ..errors import Damaged
from .json_values import after_blanks
from .source import Source

if TYPE_CHECKING:
    from .patch import Edit


class Fault(NamedTuple):
    """A fault of the text.

    :param name: the name of the finding: syntax, comment, trailing-comma, missing-comma, empty-file
    :param fix: the edit that fixes it, if there is one
    """

    name: str
    message: str
    start: int
    end: int
    fix: Edit | None = None


class Node:
    """A JSON value and its span. ``kind`` is object, array, string, number or literal."""

    __slots__ = ("_by", "end", "items", "kind", "members", "start", "value")

    def __init__(self, kind: str, start: int, end: int = 0, value: str | bool | None = None) -> None:
        self.kind = kind
        self.start = start
        self.end = end
        self.value = value
        self.members: list[Member] = []
        self.items: list[Node] = []
        self._by: tuple[Callable[[str], str], dict[str, Member]] | None = None

    def __iter__(self) -> Iterator[Member]:
        return iter(self.members)

    def get(self, key: str) -> Node | None:
        """Return the value that the engine reads: the last of equal keys."""
        member = self.by(str).get(key)
        return member.value if member else None

    def by(self, fold: Callable[[str], str]) -> dict[str, Member]:
        """Return the members by folded key, cached for one ``fold``.

        Of different keys that fold to the same one, the first in byte order is used; of equal keys, the last.
        """
        if self._by is None or self._by[0] is not fold:
            found: dict[str, Member] = {}
            for member in self.members:
                key = fold(member.name)
                if member.name <= found.setdefault(key, member).name:
                    found[key] = member
            self._by = fold, found
        return self._by[1]

    def plain(self) -> object:
        """Return the value without spans, with the last of equal keys, as in the engine. Numbers become floats."""
        if self.kind == "object":
            return {member.name: member.value.plain() for member in self.members}
        if self.kind == "array":
            return [item.plain() for item in self.items]
        if self.kind == "number":
            return float(str(self.value))
        return self.value


class Member(NamedTuple):
    """A key and its value; ``key`` is a string node."""

    key: Node
    value: Node

    @property
    def name(self) -> str:
        return str(self.key.value)


class Document(NamedTuple):
    """The result of a scan: ``root`` is None if the scan stopped at a fault."""

    source: Source
    root: Node | None
    faults: list[Fault]
    end: int
    """Offset after the first value; the engine never reads what follows it."""

    @property
    def tail(self) -> int | None:
        """The offset of text after the first value; None if there is none."""
        at = after_blanks(self.source.text, self.end)
        return at if at < len(self.source.text) and self.root is not None else None

    def require_root(self) -> Node:
        """Return the root.

        :raises Damaged: if the text has faults; has the place of the first one
        """
        if self.faults or self.root is None:
            fault = self.faults[0]
            place = self.source.place(fault.start)
            fixable = all(each.fix for each in self.faults)
            raise Damaged(
                fault.message,
                path=self.source.path,
                line=place.line,
                column=place.column,
                hint="`opsinfo fmt` fixes this" if fixable else None,
            )
        return self.root
