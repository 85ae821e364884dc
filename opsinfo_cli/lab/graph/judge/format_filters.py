"""Format filters: after the dtypes were matched, columns with unsuitable formats are dropped.

They can leave nothing; then column 0 wins. Source: hicann/ge ffdcbc9f, compiler/engines/nn_engine/optimizer/
graph_optimizer/op_judge/format_and_dtype/op_format_dtype_judge.cc:745-1047, strategy/matcher/format/.
Tensors whose format is unknown filter nothing.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from .kernel import HEAVY_FORMATS, ORIGIN_FORMATS

if TYPE_CHECKING:
    from collections.abc import Collection, Sequence

    from .kernel import Kernel
    from .node_facts import BoundPort


_ORIGIN = frozenset(ORIGIN_FORMATS)
_THREE_D = frozenset({"NDHWC", "NCDHW", "DHWCN", "DHWNC", "NDC1HWC0", "FRACTAL_Z_3D", "FRACTAL_Z_3D_TRANSPOSE"})
_C04 = frozenset({"NC1HWC0_C04", "FRACTAL_Z_C04"})
_C04_TYPES = frozenset({"Conv2D", "Conv2DBackpropFilter", "Conv2DBackpropFilterD"})
_MATMULS = frozenset({"MatMul", "MatMulV2", "BatchMatMulV2", "BatchMatMul"})
assert not _ORIGIN & set(HEAVY_FORMATS)


def filter_formats(
    kernel: Kernel,
    inputs: Sequence[BoundPort | None],
    outputs: Sequence[BoundPort | None],
    order: Sequence[int],
    columns: list[int],
) -> None:
    """Drop columns in place.

    :param order: the inputs in the order in which they are handled
    """
    if kernel.heavy and len(columns) > 1:
        if kernel.op_type in _C04_TYPES:
            _drop_small_channel([*inputs, *outputs], columns)
        if kernel.op_type in _MATMULS:  # they prefer heavy formats at every input (format mode 0, the default)
            for tensor in inputs:
                if tensor is not None:
                    _prefer_heavy(tensor, columns)
    if len(columns) > 1:
        for tensor in (*inputs, *outputs):
            if tensor is not None and tensor.port.present:
                _keep_dimensions(tensor, columns)
    for tensor in (*(inputs[index] for index in order), *outputs):
        if tensor is not None and tensor.port.present:
            if kernel.heavy and kernel.op_type not in _MATMULS:
                _prefer_heavy(tensor, columns)
            _prefer_own(tensor, columns)


def _drop_small_channel(tensors: Sequence[BoundPort | None], columns: list[int]) -> None:
    """Drop the columns that have a format of a small channel, unless all have one."""
    small = {column for tensor in tensors if tensor for column in columns if _format_in(_C04, tensor, column)}
    if small and len(small) < len(set(columns)):
        columns[:] = sorted(set(columns) - small)


def _prefer_heavy(tensor: BoundPort, columns: list[int]) -> None:
    heavy = [column for column in columns if column < len(tensor.formats) and tensor.formats[column] not in _ORIGIN]
    columns[:] = heavy or columns


def _keep_dimensions(tensor: BoundPort, columns: list[int]) -> None:
    """Drop the columns whose format has another number of dimensions than the tensor's own."""
    own = tensor.port.format
    if own is None or own == "ND":
        return
    columns[:] = [
        column
        for column in columns
        if column >= len(tensor.formats)
        or tensor.formats[column] == "ND"
        or (tensor.formats[column] in _THREE_D) == (own in _THREE_D)
    ]


def _prefer_own(tensor: BoundPort, columns: list[int]) -> None:
    """Keep the columns with the tensor's own format or ND; if there are none and it is ND, drop NC1HWC0."""
    own = tensor.port.format
    if own is None:
        return
    same = [column for column in columns if _format_in((own, "ND"), tensor, column)]
    if same:
        columns[:] = same
    elif own == "ND":
        columns[:] = [
            column for column in columns if column < len(tensor.formats) and tensor.formats[column] != "NC1HWC0"
        ]


def _format_in(formats: Collection[str], tensor: BoundPort, column: int) -> bool:
    return column < len(tensor.formats) and tensor.formats[column] in formats


def heavy_format(tensor: BoundPort | None, column: int) -> str | None:
    """Return the format of a column that data must be converted to; None for a plain one."""
    if tensor is None or not tensor.port.present or column >= len(tensor.formats) or tensor.formats[column] in _ORIGIN:
        return None
    return tensor.formats[column]
