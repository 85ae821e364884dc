"""Operators that ran with reduced precision, as text and JSON."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ...model.policy import Policy
from ...runs.reduced import Reduced
from ..escape import row
from ..terminal.output import Output

PolicyOf = Callable[[str], Policy | None]


def show_reduced(output: Output, found: Reduced, policy_of: PolicyOf | None) -> None:
    """Print operators, most records first; off a terminal name, count, policy, kernel."""
    ordered = sorted(found.counts.items(), key=lambda item: (-item[1], item[0]))
    cells = [[name, str(count), _word(name, policy_of), _kernel(found, name)] for name, count in ordered]
    if not output.on_terminal:
        output.lines(row(*each) for each in cells)
    elif cells:
        from ..terminal.table import Column, print_table

        columns = [Column("operator"), Column("records"), Column("policy", policy=True), Column("kernel", dim=True)]
        with output.paged():
            print_table(output, columns, cells)
    output.tell(_summary(found))


def _summary(found: Reduced) -> str:
    said = f"{found.counts.total()} records of reduced precision, {len(found.counts)} operators"
    if found.raised:
        said += f"; {found.raised} of raised precision"
    return said + (f"; {found.unnamed} without an operator's name" if found.unnamed else "")


def _word(name: str, policy_of: PolicyOf | None) -> str:
    policy = policy_of(name) if policy_of else None
    return str(policy) if policy else "-"


def _kernel(found: Reduced, name: str) -> str:
    return found.kernels.get(name, ["-"])[0]


def reduced_document(
    found: Reduced, logs: list[str], against: str | None, policy_of: PolicyOf | None
) -> dict[str, Any]:
    ordered = sorted(found.counts.items(), key=lambda item: (-item[1], item[0]))
    return {
        "logs": logs,
        "against": against,
        "operators": [
            {
                "name": name,
                "count": count,
                "policy": policy_of(name) if policy_of else None,
                "kernels": found.kernels.get(name, []),
            }
            for name, count in ordered
        ],
        "total": found.counts.total(),
        "raised": found.raised,
        "unnamed": found.unnamed,
    }
