"""Ascend's keep_dtype file: one node name or `OpType::Type` per line (ATC manual, --keep_dtype)."""

from __future__ import annotations

from ..errors import UsageFault
from ..text.source import Source
from .destinations import ConversionBase, Destination, WrittenLists, default_differences, sorted_by_list
from .systems import System
from .vocabulary import ListEntry, Loss, OperatorClass, OperatorLists, ReadLists

_TYPE = "OpType::"
_DESTINATIONS = {
    OperatorClass.LOW: Destination(None, False),
    OperatorClass.HIGH: Destination("keep_dtype"),
    OperatorClass.FOLLOW: Destination(None, False),
    OperatorClass.PROMOTE: Destination(None, False),
    OperatorClass.CLEAR: Destination(None, False),
    OperatorClass.BANNED: Destination("keep_dtype", False),
}


def read(sources: list[Source], system: System) -> ReadLists:
    if len(sources) != 1:
        raise UsageFault(f"{system.name} takes exactly one file")
    lines = [line.strip() for line in sources[0].text.splitlines() if line.strip()]
    comments = tuple(line for line in lines if line.startswith("#"))
    entries = [
        ListEntry(
            line.removeprefix(_TYPE),
            OperatorClass.HIGH,
            "operator" if line.startswith(_TYPE) else "node",
            sources[0].path,
        )
        for line in lines
        if line not in comments
    ]
    said = "the format has no comments: the engine reads these lines as node names, and warns that they are not found"
    losses = (Loss("not-a-name", said, comments),) if comments else ()
    return ReadLists(OperatorLists(system.name, "ascend", tuple(entries), "mode"), losses)


def _scope(line: str) -> str:
    return "operator" if line.startswith(_TYPE) else "node"


def write(lists: OperatorLists, base: ConversionBase, system: System) -> WrittenLists:
    nodes = {each.name for each in lists.entries if each.scope == "node"}
    found = sorted_by_list(lists, _DESTINATIONS, system.name)
    lines = [name if name in nodes else _TYPE + name for name in found.lists["keep_dtype"]]
    losses = [*found.losses, *default_differences(lists, "mode", None, system.name)]
    return WrittenLists({"keep_dtype.cfg": "".join(f"{line}\n" for line in lines)}, losses, found.dropped)
