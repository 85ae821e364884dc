"""The JSON documents of ``opsinfo list`` and ``opsinfo show``."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING

from .entry import Columns, TensorColumns
from .marks import mark_words
from .operator_rows import OperatorRow, Standing
from .policy import Policy

if TYPE_CHECKING:
    from ..documents.list import ListDocument
    from ..documents.list import Operator as RowDocument
    from ..documents.shared import Place as PlaceDocument
    from ..documents.shared import Target as TargetDocument
    from ..documents.show import ShowDocument
    from ..documents.show import Tensor as TensorDocument


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
