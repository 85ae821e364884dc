"""Rows of operators, with the policy of the library and after the mixlist."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, NamedTuple

from .entry import Columns, Entry, TensorColumns
from .library import Operator, Operators, Store
from .policy import Mark, Policy, mark_words

if TYPE_CHECKING:
    from ..documents.list import ListDocument
    from ..documents.list import Operator as RowDocument
    from ..documents.shared import Place as PlaceDocument
    from ..documents.shared import Target as TargetDocument
    from ..documents.show import ShowDocument
    from ..documents.show import Tensor as TensorDocument
    from .mixlist import Mixlist


class Standing(NamedTuple):
    """An entry of the same name that does not decide; ``policy`` is None if its flag cannot be read."""

    file: str
    line: int
    policy: Policy | None
    store: str | None


class OperatorRow(NamedTuple):
    """One op type of a listing. ``policy`` is None if unknown; ``by_default`` as in :class:`.Entry`."""

    name: str
    policy: Policy | None
    library_policy: Policy | None
    marks: tuple[Mark, ...] = ()
    file: str | None = None
    line: int | None = None
    store: str | None = None
    shadowed: tuple[Standing, ...] = ()
    also_in: tuple[Standing, ...] = ()
    by_default: bool = False


def operator_rows(operators: Operators, mixlist: Mixlist | None) -> list[OperatorRow]:
    return [operator_row(operator, mixlist) for operator in operators]


def operator_row(operator: Operator, mixlist: Mixlist | None) -> OperatorRow:
    entry = operator.entry
    library = policy = entry.policy
    marks: tuple[Mark, ...] = ()
    if mixlist:
        policy = mixlist.effective(operator.name, library)
        marks = tuple(sorted(mixlist.marks_of(operator.name)))
    shadowed, also_in = map(_standings, (operator.shadowed, operator.also_in))
    label = operator.store.label
    place = (entry.path, entry.line, label)
    return OperatorRow(operator.name, policy, library, marks, *place, shadowed, also_in, entry.by_default)


def _standings(found: list[tuple[Store, Entry]]) -> tuple[Standing, ...]:
    return tuple(Standing(entry.path, entry.line, entry.policy_or_none, store.label) for store, entry in found)


def mixlist_rows(mixlist: Mixlist, operators: Operators | None) -> list[OperatorRow]:
    """Return the op types of a mixlist with their marks, and policies if the marks or a target determine them."""
    rows = []
    first = {item.name: item.node for item in reversed(mixlist.items)}
    for name in sorted(mixlist.marks):
        known = operators[name].entry.policy if operators and name in operators else None
        policy = mixlist.alone(name) if known is None else mixlist.effective(name, known)
        line = mixlist.source.place(first[name].start).line
        rows.append(OperatorRow(name, policy, known, tuple(sorted(mixlist.marks[name])), mixlist.path, line))
    return rows


def row_document(row: OperatorRow) -> RowDocument:
    return {
        "name": row.name,
        "policy": row.policy.value if row.policy else None,
        "library_policy": row.library_policy.value if row.library_policy else None,
        "marks": mark_words(row.marks),
        "file": row.file,
        "line": row.line,
        "store": row.store,
        "shadowed": _standing_documents(row.shadowed),
        "also_in": _standing_documents(row.also_in),
        "by_default": row.by_default,
    }


def _standing_documents(standings: Sequence[Standing]) -> list[PlaceDocument]:
    return [
        {
            "file": each.file,
            "line": each.line,
            "policy": each.policy.value if each.policy else None,
            "store": each.store,
        }
        for each in standings
    ]


def list_document(
    target: TargetDocument,
    rows: Sequence[OperatorRow],
    total: int,
    other_stores: Mapping[str, int],
) -> ListDocument:
    """Return the JSON document of ``opsinfo list``.

    :param total: the number of rows before narrowing
    """
    policies = [row.policy for row in rows]
    return {
        "schema_version": 1,
        "command": "list",
        "target": target,
        "operators": [row_document(row) for row in rows],
        "counts": {
            "white": policies.count(Policy.WHITE),
            "black": policies.count(Policy.BLACK),
            "gray": policies.count(Policy.GRAY),
        },
        "total": total,
        "other_stores": {**other_stores},
    }


def show_document(target: TargetDocument, operators: Iterable[tuple[OperatorRow, Columns]]) -> ShowDocument:
    """Return the JSON document of ``opsinfo show``."""
    return {
        "schema_version": 1,
        "command": "show",
        "target": target,
        "operators": [
            {
                **row_document(row),
                "inputs": list(map(_tensor_document, columns.inputs)),
                "outputs": list(map(_tensor_document, columns.outputs)),
                "can_be_black": columns.can_be_black().value,
                "can_be_white": columns.can_be_white().value,
            }
            for row, columns in operators
        ],
    }


def _tensor_document(tensor: TensorColumns) -> TensorDocument:
    return {"name": tensor.name, "param_type": tensor.param_type, "dtypes": list(tensor.dtypes)}
