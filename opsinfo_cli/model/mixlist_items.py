"""The items of a mixlist's arrays, and faults of its structure.

Of equal keys the engine reads only the last. Source: hicann/ge ffdcbc9f,
compiler/engines/nn_engine/utils/common/config_parser/modify_mixlist_config_parser.cc:133-206.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import NamedTuple

from ..text.document import Member, Node
from .policy import ACTIONS, LISTS, Mark, policy_meant


class Marked(NamedTuple):
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


def marked_items(root: Node, by_near_keys: bool = False) -> Iterator[Marked]:
    """Yield the op types in the well-formed parts of a mixlist, list by list.

    :param by_near_keys: whether to read `white_list` as `white-list`, if that is missing
    """
    for list_name, policy in LISTS.items():
        marks = _member(root, list_name, by_near_keys)
        for action in ACTIONS:
            array = _member(marks.value, action, by_near_keys) if marks else None
            if marks is None or array is None or array.value.kind != "array":
                continue
            keys = marks.name, array.name
            for index, node in enumerate(array.value.items):
                if node.kind == "string":
                    yield Marked(str(node.value), Mark(action, policy), node, array.value, index, keys)


def collected_marks(items: Iterable[Marked]) -> dict[str, frozenset[Mark]]:
    """Return the marks of each op type, in the order in which op types first appear."""
    collected: dict[str, set[Mark]] = {}
    for item in items:
        collected.setdefault(item.name, set()).add(item.mark)
    return {name: frozenset(marks) for name, marks in collected.items()}


def structure_faults(root: Node) -> Iterator[StructureFault]:
    """Yield faults if a mixlist is not an object of known lists of known actions of strings.

    A list or action under a near key is checked too, so that its faults are found before it is renamed.
    """
    if root.kind != "object":
        yield StructureFault("wrong-type", f"a mixlist must be an object, not {called(root)}", root, ())
        return
    for name, member in root.by(str).items():
        list_name: str | None = name
        if name not in LISTS:
            list_name = _meant_and_missing(root, name, LISTS)
            said = f"`{name}` is not a list; the engine refuses the file"
            yield StructureFault("unknown-list", said, member.key, (name,), list_name)
        if list_name is None:
            continue
        if member.value.kind != "object":
            said = f"`{name}` must be an object, not {called(member.value)}"
            yield StructureFault("wrong-type", said, member.value, (name,))
        else:
            yield from _list_faults(name, member.value)


def _list_faults(list_name: str, marks: Node) -> Iterator[StructureFault]:
    for name, member in marks.by(str).items():
        steps = (list_name, name)
        action: str | None = name
        if name not in ACTIONS:
            action = _meant_and_missing(marks, name, ACTIONS)
            said = f"`{name}` is not an action; the engine refuses the file"
            yield StructureFault("unknown-action", said, member.key, steps, action)
        if action is None:
            continue
        if member.value.kind != "array":
            said = f"`{list_name}.{name}` must be an array of op types, not {called(member.value)}"
            yield StructureFault("wrong-type", said, member.value, steps)
            continue
        for index, item in enumerate(member.value.items):
            if item.kind != "string":
                said = f"an op type must be a string, not {called(item)}"
                yield StructureFault("wrong-type", said, item, (*steps, index))


def called(node: Node) -> str:
    """Return the type of a value with an article, such as ``an array``; for a literal, its text."""
    if node.kind == "literal":
        return {True: "`true`", False: "`false`", None: "`null`"}[node.value]  # type: ignore[index]
    return f"an {node.kind}" if node.kind[0] in "aeiou" else f"a {node.kind}"


def _member(container: Node, name: str, by_near_keys: bool) -> Member | None:
    """Return the member that the engine reads for a name, else one with a near name."""
    if container.kind != "object":
        return None
    members = container.by(str)
    if name in members or not by_near_keys:
        return members.get(name)
    known = LISTS if name in LISTS else ACTIONS
    return next((member for key, member in members.items() if key not in known and _meant(key, known) == name), None)


def _meant_and_missing(container: Node, key: str, known: Iterable[str]) -> str | None:
    """Return the known key that an unknown one means; None if that exists, or another key is nearer to it."""
    meant = _meant(key, known)
    member = _member(container, meant, by_near_keys=True) if meant else None
    return meant if member is not None and member.name == key else None


def _meant(key: str, known: Iterable[str]) -> str | None:
    policy = policy_meant(key)
    if policy and f"{policy}-list" in known:
        return f"{policy}-list"
    from .near_names import near_names

    near = near_names(key, known)
    return near[0] if len(near) == 1 else None
