"""onnxconverter-common's `op_block_list` and `node_block_list` (interop.md 4.4)."""

from __future__ import annotations

from ..errors import UsageFault
from ..text.source import Source
from .homes import Base, Home, Written, sorted_into, unlike
from .placed import Class, Lists, Placed, Told
from .python_text import named_lists, python_list
from .systems import System, lists_of

__all__ = ["read", "write"]

_HOMES = {
    Class.LOW: Home(None),
    Class.HIGH: Home("op_block_list"),
    Class.FOLLOW: Home(None, False),
    Class.PROMOTE: Home(None, False),
    Class.CLEAR: Home(None, False),
    Class.BANNED: Home("op_block_list", False),
}


def read(sources: list[Source], system: System) -> Told:
    """A list given replaces the default one; without it that one stands.

    :raises UsageFault: where neither list is there
    """
    if len(sources) != 1:
        raise UsageFault(f"{system.name} is one file")
    found = named_lists(sources[0], frozenset({"op_block_list", "node_block_list"}))
    if not found:
        raise UsageFault("neither op_block_list nor node_block_list is there", path=sources[0].path)
    own = lists_of(system.name)
    placed = [Placed(name, Class.HIGH, origin="op_block_list") for name in found.get("op_block_list", ())]
    if "op_block_list" not in found:
        placed = list(own.placed)
    placed += [Placed(name, Class.HIGH, "node", "node_block_list") for name in found.get("node_block_list", ())]
    return Told(own._replace(placed=tuple(placed), version=None))


def write(lists: Lists, base: Base, system: System) -> Written:
    own = lists_of(system.name)
    nodes = [each.name for each in lists.placed if each.scope == "node" and each.cls is Class.HIGH]
    operators = lists._replace(placed=tuple(each for each in lists.placed if each.scope != "node"))
    found = sorted_into(operators, _HOMES, system.name)
    text = f"op_block_list = {python_list(found.lists['op_block_list'])}\n"
    if nodes:
        text += f"node_block_list = {python_list(nodes)}\n"
    return Written({"block_lists.py": text}, [*found.losses, *unlike(lists, own.unlisted, own.low, system.name)])
