"""The nodes of an ONNX model that the node names of a list mean: their names, or their operators."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import replace
from fnmatch import translate as glob_pattern
from typing import Any

from ..core.text.source import read_bytes
from ..errors import Damaged, MissingPackage, brief, installing
from .vocabulary import ListEntry, ReadLists, loss_of


def with_model(read: ReadLists, path: str, by_name: bool) -> ReadLists:
    """Return lists whose rules on nodes are those nodes of a model, or the operators of these.

    :param by_name: whether the result names nodes; else it names operators
    :raises MissingPackage: if the ``onnx`` package is not installed
    :raises Damaged: if the file is no ONNX model
    """
    types = dict(_nodes(path))
    merged: dict[tuple[object, ...], ListEntry] = {}  # of one name and class: an entry with the sources of all
    absent, meant = [], set[str]()
    for entry in read.lists.entries:
        names = [entry.name] if entry.scope != "node" else [name for name in types if means(entry, name)]
        if not names:
            absent.append(entry.name)
        for name in names:
            new = entry
            if entry.scope == "node":
                meant.add(name)
                new = replace(entry, name=name, pattern=None, given=entry.sources)
                new = new if by_name else replace(new, name=types[name], scope="operator")
            first = merged.setdefault((new.name, new.scope, new.cls, new.is_default), new)
            merged[new.name, new.scope, new.cls, new.is_default] = replace(
                first, given=tuple(dict.fromkeys((*first.sources, *new.sources)))
            )
    losses = [*read.losses, *loss_of("not-a-name", "the model has no such node", absent, drops=True)]
    if not by_name:
        whole = {entry.name for entry in read.lists.entries if entry.scope != "node"}
        counts, listed = Counter(types.values()), Counter(types[name] for name in sorted(meant))
        wider = {
            name: f"{name} ({listed[name]} of {counts[name]} nodes are listed)"
            for name in listed
            if listed[name] < counts[name] and name not in whole
        }
        message = "a list of op types also has the other nodes of a type"
        losses += loss_of("broader", message, wider, wider.values())
    return ReadLists(replace(read.lists, entries=tuple(merged.values())), losses)


def means(entry: ListEntry, name: str) -> bool:
    """Return whether an entry of a list means a node."""
    if entry.pattern is None:
        return entry.name == name
    if entry.pattern == "glob":
        return re.match(glob_pattern(entry.name.replace("[", "[[]")), name) is not None
    try:
        return re.match(entry.name, name) is not None
    except re.error:
        return False


def _nodes(path: str) -> Iterator[tuple[str, str]]:
    """Yield the name and the operator of each node of a model, those of inner graphs too."""
    try:
        import onnx
    except ImportError:
        message = "reading an ONNX model requires the `onnx` package"
        raise MissingPackage(message, hint=f"`{installing('onnx')}`") from None
    try:
        model = onnx.load_model_from_string(read_bytes(path))
    except OSError:
        raise
    except Exception as error:  # protobuf raises its own exceptions
        if not type(error).__module__.startswith("google."):
            raise
        raise Damaged(f"not an ONNX model: {brief(str(error))}", name="damaged-model", path=path) from None
    graphs: list[Any] = [model.graph]
    for graph in graphs:
        for node in graph.node:
            yield node.name or node.output[0], node.op_type
            for attribute in node.attribute:
                graphs += [attribute.g, *attribute.graphs] if attribute.HasField("g") else attribute.graphs
