"""onnxconverter-common's `op_block_list` and `node_block_list`."""

from __future__ import annotations

from ..errors import UsageFault
from ..text.source import Source
from .destinations import (
    ConversionBase,
    Destination,
    WrittenLists,
    default_differences,
    replaced_defaults,
    sorted_by_list,
)
from .python_text import named_lists, python_list
from .systems import System, lists_of
from .vocabulary import ListEntry, OperatorClass, OperatorLists, ReadLists

_DESTINATIONS = {
    OperatorClass.LOW: Destination(None),
    OperatorClass.HIGH: Destination("op_block_list"),
    OperatorClass.FOLLOW: Destination(None, False),
    OperatorClass.PROMOTE: Destination(None, False),
    OperatorClass.CLEAR: Destination(None, False),
    OperatorClass.BANNED: Destination("op_block_list", False),
}


def read(sources: list[Source], system: System) -> ReadLists:
    """Read the lists. A list in the file replaces the default one.

    :raises UsageFault: if the file sets neither list
    """
    if len(sources) != 1:
        raise UsageFault(f"{system.name} takes exactly one file")
    own = lists_of(system.name)
    constants = {"DEFAULT_OP_BLOCK_LIST": [each.name for each in own.entries]}
    found = named_lists(sources[0], frozenset({"op_block_list", "node_block_list"}), constants)
    if not found:
        raise UsageFault("the file sets neither op_block_list nor node_block_list", path=sources[0].path)
    high = OperatorClass.HIGH
    blocked = [
        ListEntry(name.text, high, origin=name.constant or "op_block_list", is_default=name.constant is not None)
        for name in found.get("op_block_list", ())
    ]
    nodes = [ListEntry(name.text, high, "node", "node_block_list") for name in found.get("node_block_list", ())]
    kept = () if "op_block_list" in found else own.as_defaults()
    return ReadLists(own._replace(entries=(*blocked, *kept, *nodes), version=None))


def write(lists: OperatorLists, base: ConversionBase, system: System) -> WrittenLists:
    own = lists_of(system.name)
    nodes = [each.name for each in lists.entries if each.scope == "node" and each.cls is OperatorClass.HIGH]
    operators = lists._replace(entries=tuple(each for each in lists.entries if each.scope != "node"))
    found = sorted_by_list(operators, _DESTINATIONS, system.name)
    text = f"op_block_list = {python_list(found.lists['op_block_list'])}\n"
    if nodes:
        text += f"node_block_list = {python_list(nodes)}\n"
    losses = [*found.losses, *default_differences(lists, own.unlisted, own.low, system.name)]
    losses += replaced_defaults(lists, own, "op_block_list replaces")
    return WrittenLists({"block_lists.py": text}, losses, found.dropped)
