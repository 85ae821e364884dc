"""Precision modes as the engine's judge knows them, and the op types that expect float16 (``fp16.op_type``)."""

from __future__ import annotations

from typing import NamedTuple

from ....core.cann.precision_mode import MODES, mode_hint
from ....errors import UsageFault

FP16_OP_TYPES = frozenset(
    (
        *("MatMul", "MatMulV2", "BatchMatMul", "BatchMatMulV2", "GEMM", "FullyConnection"),
        *("Conv2D", "Conv2DCompress", "Conv2DTranspose", "Conv2DTransposeD", "Deconvolution"),
        *("Conv2DBackpropFilter", "Conv2DBackpropFilterD", "Conv2DBackpropInput", "Conv2DBackpropInputD"),
        *("DepthwiseConv2D", "DepthwiseConv2DBackpropFilter", "DepthwiseConv2DBackpropFilterD"),
        *("DepthwiseConv2DBackpropInput", "DepthwiseConv2DBackpropInputD"),
        *("Conv3D", "Conv3DTranspose", "Conv3DTransposeD"),
        *("Conv3DBackpropFilter", "Conv3DBackpropFilterD", "Conv3DBackpropInput", "Conv3DBackpropInputD"),
    )
)
"""``fp16.op_type`` of fe.ini (hicann/ge ffdcbc9f, compiler/engines/nn_engine/optimizer/fe_config/fe.ini:117)."""

_ENGINE_ONLY = {
    "force_lowerprecision": "FORCE_LOWERPRECISION",
    "allow_fp32_to_lowprecision": "ALLOW_FP32_TO_LOWPRECISION",
}
"""Names that the engine knows and the API refuses (utils/common/fe_context_utils.cc:26-44)."""

_NUMBERS = (
    *("FORCE_FP16", "ALLOW_FP32_TO_FP16", "MIX_FP16", "KEEP_ORIGIN", "FORCE_FP32", "FORCE_LOWERPRECISION"),
    *("ALLOW_FP32_TO_BF16", "ALLOW_FP32_TO_LOWPRECISION", "MIX_BF16", "CUBE_HIF8", "MIXED_HIF8"),
)
"""The engine's numbers, as in the attribute ``graph_precision_mode`` (inc/common/fe_context_utils.h:18-31)."""
_FORBIDS_BF16 = frozenset({"FORCE_FP16", "FORCE_FP32"})
_FORBIDS_BF16_UNLESS_OWN = frozenset({"MIX_FP16", "ALLOW_FP32_TO_FP16"})
_FORBIDS_FP16_UNLESS_OWN = frozenset({"MIX_BF16", "ALLOW_FP32_TO_BF16"})
_LOW_DTYPES = {mode.engine: mode.low_dtype for mode in MODES.values()}


class JudgeMode(NamedTuple):
    """A mode: the given name, and the engine's."""

    name: str
    engine: str

    @property
    def is_mixed(self) -> bool:
        """Whether the lists are used."""
        return self.low_dtype is not None

    @property
    def low_dtype(self) -> str | None:
        """As :attr:`.Mode.low_dtype`."""
        return _LOW_DTYPES.get(self.engine)

    def forbidden(self, own: str | None) -> str | None:
        """The dtype whose columns are not looked at, for a tensor of this dtype
        (strategy/op_format_dtype_strategy_manager.cc:17-53).
        """
        if self.engine in _FORBIDS_BF16:
            return "bfloat16"
        if self.engine in _FORBIDS_BF16_UNLESS_OWN:
            return None if own == "bfloat16" else "bfloat16"
        if self.engine in _FORBIDS_FP16_UNLESS_OWN:
            return None if own == "float16" else "float16"
        return None


def judge_mode(name: str) -> JudgeMode:
    """Return the mode of a name: v1, v2, or the engine's own.

    :raises UsageFault: if the name is unknown
    """
    if name in _ENGINE_ONLY:
        return JudgeMode(name, _ENGINE_ONLY[name])
    if name not in MODES:
        raise UsageFault(f"unknown precision mode `{name}`", name="unknown-mode", hint=mode_hint(name))
    return JudgeMode(name, MODES[name].engine)


def mode_by_number(number: int) -> JudgeMode | None:
    """Return the mode of the attribute ``graph_precision_mode``; None if the number is unknown."""
    if not 0 <= number < len(_NUMBERS):
        return None
    engine = _NUMBERS[number]
    names = [mode.name for mode in MODES.values() if mode.engine == engine]
    names += [name for name, own in _ENGINE_ONLY.items() if own == engine]
    return JudgeMode(names[-1], engine)
