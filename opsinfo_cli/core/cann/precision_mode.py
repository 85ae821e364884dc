"""Precision modes: their names and meanings, and whether they accept a mixlist.

Source: hicann/ge at ffdcbc9f
- compiler/api/aclgrph/option_utils.cc
- compiler/engines/nn_engine/utils/common/fe_context_utils.cc
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Literal, NamedTuple, TypeAlias

from ...errors import UsageFault
from ...near_names import did_you_mean
from .chips import EARLIER_NAMES, folder_facts, known_folders
from .entry import BF16, FP16, HIF8

_BF16_SOCS = frozenset(folder for folder, facts in known_folders().items() if facts.bf16)
_HIF8_SOCS = frozenset({"ascend950"})
SAME_MODES = {**EARLIER_NAMES, "ascend910_96": "ascend950", "ascend960": "ascend950"}
"""Chips, and the one whose modes they have (hicann/ge, device_capability.cc:62-66)."""
LowDtype: TypeAlias = Literal["float16", "bfloat16", "hifloat8"]
ModeOption: TypeAlias = Literal["precision_mode", "precision_mode_v2"]


class Mode(NamedTuple):
    """One value of ``precision_mode`` (v1) or ``precision_mode_v2`` (v2).

    :param engine: the engine's internal mode; values with the same one are equal
    :param low: dtypes that a white operator may be lowered to; empty outside the mixed modes
    :param socs: chips that have it: bfloat16 by their ini files, hifloat8 by Huawei's documents; None for all
    """

    name: str
    options: tuple[str, ...]
    engine: str
    low: frozenset[str] = frozenset()
    socs: frozenset[str] | None = None

    @property
    def says(self) -> str:
        """What the engine does with a node, which the name alone may not say."""
        return _DOES[self.engine]

    @property
    def is_mixed(self) -> bool:
        """Whether the engine accepts a mixlist with it (option_utils.cc:1384-1411)."""
        return bool(self.low)

    @property
    def low_dtype(self) -> LowDtype | None:
        """The dtype that a white operator gets if a kernel has it; None outside the mixed modes."""
        dtypes: tuple[LowDtype, ...] = ("hifloat8", "bfloat16", "float16")
        return next((dtype for dtype in dtypes if dtype in self.low), None)

    @property
    def option(self) -> ModeOption:
        """The option that has the value; v1 if both have it."""
        return "precision_mode" if "v1" in self.options else "precision_mode_v2"

    @property
    def same(self) -> list[str]:
        """The other values with the same engine mode (fe_context_utils.cc:26-44)."""
        return [mode.name for mode in MODES.values() if mode.engine == self.engine and mode.name != self.name]

    def is_on(self, soc: str) -> bool:
        return self.socs is None or SAME_MODES.get(soc, soc) in self.socs

    @property
    def listed_socs(self) -> list[str]:
        """The chips that have it, those of the product series first; empty if all have it."""
        named = [soc for series in SERIES for soc in series.socs]
        return sorted(self.socs or (), key=lambda soc: (named.index(soc) if soc in named else len(named), soc))


_MIXED = "white op types in {low} where a kernel has it, black ones never, gray ones as their producer"
_DOES = {
    "FORCE_FP16": "float16; float32 where no kernel has float16",
    "ALLOW_FP32_TO_FP16": (
        "the model's dtype; float16 instead of float32 where no kernel has float32, and for the matrix products and "
        "convolutions of `fp16.op_type` even where one has"
    ),
    "MIX_FP16": _MIXED.format(low="float16"),
    "KEEP_ORIGIN": "the model's dtype; float32 where no kernel has it in float16 or bfloat16; nothing is reduced",
    "FORCE_FP32": (
        "float32; but matrix products and convolutions of `fp16.op_type` read float16 where a kernel gives float32 for "
        "it, and what no kernel has in float32 is reduced"
    ),
    "ALLOW_FP32_TO_BF16": "the model's dtype; bfloat16 instead of float32 where no kernel has float32",
    "MIX_BF16": _MIXED.format(low="bfloat16"),
    "CUBE_HIF8": "types of `fp16.op_type` in hifloat8 where a kernel has it, others as black ones in mixed_hif8",
    "MIXED_HIF8": _MIXED.format(low="hifloat8, else float16 or bfloat16,"),
}
"""What each engine mode does with a node (hicann/ge ffdcbc9f, compiler/engines/nn_engine/optimizer/graph_optimizer/
op_judge/format_and_dtype/strategy/dtype_strategy/). ``fp16.op_type`` is a line of the engine's fe.ini."""

