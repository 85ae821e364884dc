"""Habana TensorFlow's BF16 configuration, with its older keys (Model-References, TensorFlow/common/bf16_config)."""

from __future__ import annotations

import json

from ..errors import Damaged, UsageFault
from ..text.scanner import Node
from ..text.source import Source
from .destinations import ConversionBase, Destination, WrittenLists, default_differences, sorted_by_list
from .json_text import json_object, strings
from .systems import System, lists_of
from .vocabulary import ListEntry, Loss, OperatorClass, OperatorLists, ReadLists

_LISTS = {
    "allowlist": OperatorClass.LOW,
    "whitelist": OperatorClass.LOW,
    "conditional_list": OperatorClass.FOLLOW,
    "graylist": OperatorClass.FOLLOW,
    "strict_conditional_list": OperatorClass.FOLLOW,
}
_EXCEPTIONS = {"non_convertible_exceptions": OperatorClass.HIGH, "convertible_exceptions": OperatorClass.LOW}
_DESTINATIONS = {
    OperatorClass.LOW: Destination("allowlist"),
    OperatorClass.HIGH: Destination(None),
    OperatorClass.FOLLOW: Destination("conditional_list", False),
    OperatorClass.PROMOTE: Destination("conditional_list", False),
    OperatorClass.CLEAR: Destination("conditional_list", False),
    OperatorClass.BANNED: Destination(None, False),
}


def read(sources: list[Source], system: System) -> ReadLists:
    """:raises Damaged: if the file has another structure"""
    if len(sources) != 1:
        raise UsageFault(f"{system.name} takes exactly one file")
    (source,) = sources
    root = json_object(source)
    entries = [
        ListEntry(name, cls, origin=key) for key, cls in _LISTS.items() for name in strings(source, root, key) or ()
    ]
    entries += [each for key, cls in _EXCEPTIONS.items() for each in _exceptions(source, root, key, cls)]
    losses = []
    strict = tuple(strings(source, root, "strict_conditional_list") or ())
    if strict:
        losses.append(Loss("approximate", "strict_conditional_list is read as conditional_list", strict))
    if root.get("input_only_exceptions") is not None:
        losses.append(Loss("node-rules", "input_only_exceptions are left out; their effect is unknown"))
    return ReadLists(lists_of(system.name)._replace(entries=tuple(entries), version=None), tuple(losses))


def _exceptions(source: Source, root: Node, key: str, cls: OperatorClass) -> list[ListEntry]:
    """Return entries for pairs of a node-name regular expression and an op type; an empty op type means any."""
    node = root.get(key)
    found = []
    for item in node.items if node and node.kind == "array" else ():
        pair = [str(each.value) for each in item.items if each.kind == "string"]
        if item.kind != "array" or len(pair) != 2 or len(item.items) != 2:
            place = source.place(item.start)
            said = f"`{key}` must hold pairs of a regular expression and an op type"
            raise Damaged(said, path=source.path, line=place.line, column=place.column)
        found.append(ListEntry(pair[0], cls, "node", key, pair[1]))
    return found


def write(lists: OperatorLists, base: ConversionBase, system: System) -> WrittenLists:
    own = lists_of(system.name)
    nodes = [each for each in lists.entries if each.scope == "node"]
    operators = lists._replace(entries=tuple(each for each in lists.entries if each.scope != "node"))
    found = sorted_by_list(operators, _DESTINATIONS, system.name)
    content = {
        "allowlist": found.lists["allowlist"],
        "conditional_list": found.lists["conditional_list"],
        "strict_conditional_list": [],
        **{key: [[e.name, e.note or ""] for e in nodes if e.cls is cls] for key, cls in _EXCEPTIONS.items()},
    }
    losses = [*found.losses, *default_differences(lists, own.unlisted, own.low, system.name)]
    text = json.dumps(content, indent=2, ensure_ascii=False) + "\n"
    return WrittenLists({"bf16_config.json": text}, losses, found.dropped)
