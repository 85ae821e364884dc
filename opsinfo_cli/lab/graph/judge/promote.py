"""Promotion: inputs that a kernel requires in one dtype bypass the mode and the lists.

Source: hicann/ge ffdcbc9f, compiler/engines/nn_engine/optimizer/ops_kernel_store/sub_ops_store.cc:1093-1152 and
optimizer/graph_optimizer/op_judge/format_and_dtype/op_format_dtype_judge.cc:271-450; the table is
inc/graph_metadef/external/op_common/data_type_utils.h:59-158.
"""

from __future__ import annotations

from functools import reduce
from itertools import product
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Sequence

    from .kernel import Kernel
    from .node_facts import BoundPort


_NAMES = (
    *("float32", "float16", "int8", "int32", "uint8", "int16", "int64", "float64"),
    *("bool", "complex64", "complex128", "bfloat16", "complex32"),
)
_TABLE = """
f4 f4 f4 f4 f4 f4 f4 f8 f4 c4 c8 f4 c4  f4 f2 f2 f2 f2 f2 f2 f8 f2 c4 c8 f4 c2
f4 f2 i1 i4 i2 i2 i8 f8 i1 c4 c8 bf c2  f4 f2 i4 i4 i4 i4 i8 f8 i4 c4 c8 bf c2
f4 f2 i2 i4 u1 i2 i8 f8 u1 c4 c8 bf c2  f4 f2 i2 i4 i2 i2 i8 f8 i2 c4 c8 bf c2
f4 f2 i8 i8 i8 i8 i8 f8 i8 c4 c8 bf c2  f8 f8 f8 f8 f8 f8 f8 f8 f8 c8 c8 f8 c8
f4 f2 i1 i4 u1 i2 i8 f8 b1 c4 c8 bf c2  c4 c4 c4 c4 c4 c4 c4 c8 c4 c4 c8 c4 c4
c8 c8 c8 c8 c8 c8 c8 c8 c8 c8 c8 c8 c8  f4 f4 bf bf bf bf bf f8 bf c4 c8 bf c4
c4 c2 c2 c2 c2 c2 c2 c8 c2 c4 c8 c4 c2
"""
"""Two rows a line."""
_SHORT = dict(zip("f4 f2 i1 i4 u1 i2 i8 f8 b1 c4 c8 bf c2".split(), _NAMES, strict=True))  # noqa: SIM905
_PROMOTED = {pair: _SHORT[short] for pair, short in zip(product(_NAMES, repeat=2), _TABLE.split(), strict=True)}
_ONE_SIDED = {
    **{(left, "complex64"): "complex64" for left in ("uint16", "uint32")},
    **{(left, "complex128"): "complex128" for left in ("uint16", "uint32", "uint64")},
    ("uint64", "complex64"): "complex128",
}
"""Pairs that the table has in one order only."""
_MISSING = "missing"
"""In place of the dtype of an input that is not there."""


class Promotion(NamedTuple):
    """Groups of inputs, by index, with their promoted dtype; None if they have none.

    :param targets: fewer than the groups, if a group lacks an input
    """

    groups: tuple[tuple[int, ...], ...]
    targets: tuple[str | None, ...]


def type_of(left: str | None, right: str | None) -> str | None:
    """Return the dtype that two dtypes are promoted to; None if there is none."""
    if left is None or right is None:
        return None
    if left == right:
        return left
    return _PROMOTED.get((left, right)) or _ONE_SIDED.get((left, right))


def promotion_of(kernel: Kernel, inputs: Sequence[BoundPort | None]) -> Promotion | None:
    """Return the promotion; None if the kernel requires none or the inputs agree."""
    at = {tensor.slot.name: index for index, tensor in reversed([*enumerate(inputs)]) if tensor}
    own = {index: tensor.port.dtype for index, tensor in enumerate(inputs) if tensor and tensor.port.present}
    groups = tuple(tuple(at.get(name, -1) for name in names) for names in kernel.promotes)
    targets: list[str | None] = []
    differ = False
    for group in groups:
        dtypes = [own.get(index, _MISSING) for index in group]
        count = dtypes.index(_MISSING) if _MISSING in dtypes else len(dtypes)
        differ = differ or (count >= 2 and len(set(dtypes[:count])) > 1)
        if count < len(dtypes):
            break
        targets.append(reduce(lambda target, dtype: type_of(dtype, target), dtypes[2:], type_of(dtypes[0], dtypes[1])))
    return Promotion(groups, tuple(targets)) if differ else None


def has_promoted_column(promotion: Promotion, index: int, row: tuple[str, ...]) -> bool:
    """Return whether an input has a column after promotion."""
    if len(promotion.groups) != len(promotion.targets):
        return False
    for group, target in zip(promotion.groups, promotion.targets, strict=True):
        if index in group:
            return target is not None and any(type_of(target, dtype) == dtype for dtype in row)
    return False


def narrow(promotion: Promotion, inputs: Sequence[BoundPort | None], columns: list[int]) -> bool:
    """Narrow the columns to the promoted dtypes, and return whether that succeeded."""
    for group, target in zip(promotion.groups, promotion.targets, strict=False):
        ports = [tensor for index in group if (tensor := inputs[index])]
        if len({tensor.port.dtype for tensor in ports}) == 1:
            continue
        for tensor in ports:
            if not columns:
                columns[:] = range(len(tensor.dtypes))
            row = tensor.dtypes
            columns[:] = [column for column in columns if column < len(row)]
            same = [column for column in columns if row[column] == target]
            wider = [at for at in columns if row[at] != target and type_of(target, row[at]) == row[at]]
            columns[:] = [*same, *wider] or columns
        if not columns:
            return False
    return len(promotion.targets) == len(promotion.groups)
