"""Decisions for people and for programs."""

from __future__ import annotations

from typing import Any

from ...model.names import meant
from ...neighbours.decide import Decision
from ..terminal.output import Output
from ..terminal.visible import row, visible

_WORDS = {"not-known": "not known", "refused": "refused"}


def show_decisions(output: Output, decisions: list[Decision]) -> None:
    """Operator, inputs, dtype, rule, source; on a terminal the source below. Near names of an unknown one on stderr."""
    for each in decisions:
        if hint := meant(list(each.near)):
            output.say(f"{each.call.name}: {hint}")
        dtype = each.dtype or _WORDS[each.outcome]
        inputs = ",".join(each.call.dtypes)
        if not output.on_terminal:
            output.lines([row(each.call.name, inputs or "-", dtype, each.says, each.source)])
            continue
        called = visible(f"{each.call.name}({', '.join(each.call.dtypes)})")
        output.lines([f"{called}  {output.paint(visible(dtype), 'white')}", f"  {visible(each.says)}"])
        output.tell(f"  source: {each.source}")


def decisions_document(system: str, decisions: list[Decision]) -> dict[str, Any]:
    return {
        "system": system,
        "decisions": [
            {
                "operator": each.call.name,
                "inputs": list(each.call.dtypes),
                "outcome": each.outcome,
                "dtype": each.dtype,
                "says": each.says,
                "source": each.source,
                "near": list(each.near),
            }
            for each in decisions
        ],
    }
