"""Findings on a mixlist: its structure and its marks."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property

from ..model.mixlist import Marked, StructureFault, collected_marks, marked_items, structure_faults
from ..model.near_names import did_you_mean
from ..model.policy import ACTIONS, LISTS, Mark, combination, is_legal, policy_meant
from ..text.layout import drop_part, quote
from ..text.patch import Edit
from ..text.scanner import Document, Node
from ..text.source import Source
from .finding import Finding, Fix, at
from .text import bom, duplicate_keys, faults, pointer_to, trailing_text


@dataclass
class Reading:
    """The content of the well-formed parts of a mixlist."""

    source: Source
    root: Node

    @cached_property
    def items(self) -> list[Marked]:
        return list(marked_items(self.root, by_near_keys=True))

    @cached_property
    def marks(self) -> dict[str, frozenset[Mark]]:
        return collected_marks(self.items)

    @cached_property
    def _named(self) -> dict[str, list[Marked]]:
        named: dict[str, list[Marked]] = {}
        for item in self.items:
            named.setdefault(item.name, []).append(item)
        return named

    @cached_property
    def _first(self) -> dict[str, Marked]:
        return {item.name: item for item in reversed(self.items)}

    @cached_property
    def _with_mark(self) -> dict[tuple[str, Mark], Marked]:
        return {(item.name, item.mark): item for item in reversed(self.items)}

    @cached_property
    def _last(self) -> dict[str, Marked]:
        return {item.name: item for item in sorted(self.items, key=lambda item: item.node.start)}

    def at(
        self,
        name: str,
        item: Marked,
        message: str,
        hint: str | None = None,
        severity: str = "",
        fix: Fix | None = None,
    ) -> Finding:
        span, pointer = (item.node.start, item.node.end), pointer_to(*item.keys, item.place)
        return at(name, self.source, span, message, pointer=pointer, hint=hint, severity=severity, fix=fix)

    def dropping(self, item: Marked) -> Fix:
        """Return the fix that removes an item from its array."""
        return Fix((drop_part(item.array, item.place),))

    def renaming(self, name: str, near: str) -> Fix | None:
        """Return the fix that renames every occurrence of an op type; None if the engine would refuse the result."""
        if not is_legal(self.marks[name] | self.marks.get(near, frozenset())):
            return None
        edits = tuple(Edit(item.node.start, item.node.end, quote(near)) for item in self._named[name])
        return Fix(edits, is_safe=False, renames=(name, near))

    def first(self, name: str) -> Marked:
        return self._first[name]

    def last(self, name: str) -> Marked:
        return self._last[name]

    def with_mark(self, name: str, mark: Mark) -> Marked:
        return self._with_mark[name, mark]


def check_mixlist(document: Document) -> Iterator[Finding]:
    """Yield all findings on a mixlist that need no library."""
    source = document.source
    yield from bom(source, fixable=True)
    yield from faults(document, fixable=True)
    if document.root is None:
        return
    yield from trailing_text(source, document.end, fixable=True)
    yield from duplicate_keys(source, document.root, fixable=True)
    yield from structure(source, document.root)
    reading = Reading(source, document.root)
    yield from contradictions(reading)
    yield from duplicate_operators(reading)
    yield from gray_to_add_alone(reading)


def structure(source: Source, root: Node) -> Iterator[Finding]:
    """Yield wrong-type, unknown-list and unknown-action; a near key can be renamed."""
    for fault in structure_faults(root):
        fix, hint = None, None
        if fault.name != "wrong-type":
            hint = _hint_at_key(fault)
            fix = _renaming_key(fault)
        span = fault.node.start, fault.node.end
        yield at(fault.name, source, span, fault.message, pointer=pointer_to(*fault.steps), hint=hint, fix=fix)


def _renaming_key(fault: StructureFault) -> Fix | None:
    if fault.meant is None:
        return None
    edit = Edit(fault.node.start, fault.node.end, quote(fault.meant))
    return Fix((edit,), is_safe=False, renames_key=(str(fault.steps[-1]), fault.meant))


def _hint_at_key(fault: StructureFault) -> str:
    key = str(fault.steps[-1])
    if key == "$schema":
        return "set the schema in the editor's settings instead; the engine accepts no other key"
    known = ACTIONS if fault.name == "unknown-action" else LISTS
    policy = policy_meant(key)
    if policy and fault.name == "unknown-list":
        return f"did you mean `{policy}-list`?"
    return did_you_mean(key, known) or "use one of " + ", ".join(f"`{word}`" for word in known)


def contradictions(reading: Reading) -> Iterator[Finding]:
    """Yield contradiction, at the last mark of an op type, which makes the combination illegal."""
    for name, marks in reading.marks.items():
        if not is_legal(marks):
            said = f"`{name}`: the engine refuses {combination(marks)} (E20003)"
            yield reading.at("contradiction", reading.last(name), said, _way_out(marks))


def _way_out(marks: frozenset[Mark]) -> str:
    adds = [mark for mark in marks if mark.action == "to-add"]
    if len(adds) > 1:
        return "keep the `to-add` of one list only"
    if combination(marks) == "remove gray":
        return "to remove it from gray, add it to another list"
    return "use one `to-add`, and at most one `to-remove` of another list"


def duplicate_operators(reading: Reading) -> Iterator[Finding]:
    seen = set()
    for item in reading.items:
        if (item.name, item.mark) in seen:
            said = f"`{item.name}` appears twice in this array"
            yield reading.at("duplicate-operator", item, said, fix=reading.dropping(item))
        seen.add((item.name, item.mark))


def gray_to_add_alone(reading: Reading) -> Iterator[Finding]:
    """Yield no-effect for a gray `to-add` alone, which needs no library."""
    for name, marks in reading.marks.items():
        if combination(marks) == "add gray":
            said = f"`{name}` keeps the library's policy: a gray-list `to-add` alone has no effect"
            hint = "to make it gray, add it to `to-remove` of the list it is on"
            yield reading.at("no-effect", reading.first(name), said, hint)
