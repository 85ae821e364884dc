"""The level, mode and scaling that the start of a log shows, for any framework."""

from __future__ import annotations

import re
from collections.abc import Collection
from dataclasses import dataclass, field
from itertools import compress

from .readers.reader import NUMBER
from .shapes import Shapes

MARKS = (
    b"opt_level",
    b"amp_level",
    b"precision_mode",
    b"loss_scale",
    b"fp16",
    b"bf16",
    b"float16_enabled",
    b"nproc_per_node",
    b"GPUs",
    b"world_size",
    b"NGPU",
)
"""Searched in the first part of a log only; see :data:`.scan.STARTUP`."""

LEVELS = {
    "off": "O0 float32 fp32 no force_fp32 must_keep_origin_dtype origin cube_fp16in_fp32out cube_hif8",
    "float16": "O1 O2 O3 auto OD amp apex fp16 float16 half allow_mix_precision allow_mix_precision_fp16 mixed_float16 "
    "force_fp16 allow_fp32_to_fp16",
    "bfloat16": "bf16 bfloat16 allow_mix_precision_bf16 mixed_bfloat16 allow_fp32_to_bf16",
    "hifloat8": "mixed_hif8",
}
"""Levels and modes by the dtype they lower to: APEX, MindSpore and Paddle levels, CANN's precision modes."""


def level_kind(level: str) -> str | None:
    """Return ``off``, ``float16``, ``bfloat16`` or ``hifloat8``; None for an unknown word."""
    return next((kind for kind, words in LEVELS.items() if level in words.split()), None)


_LEVEL = re.compile(rb"(?<![\w-])(?:opt_level|amp_level)[\"']?\s{0,20}[:=]\s{0,4}[\"']?(O[0-3]|OD|auto)\b")
_MODE = re.compile(rb"\bprecision_mode(?:_v2)?[\"']?\s{0,4}[:=]\s{0,4}[\"']?(\w{2,40})")
_HALF = re.compile(rb"[\"']?\b(fp16|bf16)[\"']?\s?[:=]\s?True\b")
_ARGUMENTS = re.compile(rb"\bfp16_opt_level[\"']?\s?[:=]")
_FLOAT32 = re.compile(rb"(?<![\w])fp16[\"']?\s?[:=]\s?False\b")
_SCALE = re.compile(rb"(?<!\w)loss_scale[\"']?\s{1,20}: (?:(dynamic)|" + NUMBER + rb")\s*$", re.MULTILINE)


_RANKS = re.compile(rb"(?:nproc_per_node[= ]{1,2}|[Uu]sing |world_size[\"']?[=:]\s?|NGPU=)(\d{1,6})(?: GPUs)?\b(?!\.)")


def _proves(shape: bytes) -> bool:
    """Whether a line of a shape may say something: no pattern matches a line but not its shape."""
    return any(pattern.search(shape) for pattern in _OF_SHAPES)


_OF_SHAPES = [
    re.compile(each.pattern.replace(b"fp16", b"fp00").replace(b"bf16", b"bf00").replace(b"_v2", b"_v0"), each.flags)
    for each in (_LEVEL, _MODE, _HALF, _ARGUMENTS, _FLOAT32, _RANKS, _SCALE)
]

_MOVES = 4
"""APEX prints at most two values for each of its models: the default of the level and the option."""


def _searched(pattern: re.Pattern[bytes], line: bytes, *words: bytes) -> re.Match[bytes] | None:
    """What a pattern finds in a line; it is only searched for if one of the words that it needs is there."""
    return pattern.search(line) if any(word in line for word in words) else None


@dataclass
class Startup:
    """The last value of each kind: APEX prints the defaults first, then the values after overrides.

    `fp16_opt_level` is printed by Hugging Face's TrainingArguments whether fp16 is on or not
    (huggingface/transformers, src/transformers/training_args.py), so it proves no level.
    """

    level: str | None = None
    precision: str | None = None
    scaling: str | None = None
    static_scale: float | None = None
    known: bool = False
    ranks: tuple[int, ...] = ()
    """Numbers of ranks or devices that the log prints, in order."""
    _hugging_face: bool = False
    _not_half: bool = False
    _scales: set[float] = field(default_factory=set)
    _shapes: Shapes[bool] = field(default_factory=lambda: Shapes(_proves))

    def may_say(self, shapes: Collection[bytes]) -> bool:
        """Whether a line of one of some shapes may say something."""
        return any(map(self._shapes.of, shapes))

    def lines(self, lines: list[bytes], shapes: list[bytes] | None = None) -> None:
        """Read lines. A log repeats a few shapes, and most of them prove nothing."""
        for line in compress(lines, self._shapes.of_all(lines, shapes)):
            self._line(line)

    def _line(self, line: bytes) -> None:
        match = (
            _searched(_LEVEL, line, b"_level")
            or _searched(_MODE, line, b"precision_mode")
            or _searched(_HALF, line, b"fp16", b"bf16")
        )
        if match and level_kind(match[1].decode("ascii", "replace")):
            self.known = True
            self.level = match[1].decode("ascii")
            kind = level_kind(self.level)
            self.precision = kind if kind != "off" else None
        self._arguments(line)
        ranks = _searched(_RANKS, line, b"nproc_per_node", b"sing ", b"world_size", b"NGPU=")
        if ranks and len(self.ranks) < 8 and (many := int(ranks[1])) > 1 and many not in self.ranks:
            self.ranks = (*self.ranks, many)
        scale = _SCALE.search(line, at) if (at := line.find(b"loss_scale")) >= 0 and b": " in line else None
        if scale:
            self.known = True
            self._set_scale(None if scale[1] else float(scale[2]))

    def _set_scale(self, value: float | None) -> None:
        """Note the option; one that is printed with several values, as some scripts do, is a scale that moves."""
        if value is not None and len(self._scales) < _MOVES:
            self._scales.add(value)
        moves = value is None or len(self._scales) >= _MOVES
        self.scaling, self.static_scale = ("dynamic", None) if moves else ("static", value)

    def _arguments(self, line: bytes) -> None:
        """Hugging Face's arguments, on one line or on several."""
        self._hugging_face |= _searched(_ARGUMENTS, line, b"fp16_opt_level") is not None
        self._not_half |= _searched(_FLOAT32, line, b"fp16") is not None
        self.known |= self._hugging_face

    @property
    def is_float32(self) -> bool:
        """Whether Hugging Face's arguments show that neither fp16 nor bf16 is on."""
        return self._hugging_face and self._not_half and self.level is None
