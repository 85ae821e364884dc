"""Ascend's keep_dtype file: one node name or `OpType::Type` per line (ATC manual, --keep_dtype)."""

from __future__ import annotations

from ...core.cann.keep_dtype import keep_dtype_text, kept_names
from ...core.text.source import Source
from ..system import ConversionOptions, System, WrittenLists, default_differences, sort_names
from ..vocabulary import ListEntry, OperatorClass, OperatorLists, ReadLists, loss_of


def read(system: System, sources: list[Source]) -> ReadLists:
    (source,) = sources
    names = [line for line in kept_names(source.text.split("\n")) if line.name]
    comments = [line.name for line in names if not line.is_type and line.name.startswith("#")]
    entries = tuple(
        ListEntry(line.name, OperatorClass.HIGH, "operator" if line.is_type else "node", source.path)
        for line in names
        if line.is_type or line.name not in comments
    )
    message = (
        "the format has no comments: the engine reads these lines as node names, and warns that they are not found"
    )
    losses = loss_of("not-a-name", message, comments)
    return ReadLists(OperatorLists(system.name, "ascend", entries, "mode"), losses)


def write(system: System, lists: OperatorLists, options: ConversionOptions) -> WrittenLists:
    nodes = {entry.name for entry in lists.entries if entry.scope == "node"}
    to = {OperatorClass.HIGH: "keep_dtype", OperatorClass.BANNED: "keep_dtype"}
    names = sort_names(lists, to, frozenset({OperatorClass.HIGH}), system.name)
    kept = names.lists["keep_dtype"]
    text = keep_dtype_text(kept, types={*kept} - nodes)
    losses = [*names.losses, *default_differences(lists, "mode", None, system.name)]
    return WrittenLists({"keep_dtype.cfg": text}, losses)


SYSTEMS = (
    System("keep-dtype", "Ascend keep_dtype file", "ascend", "one a line", "one a line", read, write, has_nodes=True),
)
