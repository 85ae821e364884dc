"""Decisions, as text and JSON."""

from __future__ import annotations

from typing import Any

from ...model.near_names import meant
from ...neighbours.decide import Decision
from ..escape import row, visible
from ..terminal.output import Output

_WORDS = {"not-known": "unknown", "refused": "refused"}


def show_decisions(output: Output, decisions: list[Decision]) -> None:
    """Print operator, inputs, dtype, rule and source; on a terminal the source is below; near names go to stderr."""
    with output.paged():
        for each in decisions:
            if hint := meant(list(each.near)):
                output.say(f"{each.call.name}: {hint}")
            _show(output, each)


def _show(output: Output, each: Decision) -> None:
    dtype = each.dtype or _WORDS[each.outcome]
    if not output.on_terminal:
        output.lines([row(each.call.name, ",".join(each.call.dtypes) or "-", dtype, each.says, each.source)])
        return
    called = visible(f"{each.call.name}({', '.join(each.call.dtypes)})")
    output.lines([f"{called}  {output.paint(visible(dtype), 'white')}"])
    output.lines(output.wrapped(f"  {visible(each.says)}", 2))
    output.lines(output.wrapped(f"  source: {visible(each.source)}", 4))


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
