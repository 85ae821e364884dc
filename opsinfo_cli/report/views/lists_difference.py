"""The differences between two systems' lists, as text and JSON."""

from __future__ import annotations

from typing import Any

from ...compare import Difference
from ...neighbours.vocabulary import OperatorLists
from ..escape import row, visible
from ..terminal.output import Output
from .neighbours import source_document


def show_lists_difference(output: Output, a: OperatorLists, b: OperatorLists, found: Difference[Any]) -> None:
    """Print differences as `diff` shows policies; `*` stands for names that are not listed."""
    changed = {name: (str(x), str(y)) for name, (x, y) in found.changed.items()}
    if a.unlisted != b.unlisted:
        changed["*"] = (a.unlisted, b.unlisted)
    if output.on_terminal:
        lines = [f"A  {visible(a.title)}", f"B  {visible(b.title)}", summary(found), ""]
        lines += [f"{output.paint('~', 'warning')} {visible(name)}  {x} -> {y}" for name, (x, y) in changed.items()]
        lines += [f"{output.paint('-', 'error')} {visible(name)}" for name in found.only_in_a]
        lines += [f"{output.paint('+', 'note')} {visible(name)}" for name in found.only_in_b]
        output.lines(lines)
        return
    output.lines(row("changed", name, *pair) for name, pair in changed.items())
    output.lines(row("only_in_a", name) for name in found.only_in_a)
    output.lines(row("only_in_b", name) for name in found.only_in_b)
    output.tell(summary(found))


def summary(found: Difference[Any]) -> str:
    sides = f"{len(found.only_in_a)} only in A, {len(found.only_in_b)} only in B"
    return f"{len(found.changed)} of another class, {sides}, {found.same} the same"


def lists_difference_document(a: OperatorLists, b: OperatorLists, found: Difference[Any]) -> dict[str, Any]:
    return {
        "system_a": source_document(a),
        "system_b": source_document(b),
        "only_in_a": found.only_in_a,
        "only_in_b": found.only_in_b,
        "changed": [{"name": name, "a": x, "b": y} for name, (x, y) in found.changed.items()],
        "counts": {
            "only_in_a": len(found.only_in_a),
            "only_in_b": len(found.only_in_b),
            "changed": len(found.changed),
            "same": found.same,
        },
    }
