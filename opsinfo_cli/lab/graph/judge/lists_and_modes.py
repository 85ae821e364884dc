"""The strategies by which one tensor narrows the columns, by mode, list and attributes.

Source: hicann/ge ffdcbc9f, compiler/engines/nn_engine/optimizer/graph_optimizer/op_judge/format_and_dtype/strategy/:
op_format_dtype_strategy_manager.cc:203-252 and dtype_strategy/.

A matcher narrows a list of candidate columns in place and returns whether anything fits; a miss leaves the list as it
is, but for what the engine's own code erases on the way (matcher/dtype/, beside the strategies).
"""

from __future__ import annotations

from typing import NamedTuple

from ....core.cann.dtype_names import COMPLEX, FLOATING, LOW
from ....core.cann.policy import Policy
from .modes import forbidden_dtype
from .node_facts import JudgeSetting, OperatorFacts, OperatorPort, Seen, dtype_of, seen_through

WHITE_HIF8: dict[str, tuple[str, ...]] = {
    "hifloat8": ("hifloat8", "float16", "float32"),
    "bfloat16": ("hifloat8", "bfloat16", "float32"),
    "float16": ("hifloat8", "float16", "float32"),
    "float32": ("hifloat8", "float16", "float32"),
}
BLACK_HIF8: dict[str, tuple[str, ...]] = {
    "bfloat16": ("bfloat16", "float32"),
    "float16": ("float16", "float32"),
    "float32": ("float32",),
}
GRAY_HIF8: dict[str, tuple[str, ...]] = {"hifloat8": WHITE_HIF8["hifloat8"], **BLACK_HIF8}
"""The allowed dtypes of a dtype, in order (dtype_strategy/op_dtype_selection_strategy_table_select_map.h:23-54)."""


class Matched(NamedTuple):
    """The effect of one tensor on the columns.

    :param why: the applied rule, as the code of a reason
    :param followed: whether it used its producer's dtype
    :param through: whether it used the producer of a Cast
    """

    fits: bool
    why: str
    followed: bool = False
    through: bool = False


class JudgedTensor(NamedTuple):
    """One tensor while its node is judged.

    :param seen: the producer's output, for an input
    """

    port: OperatorPort
    row: tuple[str, ...]
    is_input: bool
    number: int
    seen: str | Seen | None


class Work:
    """One node while it is judged.

    :ivar forced: ``_force_fp32_to_fp16``, which a tensor may set for those after it
    :ivar takes_16_gives_32: whether a column has float16 at input 0 and float32 at output 0
    """

    __slots__ = ("facts", "forced", "has_complex", "null", "policy", "setting", "takes_16_gives_32")

    def __init__(
        self, facts: OperatorFacts, setting: JudgeSetting, policy: Policy, null: bool, takes_16_gives_32: bool
    ) -> None:
        self.facts = facts
        self.setting = setting
        self.policy = policy
        self.null = null
        self.forced = facts.forced
        self.takes_16_gives_32 = takes_16_gives_32
        self.has_complex = any(port.dtype in COMPLEX for port in (*facts.inputs, *facts.outputs) if port.present)

    @property
    def expects_fp16(self) -> bool:
        return self.facts.op_type in self.setting.fp16_types


def match(work: Work, tensor: JudgedTensor, columns: list[int]) -> Matched:
    """Narrow the columns by one tensor."""
    facts, engine, own = work.facts, work.setting.mode.engine, tensor.port.dtype
    if facts.keep or facts.op_type == "Cast" or work.has_complex:
        why = "keep-dtype" if facts.keep else "cast" if facts.op_type == "Cast" else "complex"
        return Matched(_allow_fp16(work, tensor, columns, None), why)
    if facts.inherits:
        return _gray(work, tensor, columns, None, "float16", "inherits")
    # the strategy of float16, which goes by the list, with nothing forbidden: for a kernel without opFile in every mode
    # but force_fp16, and in every mode for an input whose value a loop carries (`_format_continuous`)
    if (work.null and engine != "FORCE_FP16") or (tensor.port.continuous and tensor.is_input):
        return _mixed(work, tensor, columns, None, "float16")
    if work.forced and engine == "ALLOW_FP32_TO_FP16":
        return Matched(_force_fp16(tensor, columns, None), "mode")
    forbidden = forbidden_dtype(work.setting.mode, own)
    if engine == "MIXED_HIF8":
        return _mixed_hif8(work, tensor, columns)
    if low := work.setting.mode.low_dtype:
        return _mixed(work, tensor, columns, forbidden, low)
    if engine == "FORCE_FP16":
        fits = _force_fp16(tensor, columns, forbidden)
    elif engine in ("ALLOW_FP32_TO_FP16", "ALLOW_FP32_TO_LOWPRECISION"):
        fits = _allow_fp16(work, tensor, columns, forbidden)
    elif engine == "ALLOW_FP32_TO_BF16":
        fits = _allow_bf16(tensor, columns, forbidden)
    elif engine == "FORCE_FP32":
        fits = _force_fp32(work, tensor, columns, forbidden)
    elif engine == "FORCE_LOWERPRECISION":
        fits = _force_lower(tensor, columns)
    elif engine == "CUBE_HIF8":
        fits = _by_table(WHITE_HIF8 if work.expects_fp16 else BLACK_HIF8, own, tensor, columns)
    else:
        fits = match_rise(tensor.row, own, columns, None)
    return Matched(fits, "mode")


