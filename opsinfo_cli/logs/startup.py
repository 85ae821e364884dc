"""The level, mode and scaling that the start of a log shows, for any framework."""

from __future__ import annotations

import re
from typing import Literal, TypeAlias

from ..core.cann.precision_mode import MODES
from .evidence import Evidence, Precision, Scaling
from .log_format import NUMBER

MARKS = (
    *b"opt_level amp_level precision_mode loss_scale fp16 bf16 float16_enabled".split(),
    *b"nproc_per_node GPUs world_size NGPU".split(),
    *(b"optimization level O", b"compute dtype"),
)
"""Each line that shows an option has one of them."""

_Kind: TypeAlias = Literal[Precision, "off"]

_UNMIXED: dict[str, _Kind] = {
    "FORCE_FP16": "float16",
    "ALLOW_FP32_TO_FP16": "float16",
    "ALLOW_FP32_TO_BF16": "bfloat16",
}
"""What the modes without lists lower to; the others lower nothing, or only matrix products."""
LEVELS: dict[str, _Kind] = {
    **dict.fromkeys(["O0", "float32", "fp32", "no"], "off"),
    **dict.fromkeys(["O1", "O2", "O3", "auto", "OD", "amp", "apex", "float16", "half"], "float16"),
    **dict.fromkeys(["bf16", "bfloat16"], "bfloat16"),
    **{mode.name: mode.low_dtype or _UNMIXED.get(mode.engine, "off") for mode in MODES.values()},
}
"""The dtype that a level lowers to: levels of APEX, MindSpore and Paddle, and CANN's precision modes."""

_LEVEL = re.compile(rb"(?<![\w-])(?:opt_level|amp_level)[\"']?\s{0,20}[:=]\s{0,4}[\"']?(O[0-3]|OD|auto)\b")
_SELECTED = re.compile(rb"Selected optimization level (O[0-3])\b")
"""NVIDIA/apex, apex/amp/frontend.py, initialize."""
_MODE = re.compile(rb"\bprecision_mode(?:_v2)?[\"']?\s{0,4}[:=]\s{0,4}[\"']?(\w{2,40})")
_HALF = re.compile(rb"[\"']?\b(fp16|bf16)[\"']?\s?[:=]\s?True\b")
_COMPUTE = re.compile(rb"compute dtype: torch\.(bfloat16|float16|float32)\b")
"""hiyouga/LLaMA-Factory, src/llamafactory/hparams/parser.py, get_train_args."""
_ARGUMENTS = re.compile(rb"\bfp16_opt_level[\"']?\s?[:=]")
_FLOAT32 = re.compile(rb"(?<![\w])fp16[\"']?\s?[:=]\s?False\b")
_SCALE = re.compile(rb"(?<!\w)loss_scale[\"']?\s{1,20}: (?:(dynamic)|" + NUMBER + rb")\s*$")
_RANKS = re.compile(rb"(?:nproc_per_node[= ]{1,2}|[Uu]sing |world_size[\"']?[=:]\s?|NGPU=)(\d{1,6})(?: GPUs)?\b(?!\.)")

_MOST_SCALES = 4
"""APEX prints at most two values for each of its models: the default of the level and the option."""


class Startup:
    """The last value of each kind: APEX prints the defaults first, then the values after overrides.

    `fp16_opt_level` is printed by Hugging Face's TrainingArguments whether fp16 is on or not
    (huggingface/transformers, src/transformers/training_args.py), so it proves no level.
    """

    def __init__(self) -> None:
        self.known = False
        self.ranks: tuple[int, ...] = ()
        """Numbers of ranks or devices that the log prints, in order."""
        self._level: str | None = None
        self._precision: Precision | None = None
        self._scaling: Scaling | None = None
        self._static_scale: float | None = None
        self._hugging_face = False
        self._not_half = False
        self._scales: set[float] = set()

    def line(self, line: bytes) -> None:
        """Read a line with one of :data:`MARKS`; a pattern is only searched for if a word of it is there."""
        match = (
            (b"_level" in line and _LEVEL.search(line))
            or (b"Selected" in line and _SELECTED.search(line))
            or (b"precision_mode" in line and _MODE.search(line))
            or (b"True" in line and _HALF.search(line))
            or (b"compute dtype" in line and _COMPUTE.search(line))
            or None
        )
        if b"fp16" in line:
            self._hugging_face |= _ARGUMENTS.search(line) is not None
            self._not_half |= _FLOAT32.search(line) is not None
            self.known |= self._hugging_face
        kind = LEVELS.get(match[1].decode("ascii", "replace")) if match else None
        if match and kind:
            # a word of a command line, or code in prose, is on pages about options too
            self.known |= not line[: match.start()].rstrip(b"\"'").endswith((b"--", b"`"))
            self._level = match[1].decode("ascii")
            self._precision = kind if kind != "off" else None
        scale = _SCALE.search(line) if b" : " in line and b"loss_scale" in line and b"PARAMETER" not in line else None
        if scale:
            self.known = True
            value = None if scale[1] else float(scale[2])
            if value is not None and len(self._scales) < _MOST_SCALES:
                self._scales.add(value)
            moves = value is None or len(self._scales) >= _MOST_SCALES  # some scripts print the scale in use like that
            self._scaling, self._static_scale = ("dynamic", None) if moves else ("static", value)
        if b"_per_node" in line or b"sing " in line or b"world_size" in line or b"NGPU=" in line:
            ranks = _RANKS.search(line)
            if ranks and len(self.ranks) < 8 and (number := int(ranks[1])) > 1 and number not in self.ranks:
                self.ranks = (*self.ranks, number)

    def complete(self, evidence: Evidence, *, with_scaling: bool) -> None:
        """Add what the start of the log shows. What a scaler printed later on counts more than an option."""
        is_float32 = self._hugging_face and self._not_half and self._level is None
        is_refuted = None not in (evidence.level, evidence.precision, self._precision)
        is_refuted = is_refuted and evidence.precision != self._precision
        if not is_refuted:
            evidence.level = self._level or evidence.level or ("fp32" if is_float32 else None)
        evidence.precision = evidence.precision or self._precision
        was_seen = self._scaling == "static" and evidence.scaling == "dynamic"
        if self._scaling and with_scaling and not was_seen:
            evidence.scaling, evidence.static_scale = self._scaling, self._static_scale
