"""TensorFlow's graph rewrite: reads `paintbuckets_*.txt`, the lists that a run used."""

from __future__ import annotations

from dataclasses import replace

from ...core.text.source import Source
from ...errors import Damaged
from ..system import System
from ..vocabulary import ListEntry, OperatorClass, ReadLists, loss_of

_SECTIONS = {
    **dict.fromkeys(("AllowList:", "WhiteList:"), OperatorClass.LOW),
    **dict.fromkeys(("InferList:", "GrayList:"), OperatorClass.FOLLOW),
    **dict.fromkeys(("DenyList:", "BlackList:"), OperatorClass.HIGH),
    "ClearList:": OperatorClass.CLEAR,
}


def read(system: System, sources: list[Source]) -> ReadLists:
    """Read the sections; lines before the first one are reported.

    :raises Damaged: if there is no section
    """
    (source,) = sources
    cls, section = None, ""
    entries: list[ListEntry] = []
    before: list[str] = []
    for line in source.text.splitlines():
        name = line.strip()
        if name in _SECTIONS:
            cls, section = _SECTIONS[name], name[:-1]
        elif name and cls is None:
            before.append(name)
        elif name and cls:
            entries.append(ListEntry(name, cls=cls, origin=section))
    if cls is None:
        message = "expected a section: AllowList:, DenyList:, InferList: or ClearList:"
        raise Damaged(message, path=source.path, line=1, column=1)
    losses = loss_of("not-a-name", f"{source.path}: these lines come before the first section", before, drops=True)
    return ReadLists(replace(system.lists(), entries=tuple(entries), version=None), losses)


SYSTEMS = (
    System(
        "tensorflow", "TensorFlow AMP rewrite", "tensorflow", "paintbuckets_*.txt", read=read, facts="tensorflow",
        instead="set TF_AUTO_MIXED_PRECISION_GRAPH_REWRITE_ALLOWLIST_ADD, ..._DENYLIST_REMOVE and the like",
    ),
)  # fmt: skip