MODES = {
    mode.name: mode
    for mode in (
        Mode("force_fp16", ("v1",), "FORCE_FP16"),
        Mode("fp16", ("v2",), "FORCE_FP16"),
        Mode("allow_fp32_to_fp16", ("v1",), "ALLOW_FP32_TO_FP16"),
        Mode("allow_mix_precision", ("v1",), "MIX_FP16", FP16),
        Mode("allow_mix_precision_fp16", ("v1",), "MIX_FP16", FP16),
        Mode("mixed_float16", ("v2",), "MIX_FP16", FP16),
        Mode("must_keep_origin_dtype", ("v1",), "KEEP_ORIGIN"),
        Mode("origin", ("v2",), "KEEP_ORIGIN"),
        Mode("force_fp32", ("v1",), "FORCE_FP32"),
        Mode("cube_fp16in_fp32out", ("v1", "v2"), "FORCE_FP32"),
        Mode("allow_fp32_to_bf16", ("v1",), "ALLOW_FP32_TO_BF16", socs=_BF16_SOCS),
        Mode("allow_mix_precision_bf16", ("v1",), "MIX_BF16", BF16, _BF16_SOCS),
        Mode("mixed_bfloat16", ("v2",), "MIX_BF16", BF16, _BF16_SOCS),
        Mode("cube_hif8", ("v2",), "CUBE_HIF8", socs=_HIF8_SOCS),
        Mode("mixed_hif8", ("v2",), "MIXED_HIF8", HIF8 | FP16, _HIF8_SOCS),
    )
}
"""The values that the API accepts; the engine knows two more that the API refuses."""


def mode_hint(name: str) -> str:
    """Return a hint for an unknown name; the short forms `fp16` and `bf16` are not those of all modes."""
    spelt_out = re.sub("(?<!b)f(?:p|loat_?)?16", "float16", re.sub("b(?:f|float_?)16", "bfloat16", name.lower()))
    return did_you_mean(name, MODES) or did_you_mean(spelt_out, MODES) or "`opsinfo modes` lists them"


def required_mode(name: str) -> Mode:
    """:raises UsageFault: if the name is unknown"""
    if name not in MODES:
        raise UsageFault(f"unknown precision mode `{name}`", name="unknown-mode", hint=mode_hint(name))
    return MODES[name]


@dataclass(frozen=True)
class Series:
    """One product series."""

    name: str
    """The name of the series."""
    socs: tuple[str, ...]
    """The chips of the series."""
    training: str | None
    """The default mode for training; null if no manual states it."""
    inference: str
    """The default mode for inference."""
    must_mix: bool | None
    """Whether training requires mixed precision; null if no manual states it."""


SERIES = (
    Series("Atlas training products", ("ascend910",), "allow_fp32_to_fp16", "force_fp16", True),
    Series("Atlas A2", ("ascend910b",), "must_keep_origin_dtype", "force_fp16", False),
    Series("Atlas A3", ("ascend910_93",), "must_keep_origin_dtype", "force_fp16", False),
    Series("950PR, 950DT", ("ascend950",), "must_keep_origin_dtype", "force_fp16", None),
    Series("Atlas 200I/500 A2", ("ascend310b",), None, "force_fp16", None),
    Series("Atlas inference products", ("ascend310p", "ascend310"), None, "force_fp16", None),
)
"""Defaults: fe_context_utils.cc:68-92, and hicann/tensorflow at 82957b92,
docs/en/tfadapter_1/apiref/session_config/accuracy_tuning.md:53-60. Who must train mixed: the PyTorch training guide's
chapter on mixed precision (Ascend Extension for PyTorch 6.0.0, PT_LMTMOG_0025)."""


def series_of(soc: str) -> Series | None:
    return next((series for series in SERIES if SAME_MODES.get(soc, soc) in series.socs), None)


def knows_modes_of(soc: str) -> bool:
    """Return whether it is known which modes a chip has; else it may lack those that not every chip has."""
    return folder_facts(SAME_MODES.get(soc, soc)).bf16 is not None


def mode_doubt(name: str, soc: str | None) -> str:
    """Return that a chip lacks a mode, or that it may; empty if it has it, or the chip or the mode is unknown."""
    if not soc or name not in MODES or MODES[name].is_on(soc):
        return ""
    may = "does not have" if knows_modes_of(soc) else "is an unknown chip, which may not have"
    return f"{soc} {may} the mode {name}"


@dataclass(frozen=True)
class Mechanism:
    """One mechanism."""

    name: str
    """The name of the mechanism."""
    key: str
    """The option that sets it."""
    does: str
    """What it does."""
    source: str
    """The source of the description."""


MECHANISMS = (
    Mechanism(
        "op_precision_mode",
        "ge.exec.op_precision_mode",
        "an ini: the implementation of an operator (high_precision, high_performance and others), not its dtype",
        "hicann/ge ffdcbc9f, docs/zh/user_guides/atc_tools/CLI_options/--op_precision_mode.md",
    ),
    Mechanism(
        "allow_hf32",
        "ge.exec.allow_hf32",
        "HF32 (11 bits of mantissa) for float32 convolutions and matrix products, black ones too, on chips that "
        "have it: 10, convolutions only, by default; 00 computes both in float32. atc's help calls its option reserved",
        "hicann/ge ffdcbc9f, compiler/engines/nn_engine/utils/common/config_parser/op_impl_mode_config_parser.cc:46",
    ),
    Mechanism(
        "keep_dtype",
        "--keep_dtype",
        "a file of node names, or OpType::Type: they keep their dtype; no effect in must_keep_origin_dtype and origin",
        "hicann/ge ffdcbc9f, docs/zh/user_guides/atc_tools/CLI_options/--keep_dtype.md",
    ),
    Mechanism(
        "customize_dtypes",
        "ge.customizeDtypes",
        "a file of dtypes for single nodes or op types; it overrides keep_dtype and precision_mode",
        "hicann/ge ffdcbc9f, docs/zh/user_guides/atc_tools/CLI_options/--customize_dtypes.md",
    ),
)
"""Options to use instead of a mixlist."""
