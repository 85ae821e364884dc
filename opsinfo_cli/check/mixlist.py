"""Findings on a mixlist: its structure by the schema, its marks by the engine's rules."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property

from ..model.mixlist import Marked, marked_items
from ..model.near_names import did_you_mean
from ..model.policy import ACTIONS, LISTS, Mark, combination, is_legal, policy_meant
from ..text.layout import drop_item, quote
from ..text.patch import Edit
from ..text.scanner import Document, Node
from ..text.source import Source
from .finding import Finding, Fix, at
from .schema import structure_errors, validator_for
from .text import bom, duplicate_keys, faults, pointer_to, trailing_text


@dataclass
class Reading:
    """What the well-formed parts of a mixlist say, tolerantly."""

    source: Source
    root: Node

    @cached_property
    def items(self) -> list[Marked]:
        return list(marked_items(self.root))

    @cached_property
    def marks(self) -> dict[str, frozenset[Mark]]:
        collected: dict[str, set[Mark]] = {}
        for item in self.items:
            collected.setdefault(item.name, set()).add(item.mark)
        return {name: frozenset(marks) for name, marks in collected.items()}

    @cached_property
    def _seats(self) -> dict[int, tuple[str, Node, int]]:
        """Offset of every item -> its JSON pointer, its array, its index there."""
        seats: dict[int, tuple[str, Node, int]] = {}
        for list_name in LISTS:
            for action in ACTIONS:
                marks = self.root.get(list_name) if self.root.kind == "object" else None
                array = marks.get(action) if marks and marks.kind == "object" else None
                if array is not None:
                    for index, node in enumerate(array.items):
                        seats[node.start] = pointer_to(list_name, action, index), array, index
        return seats

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
        span, pointer = (item.node.start, item.node.end), self._seats[item.node.start][0]
        return at(name, self.source, span, message, pointer=pointer, hint=hint, severity=severity, fix=fix)

    def dropping(self, item: Marked) -> Fix:
        """The fix that takes an item out of its array."""
        _, array, index = self._seats[item.node.start]
        return Fix((drop_item(array, index),))

    def renaming(self, name: str, near: str) -> Fix | None:
        """The fix that gives an op type another name wherever it stands; None where the engine would refuse that."""
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
    """Everything that can be said of a mixlist without a library."""
    source = document.source
    yield from bom(source, mends=True)
    yield from faults(document, mends=True)
    if document.root is None:
        return
    yield from trailing_text(source, document.end, mends=True)
    yield from duplicate_keys(source, document.root, mends=True)
    yield from structure(source, document.root)
    reading = Reading(source, document.root)
    yield from contradictions(reading)
    yield from duplicate_operators(reading)
    yield from gray_to_add_alone(reading)


def structure(source: Source, root: Node) -> Iterator[Finding]:
    """wrong-type, unknown-list, unknown-action."""
    for name, path, error in structure_errors(validator_for("mixlist"), root.plain()):
        node = _node_at(root, path)
        pointer = pointer_to(*path)
        if name in ("unknown-list", "unknown-action"):
            key = node.by(str)[error.instance].key
            said, hint = _unknown_key(name, str(error.instance))
            yield at(name, source, (key.start, key.end), said, pointer=pointer_to(*path, error.instance), hint=hint)
        else:
            said = f"the engine expects {_an(error.validator_value)} here, not {_an(_kind(node))}"
            yield at(name, source, (node.start, node.end), said, pointer=pointer)


def _unknown_key(name: str, key: str) -> tuple[str, str | None]:
    if name == "unknown-action":
        return f"`{key}` is no action; the engine refuses the file", did_you_mean(key, ACTIONS) or _one_of(ACTIONS)
    meant = policy_meant(key)
    hint = f"did you mean `{meant}-list`?" if meant else did_you_mean(key, LISTS)
    if key == "$schema":
        hint = "bind the schema in the editor's settings; the engine takes no other key"
    return f"`{key}` is no list; the engine refuses the file", hint or _one_of(LISTS)


def _one_of(words: object) -> str:
    return "there are " + ", ".join(f"`{word}`" for word in list(words))  # type: ignore[call-overload]


def _node_at(root: Node, path: tuple[str | int, ...]) -> Node:
    node = root
    for step in path:
        node = node.items[step] if isinstance(step, int) else node.get(step) or node
    return node


def _kind(node: Node) -> str:
    return {True: "true", False: "false", None: "null"}[node.value] if node.kind == "literal" else node.kind  # type: ignore[index]


def _an(kind: object) -> str:
    word = str(kind)
    if word in ("true", "false", "null"):
        return f"`{word}`"
    return f"an {word}" if word[0] in "aeiou" else f"a {word}"


def contradictions(reading: Reading) -> Iterator[Finding]:
    """At the last mark of an op type, which is the one that makes the combination illegal."""
    for name, marks in reading.marks.items():
        if not is_legal(marks):
            said = f"`{name}`: the engine refuses the combination {combination(marks)} (E20003)"
            yield reading.at("contradiction", reading.last(name), said, _way_out(marks))


def _way_out(marks: frozenset[Mark]) -> str:
    adds = [mark for mark in marks if mark.action == "to-add"]
    if len(adds) > 1:
        return "keep the `to-add` of one list only"
    if combination(marks) == "remove gray":
        return "an op type leaves gray by being added to another list"
    return "one `to-add`, and at most one `to-remove` of another list"


def duplicate_operators(reading: Reading) -> Iterator[Finding]:
    seen = set()
    for item in reading.items:
        if (item.name, item.mark) in seen:
            said = f"`{item.name}` stands in this array already"
            yield reading.at("duplicate-operator", item, said, fix=reading.dropping(item))
        seen.add((item.name, item.mark))


def gray_to_add_alone(reading: Reading) -> Iterator[Finding]:
    """no-effect, the half of it that needs no library."""
    for name, marks in reading.marks.items():
        if combination(marks) == "add gray":
            said = f"`{name}` stays where the library has it: a gray-list to-add alone does nothing"
            hint = "to make it gray, put it into `to-remove` of the list it is on"
            yield reading.at("no-effect", reading.first(name), said, hint)
