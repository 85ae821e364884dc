"""Passes of the preparation, before those of the engine: Dropout and Identity are removed."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ..rule import PREPARED, Change, FusionRule

if TYPE_CHECKING:
    from collections.abc import Iterator

    from ..rule import FusionGraph


def _drop_out(it: FusionGraph) -> Iterator[Change]:
    """Dropout is removed; its mask is left out."""
    for node in it.of("Dropout"):
        if not any(it.readers(node, number) for number in range(1, len(node.outputs))):
            yield Change((node,), None, node.sources[0])


def _identity(it: FusionGraph) -> Iterator[Change]:
    """Identity is removed, but not beside a subgraph, and not if it holds a control edge of a Switch or a Merge."""
    for node in it.of("Identity", "IdentityN"):
        producer = it.source(node, 0)
        readers = [reader for number in range(len(node.outputs)) for reader in it.readers(node, number)]
        if len(node.sources) != len(node.outputs) or len(node.sources) != 1 or producer is None:
            continue
        main = it.graph.subgraphs[0].nodes
        beside = any(
            each.index in it.owners or (each.type in ("Data", "NetOutput") and each.index not in main)
            for each in (producer, *readers)
        )
        holds = (producer.type in ("Switch", "RefSwitch") and node.index in it.waited) or (
            bool(node.control) and any(reader.type in ("Merge", "RefMerge") for reader in readers)
        )
        if not beside and not holds:
            yield Change((node,), None, node.sources[0])


_GE = "hicann/ge ffdcbc9f, compiler/graph/passes"
RULES = (
    FusionRule("DropOutPass", PREPARED, _drop_out, f"{_GE}/remove_unsupported_op/dropout_pass.cc"),
    FusionRule("IdentityPass", PREPARED, _identity, f"{_GE}/memory_conflict/identity_pass.cc"),
)
