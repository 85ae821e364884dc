"""Matchers: find the columns of an operator that fit a tensor's dtype.

A matcher narrows a list of candidate columns in place and returns whether anything fits; a miss leaves the list as it
is, but for what the engine's own code erases on the way. Source: hicann/ge ffdcbc9f, compiler/engines/nn_engine/
optimizer/graph_optimizer/op_judge/format_and_dtype/strategy/matcher/dtype/.
"""

from __future__ import annotations

from ....core.cann.dtype_names import FLOATING
from ....core.cann.dtype_names import LOW as _LOW

PRIORITY = {"float32": 100000, "bfloat16": 200000, "float16": 200001}
"""Ranks that decide which reduction comes first (inc/common/util/op_info_util.h:83)."""

Row = tuple[str, ...]
"""The dtypes of one tensor, by column."""


def match_exact(row: Row, dtype: str | None, columns: list[int], forbidden: str | None) -> bool:
    """Keep the columns of this dtype (op_dtype_matcher_base.cc:37-69)."""
    columns[:] = [column for column in columns if column < len(row)]
    if dtype == forbidden:
        return False
    return _replace_columns(columns, [column for column in columns if row[column] == dtype])


def match_precise(row: Row, dtype: str | None, columns: list[int]) -> bool:
    """As :func:`match_exact`, with nothing forbidden (op_dtype_precise_matcher.cc:20-51)."""
    return match_exact(row, dtype, columns, "")


def match_rise(row: Row, dtype: str | None, columns: list[int], forbidden: str | None) -> bool:
    """Keep the columns of this dtype, else those of float32 (op_dtype_rise_matcher.cc:20-101)."""
    if dtype not in FLOATING:
        return match_exact(row, dtype, columns, forbidden)
    open_ = [column for column in columns if column < len(row) and row[column] in FLOATING and row[column] != forbidden]
    same = [column for column in open_ if row[column] == dtype]
    return _replace_columns(columns, same or [column for column in open_ if row[column] == "float32"])


def match_reduce(row: Row, dtype: str | None, columns: list[int], forbidden: str | None) -> bool:
    """Keep the columns of lower dtypes, the nearest first: of float32 bfloat16, then float16.

    A repeated column is moved one place on; if that place is taken, it is lost (op_dtype_reduce_matcher.cc:28-92).
    """
    if dtype not in FLOATING:
        return match_exact(row, dtype, columns, forbidden)
    assert dtype is not None
    found: dict[int, int] = {}
    step = 1
    for column in columns:
        own = row[column] if column < len(row) else None
        if own is None or own not in FLOATING or own == forbidden:
            continue
        gap = PRIORITY[own] - PRIORITY[dtype]
        if gap > 0:
            if gap in found:
                gap += step
                step += 1
            found.setdefault(gap, column)
    return _replace_columns(columns, [found[gap] for gap in sorted(found)])


def match_mix_precision(row: Row, columns: list[int], forbidden: str | None) -> bool:
    """Keep the columns of float16 and bfloat16; those of the forbidden dtype are erased even if nothing is left
    (op_dtype_mix_precision_matcher.cc:21-52).
    """
    columns[:] = [column for column in columns if column < len(row) and row[column] != forbidden]
    return _replace_columns(
        columns, [column for column in columns if row[column] in _LOW and row[column] != "hifloat8"]
    )


def _replace_columns(columns: list[int], found: list[int]) -> bool:
    if not found:
        return False
    columns[:] = found
    return True
