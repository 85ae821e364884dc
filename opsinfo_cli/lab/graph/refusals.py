"""Nodes that the compiler's front end refuses, as warnings."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ...errors import counted, join_some
from .verdict import opset_hint

if TYPE_CHECKING:
    from collections.abc import Iterator

    from .graph import ModelFacts

_MOST = 5


def refusal_lines(model: ModelFacts) -> Iterator[str]:
    """Yield a line for each operator and reason, with its nodes, and what to do."""
    groups: dict[tuple[str, str], list[str]] = {}
    for refusal in model.refused:
        groups.setdefault((refusal.type, refusal.why), []).append(f"`{refusal.name}`")
    for (op, why), names in list(groups.items())[:_MOST]:
        yield f"atc refuses this model: {join_some(names)} ({op}): {why}"
    if len(groups) > _MOST:
        yield f"atc refuses this model: {counted(len(groups) - _MOST, 'more operator')} of it too"
    hint = opset_hint(model)
    if groups and hint:
        yield hint
