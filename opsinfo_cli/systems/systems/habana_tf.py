"""Habana TensorFlow's BF16 configuration, with its older keys (Model-References, TensorFlow/common/bf16_config)."""

from __future__ import annotations

from ...core.text.scanner import Node
from ...core.text.source import Source
from ...errors import Damaged
from ..json_text import json_object, strings
from ..system import System
from ..vocabulary import ListEntry, Loss, OperatorClass, ReadLists, lost

_LOW, _HIGH, _FOLLOW = OperatorClass.LOW, OperatorClass.HIGH, OperatorClass.FOLLOW
_LISTS = {
    "allowlist": _LOW,
    "whitelist": _LOW,
    "conditional_list": _FOLLOW,
    "graylist": _FOLLOW,
    "strict_conditional_list": _FOLLOW,
}
_EXCEPTIONS = {"non_convertible_exceptions": _HIGH, "convertible_exceptions": _LOW}


def read(system: System, sources: list[Source]) -> ReadLists:
    """:raises Damaged: if the file has another structure"""
    (source,) = sources
    root = json_object(source)
    entries = [
        ListEntry(name, cls, origin=key) for key, cls in _LISTS.items() for name in strings(source, root, key) or ()
    ]
    entries += [entry for key, cls in _EXCEPTIONS.items() for entry in _exceptions(source, root, key, cls)]
    strict = strings(source, root, "strict_conditional_list") or ()
    losses = lost("approximate", "strict_conditional_list is read as conditional_list", strict)
    if root.get("input_only_exceptions") is not None:
        losses += (Loss("node-rules", "input_only_exceptions are left out; their effect is unknown"),)
    return ReadLists(system.lists()._replace(entries=tuple(entries), version=None), losses)


def _exceptions(source: Source, root: Node, key: str, cls: OperatorClass) -> list[ListEntry]:
    """Return entries for pairs of a node-name regular expression and an op type; an empty op type means any."""
    node = root.get(key)
    entries = []
    for item in node.items if node and node.kind == "array" else ():
        pair = [str(part.value) for part in item.items if part.kind == "string"]
        if item.kind != "array" or len(pair) != 2 or len(item.items) != 2:
            place = source.place(item.start)
            message = f"`{key}` must hold pairs of a regular expression and an op type"
            raise Damaged(message, path=source.path, line=place.line, column=place.column)
        entries.append(ListEntry(pair[0], cls, "node", key, pair[1]))
    return entries


SYSTEMS = (
    System(
        "habana-tf", "Habana TensorFlow", "tensorflow", "JSON", read=read, facts="habana_tf",
        instead="add the op types to allowlist in its JSON",
    ),
)  # fmt: skip
