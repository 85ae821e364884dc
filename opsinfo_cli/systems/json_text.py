"""JSON files of other systems, parsed strictly; faults have their line and column."""

from __future__ import annotations

from ..core.text.scanner import Node, scan
from ..core.text.source import Source
from ..errors import Damaged


def json_object(source: Source) -> Node:
    """:raises Damaged: if the text is not a JSON object"""
    root = scan(source).require_root()
    if root.kind != "object":
        raise _damaged(source, root, "expected a JSON object")
    return root


def strings(source: Source, root: Node, key: str) -> list[str] | None:
    """Return the strings of an array; None if the key is missing or null.

    :raises Damaged: if the value is not an array of strings
    """
    node = root.get(key)
    if node is None or (node.kind == "literal" and node.value is None):
        return None
    if node.kind != "array":
        raise _damaged(source, node, f"`{key}` must be an array")
    for item in node.items:
        if item.kind != "string":
            raise _damaged(source, item, f"`{key}` must hold strings")
    return [str(item.value) for item in node.items]


def _damaged(source: Source, node: Node, message: str) -> Damaged:
    place = source.place(node.start)
    return Damaged(message, path=source.path, line=place.line, column=place.column)
