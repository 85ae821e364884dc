"""Plans for a mixlist: edits that change the marks of op types. Pure."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

from ..errors import Refused, UsageFault
from ..model.mixlist import Mixlist
from ..model.policy import ACTIONS, LISTS, Mark, Policy, marks_for
from ..text.layout import Style, add_items, add_member, drop_items, drop_part, style_of
from ..text.patch import Edit, Patch, edits_between, splice
from ..text.scanner import Node, scan
from ..text.source import Source, encoded
from .moves import Move, proof_failed


class MixlistPlan(NamedTuple):
    """A plan that puts op types on a list by marks.

    :param library: the policy of each op type in the target of ``--against``; None without it
    :param pin: whether white and black get their mark even if the library agrees: an upgrade may change it
    """

    names: tuple[str, ...]
    to: Policy
    library: Mapping[str, Policy] | None = None
    pin: bool = False

    def marks(self, mixlist: Mixlist) -> dict[str, frozenset[Mark]]:
        """Return the wanted marks of each op type.

        :raises UsageFault: if gray is requested and neither marks nor a library determine the required mark
        """
        if self.library is not None and not self._pins:
            return {name: marks_for(self.library[name], self.to) for name in self.names}
        if self.to is not Policy.GRAY:
            return {name: frozenset({Mark("to-add", self.to)}) for name in self.names}
        without = [name for name in self.names if not mixlist.marks_of(name)]
        if without:
            raise UsageFault(
                f"`{without[0]}` has no marks here; whether gray needs one depends on the library's list",
                name="gray-needs-library",
                path=mixlist.path,
                hint="add --against TARGET",
            )
        return {name: frozenset() for name in self.names}

    @property
    def _pins(self) -> bool:
        return self.pin and self.to is not Policy.GRAY

    def moves(self, source: Source) -> list[Move]:
        mixlist = _accepted(source)
        moves = []
        for name, marks in self.marks(mixlist).items():
            if self.library is not None and not self._pins:
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
    """:raises Damaged: if the engine would refuse the file"""
    return Mixlist(scan(source))


def mixlist_patch(source: Source, wanted: Mapping[str, frozenset[Mark]]) -> Patch:
    """Return the edits that give each op type exactly its marks; emptied lists are removed."""
    text = source.text
    root = _root(text, source)
    for container in (root, *(member.value for member in root)):
        _require_single_keys(source, container)
    style = style_of(text, root)
    # insert before removing: a list that has both keeps its place
    for list_name, policy in LISTS.items():
        for action in ACTIONS:
            names = [name for name, marks in wanted.items() if Mark(action, policy) in marks]
            edits = _adding(text, root, style, list_name, action, names)
            text, root = _edited(text, root, edits, source)
    for list_name, policy in LISTS.items():
        for action in ACTIONS:
            gone = {name for name, marks in wanted.items() if Mark(action, policy) not in marks}
            text, root = _edited(text, root, _dropping(root, list_name, action, gone), source)
    return Patch(source.sha256, tuple(edits_between(source.text, text)))


def _edited(text: str, root: Node, edits: list[Edit], source: Source) -> tuple[str, Node]:
    if not edits:
        return text, root
    text = splice(text, edits)
    return text, _root(text, source)


def _require_single_keys(source: Source, container: Node) -> None:
    """:raises Refused: if a list or an action appears twice, because only the last one is read and edited"""
    seen: dict[str, int] = {}
    for member in container:
        if member.name in seen:
            first, second = source.place(seen[member.name]), source.place(member.key.start)
            raise Refused(
                f"`{member.name}` appears twice, in lines {first.line} and {second.line}; the engine reads the last",
                name="duplicate-key",
                path=source.path,
                line=second.line,
                column=second.column,
                hint="merge the two, then run the command again",
            )
        seen[member.name] = member.key.start


def _adding(text: str, root: Node, style: Style, list_name: str, action: str, names: list[str]) -> list[Edit]:
    """Insert names into an array that lacks them; a missing array or list is created."""
    marks = root.get(list_name)
    array = marks.get(action) if marks else None
    there = {item.value for item in array.items} if array else set()
    names = [name for name in names if name not in there]
    if not names:
        return []
    if array is not None:
        return [add_items(text, array, names, style)]
    if marks is not None:
        return [add_member(text, marks, action, names, style)]
    return [add_member(text, root, list_name, {action: names}, style)]


def _dropping(root: Node, list_name: str, action: str, names: set[str]) -> list[Edit]:
    """Remove names from an array. An array that becomes empty is removed, and so is a list without arrays."""
    marks = root.get(list_name)
    array = marks.get(action) if marks else None
    if marks is None or array is None:
        return []
    at = [index for index, item in enumerate(array.items) if item.value in names]
    if len(at) < len(array.items) or not at:
        return drop_items(array, at) if at else []
    if len(marks.members) == 1:
        return [drop_part(root, [member.name for member in root].index(list_name))]
    return [drop_part(marks, [member.name for member in marks].index(action))]


def _root(text: str, source: Source) -> Node:
    return scan(Source(encoded(text), source.path)).require_root()
