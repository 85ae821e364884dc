"""Ascend's keep_dtype file: one node name or `OpType::Type` a line keeps its dtype (engine.md 2.6)."""

from __future__ import annotations

from ..errors import UsageFault
from ..text.source import Source
from .homes import Base, Home, Written, sorted_into, unlike
from .placed import Class, Lists, Loss, Placed, Told
from .systems import System

__all__ = ["read", "write"]

_TYPE = "OpType::"
_HOMES = {
    Class.LOW: Home(None, False),
    Class.HIGH: Home("keep_dtype"),
    Class.FOLLOW: Home(None, False),
    Class.PROMOTE: Home(None, False),
    Class.CLEAR: Home(None, False),
    Class.BANNED: Home("keep_dtype", False),
}


def read(sources: list[Source], system: System) -> Told:
    if len(sources) != 1:
        raise UsageFault(f"{system.name} is one file")
    lines = [line.strip() for line in sources[0].text.splitlines() if line.strip()]
    comments = tuple(line for line in lines if line.startswith("#"))
    placed = [
        Placed(line.removeprefix(_TYPE), Class.HIGH, "operator" if line.startswith(_TYPE) else "node", sources[0].path)
        for line in lines
        if line not in comments
    ]
    said = "the file has no comments: the engine takes these lines for names, finds none, and warns"
    losses = (Loss("not-a-name", said, comments),) if comments else ()
    return Told(Lists(system.name, "ascend", tuple(placed), "mode"), losses)


def write(lists: Lists, base: Base, system: System) -> Written:
    nodes = {each.name for each in lists.placed if each.scope == "node"}
    found = sorted_into(lists, _HOMES, system.name)
    lines = [name if name in nodes else _TYPE + name for name in found.lists["keep_dtype"]]
    losses = [*found.losses, *unlike(lists, "mode", None, system.name)]
    return Written({"keep_dtype.cfg": "".join(f"{line}\n" for line in lines)}, losses)
