"""One operator, whole, for people and for programs."""

from __future__ import annotations

from typing import Any

from ..model.columns import Columns, Tensor
from ..model.listing import Row, Standing
from .cells import cell_width, padded
from .output import Output
from .visible import shown, visible

__all__ = ["show_lines", "tensors_document"]


def tensors_document(columns: Columns) -> dict[str, Any]:
    return {
        "inputs": [_tensor_document(tensor) for tensor in columns.inputs],
        "outputs": [_tensor_document(tensor) for tensor in columns.outputs],
        "can_be_black": columns.can_be_black(),
        "can_be_white": columns.can_be_white(),
    }


def _tensor_document(tensor: Tensor) -> dict[str, Any]:
    return {"name": tensor.name, "param_type": tensor.param_type, "dtypes": list(tensor.dtypes)}


def show_lines(output: Output, row: Row, columns: Columns, why: list[str]) -> list[str]:
    """One operator on one screen: where it is, why, who else says something, what it could be."""
    place = f"{visible(row.file or '')}:{row.line}" + (f"  ({row.store})" if row.store else "")
    lines = [f"{visible(row.name)}  {output.paint(str(row.policy), str(row.policy))}"]
    lines += [f"  why       {line}" if index == 0 else f"            {line}" for index, line in enumerate(why)]
    lines.append(f"  entry     {place}")
    lines += [f"  shadowed  {_standing_line(each)}, never read" for each in row.shadowed]
    lines += [f"  also in   {_standing_line(each)}, where the first refuses a node" for each in row.also_in]
    lines += _tensor_lines("inputs", columns.inputs) + _tensor_lines("outputs", columns.outputs)
    black, white = columns.can_be_black(), columns.can_be_white()
    lines.append(f"  black     {_POSSIBLE_BLACK[str(black)]}")
    lines.append(f"  white     {_POSSIBLE_WHITE[str(white)]}")
    return lines


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


def _standing_line(each: Standing) -> str:
    return f"{visible(each.file)}:{each.line} says {each.policy}" + (f" ({each.store})" if each.store else "")


def _tensor_lines(title: str, tensors: list[Tensor]) -> list[str]:
    width = max((cell_width(shown(tensor.name)) for tensor in tensors), default=0)
    lines = []
    for index, tensor in enumerate(tensors):
        dtypes = ", ".join(dict.fromkeys(tensor.dtypes)) or "listed by the kernel"
        head = title if index == 0 else ""
        lines.append(f"  {head:<9} {padded(shown(tensor.name), width)}  {tensor.param_type:<8}  {visible(dtypes)}")
    return lines
