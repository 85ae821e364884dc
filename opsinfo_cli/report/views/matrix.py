"""Operators by target, as text and JSON."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

from ...compare import Policies, differs
from ...model.policy import Policy
from ...model.target import Target
from ..escape import row, shown, visible
from ..terminal.cell_width import cell_width
from ..terminal.output import Output
from .operators import target_document


def column_labels(targets: Sequence[Target]) -> list[str]:
    """Return distinct labels: the chips, else the texts, else both together."""
    texts = [target.text for target in targets]
    socs = [target.soc or target.text for target in targets]
    both = [text if text == soc else f"{text} {soc}" for text, soc in zip(texts, socs, strict=True)]
    return next((labels for labels in (socs, texts) if len(set(labels)) == len(labels)), both)


def show_matrix(output: Output, targets: Sequence[Target], rows: Mapping[str, Policies], total: int) -> None:
    """Print a table on a terminal; tab-separated lines elsewhere."""
    if output.on_terminal:
        with output.paged():
            _table(output, column_labels(targets), rows)
    else:
        output.lines(row(name, *map(_word, policies)) for name, policies in rows.items())
    different = sum(map(differs, rows.values()))
    of = f" of {total}" if total != len(rows) else ""
    within = "one target" if len(targets) == 1 else f"{len(targets)} targets"
    output.tell(f"{len(rows)}{of} operators in {within}, {different} differ")


def _word(policy: Policy | None) -> str:
    return str(policy) if policy else "-"


def _table(output: Output, labels: list[str], rows: Mapping[str, Policies]) -> None:
    """Print words under names if they fit; else letters under numbers, with a legend of the numbers."""
    from ..terminal.table import Column, print_table

    names = max((cell_width(shown(name)) for name in rows), default=0)
    wide = names + sum(2 + max(cell_width(shown(label)), 5) for label in labels)
    if wide <= output.columns:
        columns = [Column(label, policy=True) for label in labels]
        cells = [[name, *map(_word, policies)] for name, policies in rows.items()]
    else:
        output.lines(f"{number:>3}  {visible(label)}" for number, label in enumerate(labels, 1))
        output.lines([""])
        columns = [Column(str(number), policy=True) for number in range(1, len(labels) + 1)]
        cells = [[name, *(_word(policy)[0] for policy in policies)] for name, policies in rows.items()]
    print_table(output, [Column("operator"), *columns], cells)


def matrix_document(targets: Sequence[Target], rows: Mapping[str, Policies], total: int) -> dict[str, Any]:
    return {
        "targets": [
            {**target_document(target), "counts": _counts([policies[index] for policies in rows.values()])}
            for index, target in enumerate(targets)
        ],
        "operators": [
            {"name": name, "policies": list(policies), "differs": differs(policies)} for name, policies in rows.items()
        ],
        "total": total,
        "differing": sum(map(differs, rows.values())),
    }


def _counts(policies: Sequence[Policy | None]) -> dict[str, int]:
    counts = Counter(policies)
    return {str(policy): counts[policy] for policy in (Policy.WHITE, Policy.BLACK, Policy.GRAY)}
