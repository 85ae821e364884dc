"""All details of one operator, as text and JSON."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ...model.entry import Columns, TensorColumns
from ...model.operator_rows import OperatorRow, Standing
from ..escape import shown, visible
from ..terminal.cell_width import cell_width, padded, wrapped
from ..terminal.output import Output
from ..terminal.places import place_shown

if TYPE_CHECKING:
    from typing import Any


def tensors_document(columns: Columns) -> dict[str, Any]:
    return {
        "inputs": [_tensor_document(tensor) for tensor in columns.inputs],
        "outputs": [_tensor_document(tensor) for tensor in columns.outputs],
        "can_be_black": columns.can_be_black(),
        "can_be_white": columns.can_be_white(),
    }


def _tensor_document(tensor: TensorColumns) -> dict[str, Any]:
    return {"name": tensor.name, "param_type": tensor.param_type, "dtypes": list(tensor.dtypes)}


def show_lines(output: Output, row: OperatorRow, columns: Columns, why: list[str], target: str) -> list[str]:
    """Return the lines about one operator: policy, reason, entries, dtypes, and possible policies."""
    width = output.columns - _HEAD if output.on_terminal else 0
    black, white = columns.can_be_black(), columns.can_be_white()

    def place(each: OperatorRow | Standing, more: str = "") -> str:
        line = f":{each.line}"
        return place_shown(output, each.file or "", target, width - len(line + more)) + line + more

    store = f"  ({row.store})" if row.store else ""
    parts = [("why" if index == 0 else "", visible(line)) for index, line in enumerate(why)]
    parts.append(("entry", place(row, store)))
    parts += [("shadowed", f"{place(each, _says(each))}, never read") for each in row.shadowed]
    parts += [("also in", f"{place(each, _says(each))}, used if the first refuses a node") for each in row.also_in]
    parts += _tensor_parts("inputs", columns.inputs) + _tensor_parts("outputs", columns.outputs)
    parts += [("black", _POSSIBLE_BLACK[str(black)]), ("white", _POSSIBLE_WHITE[str(white)])]
    lines = [f"{visible(row.name)}  {output.paint(str(row.policy), str(row.policy))}"]
    for head, text in parts:
        first, *rest = wrapped(text, max(width, _HEAD)) if width else [text]
        lines += [f"  {head:<9} {first}", *(" " * _HEAD + line for line in rest)]
    return lines


_HEAD = 12
"""The cells before the text of a line."""


_BY_KERNEL = "decided by the kernel at compile time: the library lists no columns"
_POSSIBLE_BLACK = {
    "yes": "possible",
    "no": "not possible: no float32 among its input columns; black makes it unsupported for float32 input",
    "kernel": _BY_KERNEL,
}
_POSSIBLE_WHITE = {
    "yes": "possible",
    "no": "without effect: no float16 or bfloat16 among its columns",
    "kernel": _BY_KERNEL,
}


def _says(each: Standing) -> str:
    return f", {each.policy}" + (f" ({each.store})" if each.store else "")


def _tensor_parts(title: str, tensors: list[TensorColumns]) -> list[tuple[str, str]]:
    width = max((cell_width(shown(tensor.name)) for tensor in tensors), default=0)
    parts = []
    for index, tensor in enumerate(tensors):
        dtypes = ", ".join(dict.fromkeys(tensor.dtypes)) or "listed by the kernel"
        known = visible(dtypes)
        if tensor.name:  # a snapshot joins all tensors of one side
            known = f"{padded(shown(tensor.name), width)}  {tensor.param_type:<8}  {known}"
        parts.append((title if index == 0 else "", known))
    return parts
