"""Ascend's keep_dtype file: one node name or `OpType::Type` per line (ATC manual, --keep_dtype)."""

from __future__ import annotations

import re
from dataclasses import replace

from ...core.cann.option_files import keep_dtype_text, kept_names
from ...core.text.source import Source
from ..system import ConversionOptions, System, WrittenLists, default_differences, sort_names
from ..vocabulary import ListEntry, OperatorClass, OperatorLists, ReadLists, loss_of


def read(system: System, sources: list[Source]) -> ReadLists:
    (source,) = sources
    names = [line for line in kept_names(source.text.split("\n")) if line.name]
    comments = [line.name for line in names if not line.is_type and line.name.startswith("#")]
    entries = tuple(
        ListEntry(line.name, scope="operator" if line.is_type else "node", cls=OperatorClass.HIGH, origin=source.path)
        for line in names
        if line.is_type or line.name not in comments
    )
    message = (
        "the format has no comments: the engine reads these lines as node names, and warns that they are not found"
    )
    losses = loss_of("not-a-name", message, comments)
    lists = OperatorLists(system=system.name, names="ascend", unlisted="mode", entries=entries)
    return ReadLists(lists, losses)


def write(system: System, lists: OperatorLists, options: ConversionOptions) -> WrittenLists:
    patterns = [e.name for e in lists.entries if e.pattern is not None and not _is_plain(e.name)]
    beginnings = [e.name for e in lists.entries if e.pattern == "regex" and e.cls is OperatorClass.HIGH]
    prefixes = [name for name in beginnings if _is_plain(name)]
    lists = replace(lists, entries=tuple(entry for entry in lists.entries if entry.name not in patterns))
    nodes = {entry.name for entry in lists.entries if entry.scope == "node"}
    to = {OperatorClass.HIGH: "keep_dtype", OperatorClass.BANNED: "keep_dtype"}
    names = sort_names(lists, to, frozenset({OperatorClass.HIGH}), system.name)
    kept = names.lists["keep_dtype"]
    text = keep_dtype_text(kept, types={*kept} - nodes)
    message = "patterns over node names; --model MODEL says which nodes they mean"
    losses = [*names.losses, *loss_of("node-rules", message, patterns, drops=True)]
    message = "the source also means nodes whose names begin so; --model MODEL names them"
    losses += [*loss_of("broader", message, prefixes), *default_differences(lists, "mode", None, system.name)]
    return WrittenLists({"keep_dtype.cfg": text}, losses)


def _is_plain(name: str) -> bool:
    return re.fullmatch(r"[\w/.:\-]+", name) is not None


SYSTEMS = (
    System("keep-dtype", "Ascend keep_dtype file", "ascend", "one a line", "one a line", read, write, has_nodes=True),
)
