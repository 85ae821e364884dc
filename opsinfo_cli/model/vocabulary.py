"""The words of library entries, and the engine's handling of other words.

Source: hicann/ge at ffdcbc9f
- compiler/engines/nn_engine/opskernel/ops_store/op_kernel_info_constructor.cc
- graph_metadef/base/utils/type_utils_inner.cc
- compiler/engines/nn_engine/opskernel/ops_store/ops_kernel_constants.h
"""

from __future__ import annotations

import re
from typing import NamedTuple


class Enumeration(NamedTuple):
    """A key whose value, trimmed and case folded, must be one of ``words`` or empty; otherwise the store fails."""

    key: str
    words: frozenset[str]


def _enumeration(key: str, words: str) -> Enumeration:
    return Enumeration(key, frozenset(words.split()))


_JIT = ["static_true", "static_false", "dynamic_true", "dynamic_false"]
_JIT_PAIRS = [f"{first},{second}" for first in _JIT for second in _JIT if first.split("_")[0] != second.split("_")[0]]

ENUMERATIONS: dict[str, Enumeration] = {
    "precision_reduce": _enumeration("flag", "true false"),
    "op": _enumeration("pattern", "formatagnostic broadcast reduce dynamic rangeagnostic broadcastenhanced"),
    **{
        section: _enumeration("flag", "true false")
        for section in (
            "needCheckSupport",
            "dynamicFormat",
            "heavyOp",
            "softsync",
            "dynamicShapeSupport",
            "inputMemContinues",
            "outputMemContinues",
            "enableVectorCore",
        )
    },
    "slicePattern": _enumeration(
        "value",
        "elemwise elemwisebroadcast broadcast slidingwindow slidingwindowdeconv cubematmul reduce resize scatter "
        "segment",
    ),
    "jitCompile": _enumeration("flag", " ".join(["true", "false", *_JIT, *_JIT_PAIRS])),
    "rangeLimit": _enumeration("value", "limited unlimited dynamic"),
    "dynamicRankSupport": _enumeration("flag", "true false upgrade_to_dynamic_rank"),
    "dynamicCompileStatic": _enumeration("flag", "true false tune"),
    "aclnnSupport": _enumeration("value", "default support_aclnn aclnn_only"),
    "multiKernelSupportDynamicGraph": _enumeration("value", "default multi_kernel single_kernel"),
}

DTYPES = frozenset(
    [
        "float",
        "float16",
        "bfloat16",
        "float32",
        "double",
        "int8",
        "int16",
        "int32",
        "int64",
        "uint8",
        "uint16",
        "uint32",
        "uint64",
        "bool",
        "string",
        "string_ref",
        "resource",
        "dual",
        "dual_sub_int8",
        "dual_sub_uint8",
        "complex32",
        "complex64",
        "complex128",
        "qint8",
        "qint16",
        "qint32",
        "quint8",
        "quint16",
        "variant",
        "int4",
        "int2",
        "uint1",
        "uint2",
        "hifloat8",
        "hifloat4",
        "float8_e5m2",
        "float8_e4m3fn",
        "float8_e8m0",
        "float6_e3m2",
        "float6_e2m3",
        "float4_e2m1",
        "float4_e1m2",
    ]
)
"""Data types, case folded (type_utils_inner.cc:80-126)."""

_WRONG_DTYPES = frozenset(
    [
        "bf16",
        "fp16",
        "fp32",
        "fp64",
        "half",
        "hif8",
        "f16",
        "f32",
        "float64",
        "single",
        "int",
        "uint",
        "str",
        "boolean",
        "undefined",
    ]
)
"""Names that users write and that no engine accepts."""

FORMATS = frozenset(
    [
        "NCHW",
        "NHWC",
        "ND",
        "NC1HWC0",
        "FRACTAL_Z",
        "NC1C0HWPAD",
        "NHWC1C0",
        "FSR_NCHW",
        "FRACTAL_DECONV",
        "C1HWNC0",
        "FRACTAL_DECONV_TRANSPOSE",
        "FRACTAL_DECONV_SP_STRIDE_TRANS",
        "NC1HWC0_C04",
        "FRACTAL_Z_C04",
        "CHWN",
        "DECONV_SP_STRIDE8_TRANS",
        "NC1KHKWHWC0",
        "BN_WEIGHT",
        "FILTER_HWCK",
        "HWCN",
        "LOOKUP_LOOKUPS",
        "LOOKUP_KEYS",
        "LOOKUP_VALUE",
        "LOOKUP_OUTPUT",
        "LOOKUP_HITS",
        "MD",
        "C1HWNCoC0",
        "FRACTAL_NZ",
        "FRACTAL_NZ_C0_16",
        "FRACTAL_NZ_C0_32",
        "FRACTAL_NZ_C0_2",
        "FRACTAL_NZ_C0_4",
        "FRACTAL_NZ_C0_8",
        "NDHWC",
        "NCDHW",
        "DHWCN",
        "DHWNC",
        "NDC1HWC0",
        "FRACTAL_Z_3D",
        "FRACTAL_Z_3D_TRANSPOSE",
        "CN",
        "NC",
        "FRACTAL_ZN_LSTM",
        "FRACTAL_Z_G",
        "ALL",
        "NULL",
        "ND_RNN_BIAS",
        "FRACTAL_ZN_RNN",
        "NYUV",
        "NYUV_A",
        "NCL",
        "FRACTAL_Z_WINO",
        "C1HWC0",
    ]
)
"""Format names, exact (type_utils_inner.cc:21-78)."""

RESERVED_FORMATS = frozenset({"RESERVED", "FORMAT_RESERVED", "UNDEFINED"})
"""Formats in the engine's table that it refuses nevertheless (op_kernel_info_constructor.cc:899-904)."""

PARAM_TYPES = frozenset({"dynamic", "optional", "required", "reserved"})
ATTR_TYPES = frozenset(["int", "float", "bool", "str", "listInt", "listFloat", "listBool", "listStr", "listListInt"])

TENSOR_SECTION = re.compile(r"(?:([iI]nput)|([oO]utput))([0-9]*)")
"""A tensor's section: group 1 for an input, 2 for an output, 3 for its number."""

KNOWN_SECTIONS = frozenset(ENUMERATIONS) | frozenset(
    [
        "imp_path",
        "coreType",
        "opImplSwitch",
        "prebuildPattern",
        "promoteType",
        "opFile",
        "opInterface",
        "fallback",
        "outputInplaceAbility",
        "attr",
        "async",
        "partial",
        "compute",
        "kernel",
        "binfile",
        "mc2",
        "sgatKeyAttr",
        "opKernel",
        "kernelSrc",
    ]
)


def looks_like_dtype(word: str) -> bool:
    """Return whether an unknown dtype may be one of a newer engine, not a misspelling."""
    return bool(re.fullmatch(r"[A-Za-z][A-Za-z0-9_]*", word)) and word.lower() not in _WRONG_DTYPES
