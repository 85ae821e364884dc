"""Ascend's keep_dtype file: one node name or `OpType::Type` per line (ATC manual, --keep_dtype)."""

from __future__ import annotations

from ...text.source import Source
from ..system import ConversionOptions, System, WrittenLists, default_differences, sorted_names
from ..vocabulary import ListEntry, OperatorClass, OperatorLists, ReadLists, lost

_TYPE = "OpType::"


def read(system: System, sources: list[Source]) -> ReadLists:
    (source,) = sources
    lines = [line.strip() for line in source.text.splitlines() if line.strip()]
    entries = tuple(
        ListEntry(
            line.removeprefix(_TYPE),
            OperatorClass.HIGH,
            "operator" if line.startswith(_TYPE) else "node",
            source.path,
        )
        for line in lines
        if not line.startswith("#")
    )
    message = (
        "the format has no comments: the engine reads these lines as node names, and warns that they are not found"
    )
    losses = lost("not-a-name", message, [line for line in lines if line.startswith("#")])
    return ReadLists(OperatorLists(system.name, "ascend", entries, "mode"), losses)


def write(system: System, lists: OperatorLists, options: ConversionOptions) -> WrittenLists:
    nodes = {entry.name for entry in lists.entries if entry.scope == "node"}
    to = {OperatorClass.HIGH: "keep_dtype", OperatorClass.BANNED: "keep_dtype"}
    names = sorted_names(lists, to, frozenset({OperatorClass.HIGH}), system.name)
    text = "".join(f"{name}\n" if name in nodes else f"{_TYPE}{name}\n" for name in names.lists["keep_dtype"])
    losses = [*names.losses, *default_differences(lists, "mode", None, system.name)]
    return WrittenLists({"keep_dtype.cfg": text}, losses)


SYSTEMS = (System("keep-dtype", "Ascend keep_dtype file", "ascend", "one a line", "one a line", read, write),)
