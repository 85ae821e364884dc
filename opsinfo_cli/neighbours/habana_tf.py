"""Habana TensorFlow's BF16 configuration, older spelling included (interop.md 3.4)."""

from __future__ import annotations

import json

from ..errors import Damaged, UsageFault
from ..text.document import Node
from ..text.source import Source
from .homes import Base, Home, Written, sorted_into, unlike
from .json_text import json_object, strings
from .placed import Class, Lists, Loss, Placed, Told
from .systems import System, lists_of

__all__ = ["read", "write"]

_LISTS = {
    "allowlist": Class.LOW,
    "whitelist": Class.LOW,
    "conditional_list": Class.FOLLOW,
    "graylist": Class.FOLLOW,
    "strict_conditional_list": Class.FOLLOW,
}
_EXCEPTIONS = {"non_convertible_exceptions": Class.HIGH, "convertible_exceptions": Class.LOW}
_HOMES = {
    Class.LOW: Home("allowlist"),
    Class.HIGH: Home(None),
    Class.FOLLOW: Home("conditional_list", False),
    Class.PROMOTE: Home("conditional_list", False),
    Class.CLEAR: Home("conditional_list", False),
    Class.BANNED: Home(None, False),
}


def read(sources: list[Source], system: System) -> Told:
    """:raises Damaged: where the file is not of this kind"""
    if len(sources) != 1:
        raise UsageFault(f"{system.name} is one file")
    (source,) = sources
    root = json_object(source)
    placed = [Placed(name, cls, origin=key) for key, cls in _LISTS.items() for name in strings(source, root, key) or ()]
    placed += [each for key, cls in _EXCEPTIONS.items() for each in _exceptions(source, root, key, cls)]
    losses = []
    strict = tuple(strings(source, root, "strict_conditional_list") or ())
    if strict:
        losses.append(Loss("approximate", "strict_conditional_list is read as conditional_list", strict))
    if root.get("input_only_exceptions") is not None:
        losses.append(Loss("node-rules", "input_only_exceptions are left out; what they do is not known"))
    return Told(lists_of(system.name)._replace(placed=tuple(placed), version=None), tuple(losses))


def _exceptions(source: Source, root: Node, key: str, cls: Class) -> list[Placed]:
    """Pairs of a node name's regular expression and an op type; an empty op type means any."""
    node = root.get(key)
    found = []
    for item in node.items if node and node.kind == "array" else ():
        pair = [str(each.value) for each in item.items if each.kind == "string"]
        if item.kind != "array" or len(pair) != 2 or len(item.items) != 2:
            place = source.place(item.start)
            said = f"`{key}` must hold pairs of a name's expression and an op type"
            raise Damaged(said, path=source.path, line=place.line, column=place.column)
        found.append(Placed(pair[0], cls, "node", key, pair[1]))
    return found


def write(lists: Lists, base: Base, system: System) -> Written:
    own = lists_of(system.name)
    nodes = [each for each in lists.placed if each.scope == "node"]
    operators = lists._replace(placed=tuple(each for each in lists.placed if each.scope != "node"))
    found = sorted_into(operators, _HOMES, system.name)
    content = {
        "allowlist": found.lists["allowlist"],
        "conditional_list": found.lists["conditional_list"],
        "strict_conditional_list": [],
        **{key: [[e.name, e.note or ""] for e in nodes if e.cls is cls] for key, cls in _EXCEPTIONS.items()},
    }
    losses = [*found.losses, *unlike(lists, own.unlisted, own.low, system.name)]
    return Written({"bf16_config.json": json.dumps(content, indent=2, ensure_ascii=False) + "\n"}, losses)
