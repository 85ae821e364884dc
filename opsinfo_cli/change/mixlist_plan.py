"""Moves on a mixlist: the edits that give op types other marks. Pure."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

from ..errors import Refused, UsageFault
from ..model.mixlist import Mixlist
from ..model.policy import ACTIONS, LISTS, Mark, Policy, marks_for
from ..text.layout import Style, add_item, add_member, drop_item, drop_member, style_of
from ..text.patch import Edit, Patch, splice
from ..text.scanner import Node, scan
from ..text.source import Source
from .moves import Move, proof_failed

__all__ = ["MixlistPlan", "edits_between", "mixlist_patch"]

_LIST_OF = {policy: name for name, policy in LISTS.items()}


class MixlistPlan(NamedTuple):
    """Op types to be put on a list by marks.

    :param library: the policy of each op type in the target they are moved against; None where none was given
    """

    names: tuple[str, ...]
    to: Policy
    library: Mapping[str, Policy] | None = None

    def marks(self, mixlist: Mixlist) -> dict[str, frozenset[Mark]]:
        """The marks each op type is to carry.

        :raises UsageFault: where gray is asked for and neither marks nor a library tell how to get there
        """
        if self.library is not None:
            return {name: marks_for(self.library[name], self.to) for name in self.names}
        if self.to is not Policy.GRAY:
            return {name: frozenset({Mark("to-add", self.to)}) for name in self.names}
        without = [name for name in self.names if not mixlist.marks_of(name)]
        if without:
            raise UsageFault(
                f"`{without[0]}` has no marks here; whether gray needs one depends on the library's list",
                name="gray-needs-library",
                path=mixlist.path,
                hint="say --against TARGET",
            )
        return {name: frozenset() for name in self.names}

    def moves(self, source: Source) -> list[Move]:
        mixlist = _accepted(source)
        moves = []
        for name, marks in self.marks(mixlist).items():
            if self.library is not None:
                policy = self.library[name]
                moves.append(Move(name, mixlist.effective(name, policy), self.to))
            else:
                moves.append(Move(name, mixlist.alone(name), self.to if marks else None))
        return moves

    def patch(self, source: Source) -> Patch:
        return mixlist_patch(source, self.marks(_accepted(source)))

    def prove(self, source: Source, result: Source) -> None:
        before, after = _accepted(source), _accepted(result)
        wanted = self.marks(before)
        expected = {**before.marks, **wanted}
        said = all(after.marks_of(name) == marks for name, marks in expected.items())
        if not said or set(after.marks) - set(expected) or mixlist_patch(result, wanted):
            raise proof_failed(source.path)


def _accepted(source: Source) -> Mixlist:
    """:raises Damaged: where the engine would refuse the file; it is not edited then"""
    return Mixlist(scan(source))


def mixlist_patch(source: Source, wanted: Mapping[str, frozenset[Mark]]) -> Patch:
    """Give each op type exactly its marks; lists that this empties go."""
    text = source.text
    root = _root(text, source)
    for container in (root, *(member.value for member in root)):
        _require_single_keys(source, container)
    style = style_of(text, root)
    for name, marks in wanted.items():
        text = _mark(text, source, style, name, marks)
    return Patch(source.sha256, tuple(edits_between(source.text, text)))


def _require_single_keys(source: Source, container: Node) -> None:
    """:raises Refused: where a list or an action stands twice: the engine reads the last, and so would the edit"""
    seen: dict[str, int] = {}
    for member in container:
        if member.name in seen:
            first, second = source.place(seen[member.name]), source.place(member.key.start)
            raise Refused(
                f"`{member.name}` stands twice, in lines {first.line} and {second.line}; the engine reads the last",
                name="duplicate-key",
                path=source.path,
                line=second.line,
                column=second.column,
                hint="join the two by hand, then try again",
            )
        seen[member.name] = member.key.start


def _mark(text: str, source: Source, style: Style, name: str, marks: frozenset[Mark]) -> str:
    for list_name, policy in LISTS.items():
        for action in ACTIONS:
            if Mark(action, policy) not in marks:
                text = _drop_all(text, source, list_name, action, name)
    for mark in sorted(marks):
        text = _add(text, source, style, _LIST_OF[mark.policy], mark.action, name)
    return text


def _drop_all(text: str, source: Source, list_name: str, action: str, name: str) -> str:
    while True:
        root = _root(text, source)
        array = _array(root, list_name, action)
        at = [str(item.value) for item in array.items].index(name) if array and _names(array, name) else None
        if array is None or at is None:
            return text
        if len(array.items) > 1:
            return_to = drop_item(array, at)
        else:
            return_to = _drop_emptied(root, list_name, action)
        text = splice(text, [return_to])


def _names(array: Node, name: str) -> bool:
    return any(item.value == name for item in array.items)


def _drop_emptied(root: Node, list_name: str, action: str) -> Edit:
    """An array that would be left empty goes, and its list with it where that was all."""
    lists = [member.name for member in root]
    marks = root.members[len(lists) - 1 - lists[::-1].index(list_name)].value
    if len(marks.members) == 1:
        return drop_member(root, len(lists) - 1 - lists[::-1].index(list_name))
    actions = [member.name for member in marks]
    return drop_member(marks, len(actions) - 1 - actions[::-1].index(action))


def _add(text: str, source: Source, style: Style, list_name: str, action: str, name: str) -> str:
    root = _root(text, source)
    marks = root.get(list_name)
    array = _array(root, list_name, action)
    if array is not None:
        return text if _names(array, name) else splice(text, [add_item(text, array, name, style)])
    if marks is not None:
        return splice(text, [add_member(text, marks, action, [name], style)])
    return splice(text, [add_member(text, root, list_name, {action: [name]}, style)])


def _array(root: Node, list_name: str, action: str) -> Node | None:
    marks = root.get(list_name)
    return marks.get(action) if marks else None


def _root(text: str, source: Source) -> Node:
    return scan(Source(text.encode(), source.path)).require_root()


def edits_between(old: str, new: str) -> list[Edit]:
    """Edits, line by line, that turn one text into the other."""
    before, after = old.splitlines(keepends=True), new.splitlines(keepends=True)
    starts = [0]
    for line in before:
        starts.append(starts[-1] + len(line))
    import difflib

    matcher = difflib.SequenceMatcher(None, before, after, autojunk=False)
    return [
        Edit(starts[i1], starts[i2], "".join(after[j1:j2]))
        for tag, i1, i2, j1, j2 in matcher.get_opcodes()
        if tag != "equal"
    ]