def _mixed(work: Work, tensor: JudgedTensor, columns: list[int], forbidden: str | None, low: str) -> Matched:
    own = tensor.port.dtype
    if work.policy is Policy.BLACK:
        return Matched(match_rise(tensor.row, own, columns, forbidden), "black")
    if work.policy is Policy.WHITE:
        if own in FLOATING:
            return Matched(match_mix_precision(tensor.row, columns, forbidden), "white")
        return Matched(match_rise(tensor.row, own, columns, None), "white")
    return _gray(work, tensor, columns, forbidden, low, "gray")


def _gray(work: Work, tensor: JudgedTensor, columns: list[int], forbidden: str | None, low: str, why: str) -> Matched:
    """A gray tensor follows its producer; without one, its own dtype
    (op_dtype_selection_strategy_allow_mix_precision_base.cc:186-253).
    """
    if not tensor.port.fed:
        if low == "bfloat16":
            return Matched(_allow_bf16(tensor, columns, forbidden), f"{why}-own")
        return Matched(_allow_fp16(work, tensor, columns, forbidden), f"{why}-own")
    behind = seen_through(tensor.seen, low)
    dtype = dtype_of(tensor.seen) if behind is None else behind
    fits = match_rise(tensor.row, dtype, columns, forbidden) or match_reduce(tensor.row, dtype, columns, forbidden)
    return Matched(fits, why, True, behind is not None)


def _allow_fp16(work: Work, tensor: JudgedTensor, columns: list[int], forbidden: str | None) -> bool:
    """The own dtype, or float32, else a lower one (op_dtype_selection_strategy_allow_fp32_to_fp16.cc:48-97)."""
    dtype = tensor.port.dtype
    if dtype == "float32" and work.expects_fp16 and not work.facts.keep:
        dtype = "float16"
    if match_rise(tensor.row, dtype, columns, forbidden):
        return True
    if dtype in ("float32", "bfloat16") and match_reduce(tensor.row, dtype, columns, forbidden):
        work.forced = work.forced or dtype == "float32"
        return True
    return False


def _allow_bf16(tensor: JudgedTensor, columns: list[int], forbidden: str | None) -> bool:
    """As :func:`_allow_fp16` without ``fp16.op_type`` (op_dtype_selection_strategy_allow_fp32_to_bf16.cc:45-87)."""
    dtype = tensor.port.dtype
    if match_rise(tensor.row, dtype, columns, forbidden):
        return True
    return dtype in ("float32", "bfloat16") and match_reduce(tensor.row, dtype, columns, forbidden)


def _force_fp16(tensor: JudgedTensor, columns: list[int], forbidden: str | None) -> bool:
    dtype = tensor.port.dtype
    return match_rise(tensor.row, "float16" if dtype in FLOATING else dtype, columns, forbidden)


def _force_fp32(work: Work, tensor: JudgedTensor, columns: list[int], forbidden: str | None) -> bool:
    """float32, but float16 at the first input of a cube type that gives float32 for it
    (op_dtype_selection_strategy_force_fp32.cc:38-97).
    """
    dtype = tensor.port.dtype
    if dtype in FLOATING:
        is_first = tensor.is_input and tensor.number == 0
        dtype = "float16" if is_first and work.expects_fp16 and work.takes_16_gives_32 else "float32"
    return match_rise(tensor.row, dtype, columns, forbidden) or match_reduce(tensor.row, dtype, columns, forbidden)


def _force_lower(tensor: JudgedTensor, columns: list[int]) -> bool:
    """bfloat16 for float32, else float16, else what is higher (op_dtype_selection_strategy_force_lowerprecision.cc)."""
    dtype = tensor.port.dtype
    if dtype not in FLOATING:
        return match_rise(tensor.row, dtype, columns, None)
    wanted = "bfloat16" if dtype == "float32" else dtype
    if match_precise(tensor.row, wanted, columns):
        return True
    return match_rise(tensor.row, "float16", columns, None)


def _mixed_hif8(work: Work, tensor: JudgedTensor, columns: list[int]) -> Matched:
    """By table (op_dtype_selection_strategy_mixed_hif8.cc:72-106); a Cast is not looked through."""
    own = tensor.port.dtype
    if work.policy is Policy.BLACK:
        return Matched(_by_table(BLACK_HIF8, own, tensor, columns), "black")
    if work.policy is Policy.WHITE:
        return Matched(_by_table(WHITE_HIF8, own, tensor, columns), "white")
    if not tensor.port.fed:
        return Matched(_by_table(BLACK_HIF8, own, tensor, columns), "gray-own")
    dtype = dtype_of(tensor.seen)
    if dtype == "hifloat8" and own == "bfloat16":
        return Matched(_by_table(WHITE_HIF8, own, tensor, columns), "gray", True)
    return Matched(_by_table(GRAY_HIF8, dtype, tensor, columns), "gray", True)


def _by_table(table: dict[str, tuple[str, ...]], dtype: str | None, tensor: JudgedTensor, columns: list[int]) -> bool:
    wanted = table.get(dtype or "", (dtype or "",))
    return any(match_precise(tensor.row, allowed, columns) for allowed in wanted)


# matchers

_PRIORITY = {"float32": 100000, "bfloat16": 200000, "float16": 200001}
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
        gap = _PRIORITY[own] - _PRIORITY[dtype]
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
    return _replace_columns(columns, [column for column in columns if row[column] in LOW and row[column] != "hifloat8"])


def _replace_columns(columns: list[int], found: list[int]) -> bool:
    if not found:
        return False
    columns[:] = found
    return True
