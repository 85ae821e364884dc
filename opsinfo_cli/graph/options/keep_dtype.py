"""The keep_dtype file: nodes, or all nodes of an op type, that keep their dtype.

A line is the name of a node or ``OpType::TYPE``; there are no comments. Source: hicann/ge ffdcbc9f,
compiler/api/aclgrph/attr_options/keep_dtype_option.cc:20-125 and utils.cc:18-65.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, NamedTuple

from ...model.policy import BLANKS
from .lines import OptionFileFault, lines_of, refuse

if TYPE_CHECKING:
    from ..graph import ModelGraph


_TYPE = "OpType::"
_PASCAL_CASE = re.compile(r"[A-Z][a-zA-Z0-9]*")


class KeptName(NamedTuple):
    """One line: the name of a node or an op type."""

    name: str
    is_type: bool
    line: int


class KeepDtype:
    """The content of a keep_dtype file.

    :ivar names: its lines in order, empty ones left out
    """

    def __init__(self, lines: list[str], path: str = "keep_dtype") -> None:
        self.path = path
        self.names: list[KeptName] = []
        for number, text in enumerate(lines, 1):
            if text:
                name = text.strip(BLANKS)
                self.names.append(KeptName(name.removeprefix(_TYPE), name.startswith(_TYPE), number))

    @classmethod
    def read(cls, path: str) -> KeepDtype:
        """:raises Refused: if the file cannot be read"""
        return cls(lines_of(path), path)

    def marks(self, graph: ModelGraph) -> frozenset[int]:
        """Return indexes of the listed nodes, by their own name or that of the only operator they come from.

        The compiler marks the parsed graph, before fusion, and no public pass passes the mark on to a fused node.

        :raises Damaged: if the compiler refuses the file; see :meth:`faults`
        """
        refuse(self.faults(graph), self.path)
        names = {each.name for each in self.names if not each.is_type}
        types = {each.name for each in self.names if each.is_type}
        return frozenset(
            node.index
            for node in graph
            if node.name in names or node.type in types or (len(node.fused_from) == 1 and node.fused_from[0] in names)
        )

    def faults(self, graph: ModelGraph) -> list[OptionFileFault]:
        """Return lines without a match in the graph: the compiler warns, or refuses an op type not in PascalCase."""
        names = set(graph.names).union(*(node.fused_from for node in graph if node.fused_from))
        types = set(graph.types)
        found = []
        for each in self.names:
            if each.name in (types if each.is_type else names):
                continue
            refuses = each.is_type and not _PASCAL_CASE.fullmatch(each.name)
            what = "op type" if each.is_type else "node"
            message = f"the graph has no {what} `{each.name}`" if each.name else "a blank line"
            hint = "the file has no comments" if each.name.startswith("#") else None
            if refuses:
                message += "; the compiler refuses the file, because an op type must be in PascalCase"
            found.append(OptionFileFault("not-in-model", each.line, 1, message, refuses, hint))
        return found
