"""The search among the nodes of the culprit types that must keep their dtype."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ...bisect.judged_nodes import JudgedNodes
from ...bisect.judged_sets import JudgedSets
from ...bisect.subject import SearchSubject
from ...bisect.trial import keep_dtype_name, mixlist_name

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ...bisect.question import Kept

_MARK = "node:"
"""Prefix of the names of nodes, which distinguishes them from op types in a journal."""


def keep_dtype_text(nodes: Sequence[str]) -> str:
    """Return the text of a keep_dtype file with these nodes."""
    return "".join(f"{name}\n" for name in nodes)


def node_subject(sets: JudgedSets, types: Sequence[str], base: str) -> SearchSubject:
    """Return the subject of a search among the nodes of op types that the base list leaves low.

    :param base: the text of the base list, which every trial gets with its keep_dtype file
    """
    judged = JudgedNodes(sets)
    nodes = judged.low_nodes(types)

    def chosen(kept: Kept) -> list[str]:
        return [nodes[number] for number in sorted(kept)]

    def files(kept: Kept, number: int) -> dict[str, tuple[str, bytes]]:
        text = keep_dtype_text(chosen(kept))
        return {
            "mixlist": (mixlist_name(number), base.encode("utf-8")),
            "keep_dtype": (keep_dtype_name(number), text.encode("utf-8")),
        }

    return SearchSubject([_MARK + name for name in nodes], lambda kept: judged.digest(frozenset(chosen(kept))), files)


def node_name(name: str) -> str:
    """Return the name of a node from the name of its candidate."""
    return name.removeprefix(_MARK)
