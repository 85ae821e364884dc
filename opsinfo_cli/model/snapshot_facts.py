"""The facts of a snapshot's op types, in both versions of its format.

Version 1 has the dtypes of each side, each once. Version 2 has the columns of every tensor and what else the choice of
dtypes reads from an entry.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cached_property
from typing import TYPE_CHECKING

from ..errors import UsageFault
from ..text.source import Source
from .columns import Listed, TensorColumns, listed_in
from .entry import Entry, EntryFile
from .kernel_facts import MOST_COLUMNS, ColumnSet, column_set_of, columns_in, sections_of
from .policy import Policy
from .snapshot_values import WrongValue, strings_of, value_of, word_of

if TYPE_CHECKING:
    from typing import Any

    from ..text.document import Node
    from .load_fault import Sections


class Fact(Entry):
    """An op type of one store in a snapshot: the policy, and the dtypes that can be chosen."""

    _file: FactsFile

    def __init__(self, file: FactsFile, name: str, policy: Policy, document: Mapping[str, Any]) -> None:
        self._file = file
        self.name = name
        self._policy = policy
        self._document = document

    @property
    def line(self) -> int:
        return self._file.fact_lines[self.name]

    @cached_property
    def listed(self) -> Listed:
        if self._file.sets is not None:
            return listed_in(self.kernel_sections)
        sides = [self._document.get(side) for side in ("inputs", "outputs")]
        inputs, outputs = ([TensorColumns("", "", tuple(side))] if side is not None else [] for side in sides)
        return Listed(inputs, outputs, "static" if inputs or outputs else "kernel")

    @property
    def kernel_sections(self) -> Sections:
        """:raises UsageFault: in version 1, which does not record which tensor has which columns"""
        if self._file.sets is None:
            raise UsageFault(
                "a snapshot of version 1 has no columns",
                name="wrong-kind",
                path=self.path,
                hint="take it again: `opsinfo snapshot TARGET -o FILE`",
            )
        return sections_of(self._document, self._file.sets)

    @property
    def sections(self) -> Sections:
        """:raises UsageFault: always; they were left out"""
        raise UsageFault(
            "a snapshot has no sections, only policies and dtypes",
            name="wrong-kind",
            path=self.path,
            hint="compare the installs themselves",
        )


class FactsFile(EntryFile):
    """One store of a snapshot.

    :ivar sets: the snapshot's columns by key; None in version 1
    """

    def __init__(self, source: Source, index: int, sets: Mapping[str, ColumnSet] | None) -> None:
        super().__init__(source, [])
        self.index = index
        self.sets = sets

    @cached_property
    def fact_lines(self) -> dict[str, int]:
        operators = node_at(self.source, ("stores", self.index, "operators"))
        return {member.name: self.source.place(member.key.start).line for member in operators}


def read_fact(file: FactsFile, op: str, document: dict[str, Any]) -> Fact:
    """:raises WrongValue: if a part of it has the wrong type or value"""
    at = ("stores", file.index, "operators", op)
    policy = Policy(word_of(document, tuple(map(str, Policy)), *at, "policy"))
    for side in ("inputs", "outputs"):
        if file.sets is None:
            strings_of(document, "a dtype must be a string in a snapshot", *at, side)
        elif side in document:
            _require_tensors(file.sets, value_of(document, list, *at, side), *at, side)
    if file.sets is not None:
        strings_of(document, "a flag must be a string in a snapshot", *at, "flags")
        for key in ("pattern", "promote_type"):
            if key in document:
                value_of(document, str, *at, key)
    return Fact(file, op, policy, document)


def read_column_sets(content: Mapping[str, Any]) -> dict[str, ColumnSet]:
    """The columns of a snapshot of version 2, by key.

    :raises WrongValue: if a part of it has the wrong type or value
    """
    sets = {}
    columns = value_of(content, dict, "columns")
    for key in columns:
        document = value_of(columns, dict, "columns", key)
        for name in document:
            if name in ColumnSet._fields and columns_in(value_of(document, str, "columns", key, name)) > MOST_COLUMNS:
                raise WrongValue(f"more than {MOST_COLUMNS} columns", "columns", key, name)
        sets[key] = column_set_of(document)
    return sets


def _require_tensors(sets: Mapping[str, ColumnSet], tensors: list[Any], *steps: str | int) -> None:
    for index, tensor in enumerate(tensors):
        if not isinstance(tensor, list) or len(tensor) < 2 or not all(isinstance(word, str) for word in tensor):
            said = "a tensor must be an array of strings: its name, the key of its columns, and words"
            raise WrongValue(said, *steps, index)
        if tensor[1] and tensor[1] not in sets:
            raise WrongValue(f"`columns` has no `{tensor[1]}`", *steps, index, 1)


def node_at(source: Source, steps: tuple[str | int, ...]) -> Node:
    """The node of a valid snapshot at the end of a path of keys and indexes."""
    from ..text.scanner import scan

    node = scan(source).require_root()
    for step in steps:
        found = node.items[step] if isinstance(step, int) else node.get(step)
        assert found is not None
        node = found
    return node
