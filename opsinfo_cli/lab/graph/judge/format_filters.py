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
    ports = [tensor for tensor in (*inputs, *outputs) if tensor is not None]
    if kernel.heavy and len(columns) > 1 and kernel.op_type in _C04_TYPES:  # formats of a small channel go
        small = {column for tensor in ports for column in columns if _format_in(_C04, tensor, column)}
        if small and len(small) < len(set(columns)):
            columns[:] = sorted(set(columns) - small)
    if kernel.heavy and len(columns) > 1 and kernel.op_type in _MATMULS:
        for tensor in inputs:  # they prefer heavy formats at every input (format mode 0, the default)
            if tensor is not None:
                columns[:] = [column for column in columns if _is_heavy(tensor, column)] or columns
    if len(columns) > 1:  # a format has as many dimensions as the tensor's own
        for tensor in ports:
            own = tensor.port.format
            if tensor.port.present and own is not None and own != "ND":
                columns[:] = [
                    column
                    for column in columns
                    if column >= len(tensor.formats)
                    or tensor.formats[column] == "ND"
                    or (tensor.formats[column] in _THREE_D) == (own in _THREE_D)
                ]
    for tensor in [*(inputs[index] for index in order), *outputs]:
        if tensor is None or not tensor.port.present:
            continue
        own = tensor.port.format
        if kernel.heavy and kernel.op_type not in _MATMULS:
            columns[:] = [column for column in columns if _is_heavy(tensor, column)] or columns
        if own is None:
            continue
        same = [column for column in columns if _format_in((own, "ND"), tensor, column)]
        if same:
            columns[:] = same
        elif own == "ND":
            columns[:] = [
                column for column in columns if column < len(tensor.formats) and tensor.formats[column] != "NC1HWC0"
            ]


def _format_in(formats: Collection[str], tensor: BoundPort, column: int) -> bool:
    return column < len(tensor.formats) and tensor.formats[column] in formats


def _is_heavy(tensor: BoundPort, column: int) -> bool:
    return column < len(tensor.formats) and tensor.formats[column] not in _ORIGIN


def heavy_format(tensor: BoundPort | None, column: int) -> str | None:
    """Return the format of a column that data must be converted to; None for a plain one."""
    if tensor is None or not tensor.port.present or column >= len(tensor.formats) or tensor.formats[column] in _ORIGIN:
        return None
    return tensor.formats[column]
