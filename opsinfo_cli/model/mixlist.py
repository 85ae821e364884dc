"""The modify_mixlist file: which marks each op type carries (engine.md 2.4, 2.5)."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from ..errors import Damaged
from ..text.scanner import Document, Node, scan
from ..text.source import Source
from ..typed import NamedTuple
from .policy import ACTIONS, LISTS, Mark, Policy, combination, effective, is_legal


class Marked(NamedTuple):
    """One string in one array: the mark it gives and where it stands."""

    name: str
    mark: Mark
    node: Node


def marked_items(root: Node) -> Iterator[Marked]:
    """What well-formed parts of a mixlist say. Of equal keys the engine reads the last."""
    for list_name, policy in LISTS.items():
        marks = root.get(list_name) if root.kind == "object" else None
        for action in ACTIONS:
            names = marks.get(action) if marks and marks.kind == "object" else None
            for node in names.items if names and names.kind == "array" else ():
                if node.kind == "string":
                    yield Marked(str(node.value), Mark(action, policy), node)


def mixlist_content(marks: Mapping[str, frozenset[Mark]]) -> dict[str, dict[str, list[str]]]:
    """A mixlist as plain values, names in the order given; lists that would be empty are left out."""
    lists = {policy: name for name, policy in LISTS.items()}
    marked: dict[str, dict[str, list[str]]] = {}
    for name, each in marks.items():
        for mark in each:
            marked.setdefault(lists[mark.policy], {}).setdefault(mark.action, []).append(name)
    return {name: dict(sorted(marked[name].items())) for name in LISTS if name in marked}


class Mixlist:
    """A mixlist that the engine accepts."""

    def __init__(self, document: Document) -> None:
        """:raises Damaged: where the engine would refuse it, with the first reason"""
        self.document = document
        self.source = document.source
        self.root = document.require_root()
        self._require_structure()
        self.items = list(marked_items(self.root))
        collected: dict[str, set[Mark]] = {}
        for item in self.items:
            collected.setdefault(item.name, set()).add(item.mark)
        self.marks = {name: frozenset(marks) for name, marks in collected.items()}
        for item in self.items:
            if not is_legal(self.marks[item.name]):
                said = f"the engine refuses `{item.name}`: {combination(self.marks[item.name])}"
                raise self._damaged(said, item.node)

    @classmethod
    def read(cls, path: str) -> Mixlist:
        """:raises Refused: where the file cannot be read; :raises Damaged: where the engine would refuse it"""
        return cls(scan(Source.read(path)))

    def __repr__(self) -> str:
        return f"<Mixlist {self.path}: {len(self.marks)} op types>"

    @property
    def path(self) -> str:
        return self.source.path

    def marks_of(self, name: str) -> frozenset[Mark]:
        return self.marks.get(name, frozenset())

    def effective(self, name: str, library_policy: Policy) -> Policy:
        """The policy of an op type that the library has on ``library_policy`` (MIX:265-294)."""
        return effective(library_policy, self.marks_of(name))

    def alone(self, name: str) -> Policy | None:
        """The policy that the marks decide whatever the library says: only a black or white ``to-add`` does."""
        for policy in (Policy.BLACK, Policy.WHITE):
            if Mark("to-add", policy) in self.marks_of(name):
                return policy
        return None

    def _require_structure(self) -> None:
        if self.root.kind != "object":
            raise self._damaged("a mixlist must be an object", self.root)
        for each in self.root:
            if each.name not in LISTS:
                raise self._damaged(f"the engine knows no list `{each.name}`", each.key)
            if each.value.kind != "object":
                raise self._damaged(f"`{each.name}` must be an object", each.value)
            for action in each.value:
                if action.name not in ACTIONS:
                    raise self._damaged(f"the engine knows no action `{action.name}`", action.key)
                if action.value.kind != "array":
                    raise self._damaged(f"`{each.name}.{action.name}` must be an array", action.value)
                for item in action.value.items:
                    if item.kind != "string":
                        raise self._damaged("an op type must be a string", item)

    def _damaged(self, message: str, node: Node) -> Damaged:
        place = self.source.place(node.start)
        return Damaged(
            message,
            path=self.source.path,
            line=place.line,
            column=place.column,
            hint="`opsinfo validate` shows everything that is wrong",
        )
