"""The modify_mixlist file: the marks of each op type.

Source: hicann/ge at ffdcbc9f
- compiler/engines/nn_engine/utils/common/config_parser/modify_mixlist_config_parser.cc
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from ..errors import Damaged
from ..text.source import Source
from .policy import LISTS, Mark, Policy, combination, effective, is_legal

if TYPE_CHECKING:
    from ..text.document import Document, Node


def mixlist_content(marks: Mapping[str, frozenset[Mark]]) -> dict[str, dict[str, list[str]]]:
    """Return a mixlist as plain values, names in the given order, without empty lists."""
    lists = {policy: name for name, policy in LISTS.items()}
    marked: dict[str, dict[str, list[str]]] = {}
    for name, each in marks.items():
        for mark in each:
            marked.setdefault(lists[mark.policy], {}).setdefault(mark.action, []).append(name)
    return {name: dict(sorted(marked[name].items())) for name in LISTS if name in marked}


class Mixlist:
    """A mixlist that the engine accepts."""

    def __init__(self, document: Document) -> None:
        """:raises Damaged: if the engine would refuse it; has the first reason"""
        from .mixlist_items import collected_marks, marked_items  # libraries are compared without any mixlist

        self.document = document
        self.source = document.source
        self.root = document.require_root()
        self._require_structure()
        self.items = list(marked_items(self.root))
        self.marks = collected_marks(self.items)
        for item in self.items:
            if not is_legal(self.marks[item.name]):
                said = f"the engine refuses `{item.name}`: {combination(self.marks[item.name])}"
                raise self._damaged(said, item.node)

    @classmethod
    def read(cls, path: str) -> Mixlist:
        """:raises Refused: if the file cannot be read
        :raises Damaged: if the engine would refuse it
        """
        from ..text.scanner import scan

        return cls(scan(Source.read(path)))

    def __repr__(self) -> str:
        return f"<Mixlist {self.path}: {len(self.marks)} op types>"

    @property
    def path(self) -> str:
        return self.source.path

    def marks_of(self, name: str) -> frozenset[Mark]:
        return self.marks.get(name, frozenset())

    def effective(self, name: str, library_policy: Policy) -> Policy:
        """Return the effective policy of an op type that has ``library_policy`` in the library.

        Source: modify_mixlist_config_parser.cc:265-294
        """
        return effective(library_policy, self.marks_of(name))

    def alone(self, name: str) -> Policy | None:
        """Return the policy that the marks set in every library, by a black or white ``to-add``; else None."""
        for policy in (Policy.BLACK, Policy.WHITE):
            if Mark("to-add", policy) in self.marks_of(name):
                return policy
        return None

    def _require_structure(self) -> None:
        from .mixlist_items import structure_faults

        for fault in structure_faults(self.root):
            raise self._damaged(fault.message, fault.node)

    def _damaged(self, message: str, node: Node) -> Damaged:
        place = self.source.place(node.start)
        return Damaged(
            message,
            path=self.source.path,
            line=place.line,
            column=place.column,
            hint="`opsinfo validate` lists all findings",
        )
