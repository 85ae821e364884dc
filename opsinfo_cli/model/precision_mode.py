"""Precision modes: which there are, and where a mixlist counts (engine.md 2.1-2.3)."""

from __future__ import annotations

from typing import NamedTuple

from .columns import BF16, FP16, HIF8

__all__ = ["MODES", "Mode", "mode_named"]

_BF16_SOCS = frozenset({"ascend910b", "ascend910_93", "ascend310b", "ascend950"})
_HIF8_SOCS = frozenset({"ascend950"})


class Mode(NamedTuple):
    """One value of ``precision_mode`` (v1) or ``precision_mode_v2`` (v2).

    :param low: dtypes a white operator may be lowered to; empty outside the mixed modes
    :param socs: SoCs that have it by Huawei's documents; None for all
    """

    name: str
    options: tuple[str, ...]
    low: frozenset[str] = frozenset()
    socs: frozenset[str] | None = None

    @property
    def is_mixed(self) -> bool:
        """Whether a mixlist may be given with it (OPT:1384-1411)."""
        return bool(self.low)


MODES = {
    mode.name: mode
    for mode in (
        Mode("force_fp16", ("v1",)),
        Mode("fp16", ("v2",)),
        Mode("allow_fp32_to_fp16", ("v1",)),
        Mode("allow_mix_precision", ("v1",), FP16),
        Mode("allow_mix_precision_fp16", ("v1",), FP16),
        Mode("mixed_float16", ("v2",), FP16),
        Mode("must_keep_origin_dtype", ("v1",)),
        Mode("origin", ("v2",)),
        Mode("force_fp32", ("v1",)),
        Mode("cube_fp16in_fp32out", ("v1", "v2")),
        Mode("allow_fp32_to_bf16", ("v1",), socs=_BF16_SOCS),
        Mode("allow_mix_precision_bf16", ("v1",), BF16, _BF16_SOCS),
        Mode("mixed_bfloat16", ("v2",), BF16, _BF16_SOCS),
        Mode("cube_hif8", ("v2",), socs=_HIF8_SOCS),
        Mode("mixed_hif8", ("v2",), HIF8 | FP16, _HIF8_SOCS),
    )
}
"""What the API takes; the engine knows two more that it never lets through."""


def mode_named(name: str) -> Mode | None:
    return MODES.get(name)
