"""Rules on precision modes."""

from __future__ import annotations

from ..engine_files import MODES_MANUAL, OPTIONS, PRECISION_MODE
from ..rule import Rule

RULES = (
    Rule(
        "P001",
        "unknown-mode",
        "mode",
        "error",
        "refuses",
        "No precision_mode or precision_mode_v2 has this name. precision_mode takes force_fp16, allow_fp32_to_fp16, "
        "allow_fp32_to_bf16, allow_mix_precision, allow_mix_precision_fp16, allow_mix_precision_bf16, force_fp32, "
        "cube_fp16in_fp32out, must_keep_origin_dtype; precision_mode_v2 takes fp16, origin, cube_fp16in_fp32out, "
        "mixed_float16, mixed_bfloat16, mixed_hif8, cube_hif8. Two names in the engine's own table "
        "(force_lowerprecision, allow_fp32_to_lowprecision) are refused by the API before they reach it.",
        "--precision-mode allow_mixed_precision",
        "--precision-mode allow_mix_precision",
        f"{OPTIONS}:1316-1357; error E10001",
    ),
    Rule(
        "P002",
        "mode-refuses-mixlist",
        "mode",
        "error",
        "refuses",
        "A mixlist is accepted with the mixed modes only: allow_mix_precision, allow_mix_precision_fp16, "
        "allow_mix_precision_bf16, mixed_float16, mixed_bfloat16, mixed_hif8. With any other mode, or none, a "
        "non-empty modify_mixlist is an error.",
        "--precision-mode force_fp16",
        "--precision-mode allow_mix_precision",
        f"{OPTIONS}:81-92, 1384-1411; error E10001",
    ),
    Rule(
        "P003",
        "mode-not-on-soc",
        "mode",
        "error",
        "refuses",
        "This chip does not have the mode's dtype: bfloat16 needs the A2 or A3 series, Atlas 200I/500 A2 or 950; "
        "hifloat8 needs 950.",
        "--precision-mode mixed_bfloat16 --against ascend910",
        "--precision-mode mixed_float16 --against ascend910",
        f"{PRECISION_MODE}:109-137; error E20101; {MODES_MANUAL}:85-113",
    ),
    Rule(
        "P004",
        "both-modes",
        "mode",
        "error",
        "refuses",
        "precision_mode and precision_mode_v2 are given together. Remove one of them.",
        "--precision-mode allow_mix_precision --precision-mode mixed_float16",
        "--precision-mode mixed_float16",
        f"{OPTIONS}:1359-1372; error E10056",
    ),
)
