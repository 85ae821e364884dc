"""Precision modes as the engine's judge knows them, and the op types that expect float16 (``fp16.op_type``)."""

from __future__ import annotations

from ....core.cann.precision_mode import MODES, Mode, required_mode

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
    mode.name: mode
    for mode in (
        Mode("force_lowerprecision", (), "FORCE_LOWERPRECISION"),
        Mode("allow_fp32_to_lowprecision", (), "ALLOW_FP32_TO_LOWPRECISION"),
    )
}
"""Modes that the engine knows and the API refuses (utils/common/fe_context_utils.cc:26-44)."""

_NUMBERS = (
    *("FORCE_FP16", "ALLOW_FP32_TO_FP16", "MIX_FP16", "KEEP_ORIGIN", "FORCE_FP32", "FORCE_LOWERPRECISION"),
    *("ALLOW_FP32_TO_BF16", "ALLOW_FP32_TO_LOWPRECISION", "MIX_BF16", "CUBE_HIF8", "MIXED_HIF8"),
)
"""The engine's numbers, as in the attribute ``graph_precision_mode`` (inc/common/fe_context_utils.h:18-31)."""
_FORBIDS_BF16 = frozenset({"FORCE_FP16", "FORCE_FP32"})
_FORBIDS_BF16_UNLESS_OWN = frozenset({"MIX_FP16", "ALLOW_FP32_TO_FP16"})
_FORBIDS_FP16_UNLESS_OWN = frozenset({"MIX_BF16", "ALLOW_FP32_TO_BF16"})


def forbidden_dtype(mode: Mode, own: str | None) -> str | None:
    """The dtype whose columns are not looked at, for a tensor of this dtype
    (strategy/op_format_dtype_strategy_manager.cc:17-53).
    """
    if mode.engine in _FORBIDS_BF16:
        return "bfloat16"
    if mode.engine in _FORBIDS_BF16_UNLESS_OWN:
        return None if own == "bfloat16" else "bfloat16"
    if mode.engine in _FORBIDS_FP16_UNLESS_OWN:
        return None if own == "float16" else "float16"
    return None


def judge_mode(name: str) -> Mode:
    """Return the mode of a name: v1, v2, or the engine's own.

    :raises UsageFault: if the name is unknown
    """
    return _ENGINE_ONLY.get(name) or required_mode(name)


def mode_by_number(number: int) -> Mode | None:
    """Return the mode of the attribute ``graph_precision_mode``; None if the number is unknown."""
    if not 0 <= number < len(_NUMBERS):
        return None
    return [mode for mode in (*MODES.values(), *_ENGINE_ONLY.values()) if mode.engine == _NUMBERS[number]][-1]
