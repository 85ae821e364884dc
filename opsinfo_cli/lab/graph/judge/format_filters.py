"""Format filters: after the dtypes were matched, columns with unsuitable formats are dropped.

They can leave nothing; then column 0 wins. Source: hicann/ge ffdcbc9f, compiler/engines/nn_engine/optimizer/
graph_optimizer/op_judge/format_and_dtype/op_format_dtype_judge.cc:745-1047, strategy/matcher/format/.
Tensors whose format is unknown filter nothing.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from .kernel import HEAVY_FORMATS, ORIGIN_FORMATS

if TYPE_CHECKING:
    from collections.abc import Sequence

    from .kernel import Kernel
    from .node_facts import BoundPort


_ORIGIN = frozenset(ORIGIN_FORMATS)
_THREE_D = frozenset({"NDHWC", "NCDHW", "DHWCN", "DHWNC", "NDC1HWC0", "FRACTAL_Z_3D", "FRACTAL_Z_3D_TRANSPOSE"})
_C04 = frozenset({"NC1HWC0_C04", "FRACTAL_Z_C04"})
_C04_TYPES = frozenset({"Conv2D", "Conv2DBackpropFilter", "Conv2DBackpropFilterD"})
_MATMULS = frozenset({"MatMul", "MatMulV2", "BatchMatMulV2", "BatchMatMul"})
assert not _ORIGIN & set(HEAVY_FORMATS)


def filtered(
    kernel: Kernel,
    inputs: Sequence[BoundPort | None],
    outputs: Sequence[BoundPort | None],
    order: Sequence[int],
    columns: list[int],
) -> None:
    """Drop columns in place.

    :param order: the inputs in the order in which they are handled
    """
    ports = [*inputs, *outputs]
    if kernel.heavy and len(columns) > 1:
        _without_small_channel(kernel, ports, columns)
        if kernel.op_type in _MATMULS:
            _heavy_alone(inputs, columns)
    if len(columns) > 1:
        for each in ports:
            if each is not None and each.port.present:
                _same_dimensions(each, columns)
    for each in [*(inputs[index] for index in order), *outputs]:
        if each is not None and each.port.present:
            _by_origin(kernel, each, columns)


def heavy_format(each: BoundPort | None, column: int) -> str | None:
    """Return the format of a column that data must be converted to; None for a plain one."""
    if each is None or not each.port.present or column >= len(each.formats) or each.formats[column] in _ORIGIN:
        return None
    return each.formats[column]


def _without_small_channel(kernel: Kernel, ports: Sequence[BoundPort | None], columns: list[int]) -> None:
    if kernel.op_type not in _C04_TYPES:
        return
    small = {
        column
        for each in ports
        if each
        for column in columns
        if column < len(each.formats) and each.formats[column] in _C04
    }
    if small and len(small) < len(set(columns)):
        columns[:] = sorted(set(columns) - small)


def _heavy_alone(inputs: Sequence[BoundPort | None], columns: list[int]) -> None:
    """Matrix products prefer heavy formats at every input (format mode 0, the default)."""
    for each in inputs:
        if each is None:
            continue
        heavy = [column for column in columns if column < len(each.formats) and each.formats[column] not in _ORIGIN]
        if heavy:
            columns[:] = heavy


def _same_dimensions(each: BoundPort, columns: list[int]) -> None:
    own = each.port.format
    if own is None or own == "ND":
        return
    columns[:] = [
        column
        for column in columns
        if column >= len(each.formats)
        or each.formats[column] == "ND"
        or (each.formats[column] in _THREE_D) == (own in _THREE_D)
    ]


def _by_origin(kernel: Kernel, each: BoundPort, columns: list[int]) -> None:
    formats, own = each.formats, each.port.format
    if kernel.heavy and kernel.op_type not in _MATMULS:
        heavy = [column for column in columns if column < len(formats) and formats[column] not in _ORIGIN]
        if heavy:
            columns[:] = heavy
    if own is None:
        return
    same = [column for column in columns if column < len(formats) and formats[column] in (own, "ND")]
    if same:
        columns[:] = same
    elif own == "ND":
        columns[:] = [column for column in columns if column < len(formats) and formats[column] != "NC1HWC0"]
