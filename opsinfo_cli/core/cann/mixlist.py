"""The modify_mixlist file: marks of op types, and faults of its structure.

Of equal keys the engine reads only the last.

Source: hicann/ge at ffdcbc9f
- compiler/engines/nn_engine/utils/common/config_parser/modify_mixlist_config_parser.cc
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterable, Iterator, Mapping
from functools import cached_property
from typing import Any, Final, NamedTuple, TypeAlias

from ...arguments import checked
from ...errors import UsageFault
from ..text.scanner import Document, Member, Node, scan
from ..text.source import Source, encoded
from .marks import ACTIONS, LISTS, Mark, combination, decided, effective, is_legal
from .policy import Policy, policy_meant
from .targets.found import TargetFacts


def mixlist_content(marks: Mapping[str, frozenset[Mark]]) -> dict[str, dict[str, list[str]]]:
    """Return a mixlist as plain values, names in the given order, without empty lists."""
    lists = {policy: name for name, policy in LISTS.items()}
    marked: dict[str, dict[str, list[str]]] = {}
    for name, each in marks.items():
        for mark in each:
            marked.setdefault(lists[mark.policy], {}).setdefault(mark.action, []).append(name)
    return {name: dict(sorted(marked[name].items())) for name in LISTS if name in marked}


AnyMixlist: TypeAlias = "Mixlist | Mapping[str, Any] | str | os.PathLike[str]"


class Mixlist:
    """A mixlist that the engine accepts."""

    def __init__(self, document: Document) -> None:
        """:raises Damaged: if the engine would refuse it; has the first reason"""
        self.document = document
        self.source = document.source
        self.root = document.require_root()
        hint = "`opsinfo validate` lists all findings"
        for fault in structure_faults(self.root):
            raise self.source.damaged(fault.message, fault.node.start, hint)
        self.items = list(marked_items(self.root))
        self.marks = collected_marks(self.items)
        for item in self.items:
            if not is_legal(self.marks[item.name]):
                message = f"the engine refuses `{item.name}`: {combination(self.marks[item.name])}"
                raise self.source.damaged(message, item.node.start, hint)

    @classmethod
    @checked
    def read(cls, path: str | os.PathLike[str]) -> Mixlist:
        """:raises Refused: if the file cannot be read
        :raises Damaged: if the engine would refuse it
        """
        return cls(scan(Source.read(os.fspath(path))))

    @classmethod
    def open(cls, mixlist: AnyMixlist) -> Mixlist:
        """As :meth:`read` for a path, as :meth:`of` for a parsed file; an open mixlist is returned as it is.

        :raises UsageFault: if it is none of these
        """
        if isinstance(mixlist, Mixlist):
            return mixlist
        if isinstance(mixlist, Mapping):
            return cls.of(mixlist)
        if isinstance(mixlist, (str, os.PathLike)):
            return cls.read(mixlist)
        message = f"a mixlist is a path, a parsed file or a `Mixlist`, not {type(mixlist).__name__}"
        raise UsageFault(message, name="wrong-type")

    @classmethod
    @checked
    def of(cls, lists: Mapping[str, Any]) -> Mixlist:
        """Return the mixlist of a parsed file: ``{"black-list": {"to-add": ["SoftmaxV2"]}}``.

        :raises UsageFault: if it cannot be written as JSON
        :raises Damaged: if the engine would refuse it
        """
        try:
            text = json.dumps(lists, indent=2, ensure_ascii=False)
        except (TypeError, ValueError) as error:
            raise UsageFault(f"this is no parsed mixlist: {error}", name="wrong-type") from None
        return cls(scan(Source(encoded(text), "the mixlist")))

    def to_dict(self) -> dict[str, dict[str, list[str]]]:
        """Return the lists as plain values, as :meth:`of` takes them."""
        return mixlist_content(self.marks)

    def __repr__(self) -> str:
        return f"<Mixlist {self.path}: {len(self.marks)} op types>"

    @property
    def path(self) -> str:
        return self.source.path

    def marks_of(self, name: str) -> frozenset[Mark]:
        return self.marks.get(name, frozenset())

    def effective(self, name: str, library_policy: Policy | str) -> Policy:
        """Return the effective policy of an op type that has ``library_policy`` in the library.

        :raises UsageFault: if a text is no policy
        Source: modify_mixlist_config_parser.cc:265-294
        """
        return effective(library_policy, self.marks_of(name))

    def alone(self, name: str) -> Policy | None:
        """Return the policy that the marks set in every library, by a black or white ``to-add``; else None."""
        return decided(self.marks_of(name))


class MixlistFile:
    """A mixlist where a command takes one besides a target; the engine may refuse its content."""

    kind: Final = "mixlist"
    phrase: Final = "a mixlist"
    soc: Final = None

    def __init__(self, source: Source) -> None:
        self.source = source
        self.path = self.text = source.path

    @cached_property
    def mixlist(self) -> Mixlist:
        """:raises Damaged: if the engine would refuse it"""
        return Mixlist(scan(self.source))

    def other_counts(self) -> dict[str, int]:
        """As of a target: it has no op types of other cores."""
        return {}

    @property
    def facts(self) -> TargetFacts:
        return TargetFacts(self.text, self.kind, self.path, self.soc, None)


class MarkedItem(NamedTuple):
    """One string of one array: the mark it gives an op type, and its place.

    :param place: its index in the array
    :param keys: of the list and the action, as written
    """

    name: str
    mark: Mark
    node: Node
    array: Node
    place: int
    keys: tuple[str, str]


class StructureFault(NamedTuple):
    """A fault for which the engine refuses a mixlist with any op types.

    :param name: the finding's name: wrong-type, unknown-list or unknown-action
    :param node: the key or value that is wrong
    :param steps: the keys and indexes that lead to it
    :param meant: the likely key, if it is similar to one that is missing
    """

    name: str
    message: str
    node: Node
    steps: tuple[str | int, ...]
    meant: str | None = None


def marked_items(root: Node, by_near_keys: bool = False) -> Iterator[MarkedItem]:
    """Yield the op types in the well-formed parts of a mixlist, list by list.

    :param by_near_keys: whether to read `white_list` as `white-list`, if that is missing
    """
    for list_name, policy in LISTS.items():
        marks = member_of(root, list_name, by_near_keys)
        for action in ACTIONS:
            array = member_of(marks.value, action, by_near_keys) if marks else None
            if marks is None or array is None or array.value.kind != "array":
                continue
            keys = marks.name, array.name
            for index, node in enumerate(array.value.items):
                if node.kind == "string":
                    yield MarkedItem(str(node.value), Mark(action, policy), node, array.value, index, keys)


def collected_marks(items: Iterable[MarkedItem]) -> dict[str, frozenset[Mark]]:
    """Return the marks of each op type, in the order in which op types first appear."""
    collected: dict[str, set[Mark]] = {}
    for item in items:
        collected.setdefault(item.name, set()).add(item.mark)
    return {name: frozenset(marks) for name, marks in collected.items()}


def structure_faults(root: Node) -> Iterator[StructureFault]:
    """Yield faults if a mixlist is not an object of known lists of known actions of strings."""
    if root.kind == "object":
        yield from _member_faults(root, ())
    else:
        yield wrong_type(root, ())


def _member_faults(container: Node, above: tuple[str, ...]) -> Iterator[StructureFault]:
    """Yield faults of the lists of a mixlist, or of the actions of a list, which is ``above`` them."""
    known, kind = (ACTIONS, "array") if above else (LISTS, "object")
    for name, member in container.by(str).items():
        if name not in known:
            yield unknown_key(member, above)
        elif member.value.kind != kind:
            yield wrong_type(member.value, (*above, name))
        elif kind == "object":
            yield from _member_faults(member.value, (*above, name))
        for index, item in enumerate(member.value.items if name in known and kind == "array" else ()):
            if item.kind != "string":
                yield wrong_type(item, (*above, name, index))


def unknown_key(member: Member, above: tuple[str | int, ...], meant: str | None = None) -> StructureFault:
    """Return the fault of a key that names neither a list nor, below the list ``above``, an action."""
    word = "an action" if above else "a list"
    message = f"`{member.name}` is not {word}; the engine refuses the file"
    return StructureFault(f"unknown-{word.split()[1]}", message, member.key, (*above, member.name), meant)


def wrong_type(node: Node, steps: tuple[str | int, ...]) -> StructureFault:
    """Return the fault of a value of the wrong type: the root, a list, an action or an op type."""
    what, wanted = _TYPES[len(steps)]
    what = what or f"`{'.'.join(map(str, steps))}`"
    return StructureFault("wrong-type", f"{what} must be {wanted}, not {type_phrase(node)}", node, steps)


_TYPES = (("a mixlist", "an object"), ("", "an object"), ("", "an array of op types"), ("an op type", "a string"))
"""What the value at each depth is called, and its type."""


def type_phrase(node: Node) -> str:
    """Return the type of a value with an article, such as ``an array``; for a literal, its text."""
    if node.kind == "literal":
        return {True: "`true`", False: "`false`", None: "`null`"}[node.value]  # type: ignore[index]
    return f"an {node.kind}" if node.kind[0] in "aeiou" else f"a {node.kind}"


def member_of(container: Node, name: str, by_near_keys: bool) -> Member | None:
    """Return the member that the engine reads for a name, else one with a near name."""
    if container.kind != "object":
        return None
    members = container.by(str)
    if name in members or not by_near_keys:
        return members.get(name)
    known = LISTS if name in LISTS else ACTIONS
    return next((member for key, member in members.items() if key not in known and _meant(key, known) == name), None)


def meant_and_missing(container: Node, key: str, known: Iterable[str]) -> str | None:
    """Return the known key that an unknown one means; None if that exists, or another key is nearer to it."""
    meant = _meant(key, known)
    member = member_of(container, meant, by_near_keys=True) if meant else None
    return meant if member is not None and member.name == key else None


def _meant(key: str, known: Iterable[str]) -> str | None:
    policy = policy_meant(key)
    if policy and f"{policy}-list" in known:
        return f"{policy}-list"
    from ...near_names import near_names

    near = near_names(key, known)
    return near[0] if len(near) == 1 else None
