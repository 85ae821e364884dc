"""What a log says at its start of level, mode and scaling, whatever framework wrote it."""

from __future__ import annotations

import re
from dataclasses import dataclass

from .readers.reader import NUMBER

__all__ = ["LEVELS", "MARKS", "Startup", "level_kind"]

MARKS = (b"opt_level", b"amp_level", b"precision_mode", b"loss_scale", b"fp16", b"bf16", b"float16_enabled")
"""Looked for in the first part of a log only; see :data:`.scan.STARTUP`."""

LEVELS = {
    "off": "O0 float32 fp32 no force_fp32 must_keep_origin_dtype origin cube_fp16in_fp32out cube_hif8",
    "float16": "O1 O2 O3 auto OD amp apex fp16 float16 half allow_mix_precision allow_mix_precision_fp16 mixed_float16 "
    "force_fp16 allow_fp32_to_fp16",
    "bfloat16": "bf16 bfloat16 allow_mix_precision_bf16 mixed_bfloat16 allow_fp32_to_bf16",
    "hifloat8": "mixed_hif8",
}
"""Levels and modes by what they make of a network: APEX, MindSpore and Paddle levels, CANN's precision modes."""


def level_kind(level: str) -> str | None:
    """``off``, ``float16``, ``bfloat16``, ``hifloat8``; None for a word nobody knows."""
    return next((kind for kind, words in LEVELS.items() if level in words.split()), None)


_LEVEL = re.compile(rb"(?:opt_level|amp_level)[\"']?\s{0,20}[:=]\s{0,4}[\"']?(O[0-3]|OD|auto)\b")
_MODE = re.compile(rb"\bprecision_mode(?:_v2)?[\"']?\s{0,4}[:=]\s{0,4}[\"']?(\w{2,40})")
_HALF = re.compile(rb"[\"']?\b(fp16|bf16)[\"']?\s?[:=]\s?True\b")
_SCALE = re.compile(rb"\bloss_scale[\"']?\s{1,20}: (?:(dynamic)|" + NUMBER + rb")\s*$", re.MULTILINE)


@dataclass
class Startup:
    """The last word of each kind: APEX prints defaults first and what overrides made of them after."""

    level: str | None = None
    precision: str | None = None
    scaling: str | None = None
    static_scale: float | None = None

    def line(self, line: bytes) -> None:
        match = _LEVEL.search(line) or _MODE.search(line) or _HALF.search(line)
        if match and level_kind(match[1].decode("ascii", "replace")):
            self.level = match[1].decode("ascii")
            kind = level_kind(self.level)
            self.precision = kind if kind != "off" else None
        scale = _SCALE.search(line)
        if scale and scale[1]:
            self.scaling, self.static_scale = "dynamic", None
        elif scale:
            self.scaling, self.static_scale = "static", float(scale[2])
