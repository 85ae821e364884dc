"""Dtypes of a graph: their sizes, and their numbers and words in files."""

from __future__ import annotations

BITS = {
    **dict.fromkeys(("float64", "int64", "uint64", "complex64"), 64),
    **dict.fromkeys(("float32", "int32", "uint32", "complex32", "qint32"), 32),
    **dict.fromkeys(("float16", "bfloat16", "int16", "uint16", "qint16", "quint16"), 16),
    **dict.fromkeys(("int8", "uint8", "bool", "hifloat8", "qint8", "quint8"), 8),
    **dict.fromkeys(("float8_e5m2", "float8_e4m3fn", "float8_e8m0", "dual_sub_int8", "dual_sub_uint8"), 8),
    **dict.fromkeys(("float8_e4m3fnuz", "float8_e5m2fnuz", "float8_e4m3b11fnuz"), 8),
    **dict.fromkeys(("float6_e3m2", "float6_e2m3"), 6),
    **dict.fromkeys(("int4", "uint4", "hifloat4", "float4_e2m1", "float4_e1m2"), 4),
    "complex128": 128,
    "dual": 40,
    "int2": 2,
    "uint2": 2,
    "uint1": 1,
}
"""Bits of one element; texts and handles (``resource``, ``variant``) are missing. Source of those that only GE has:
hicann/metadef 9a3f9ae0, inc/external/graph/types.h, GetSizeByDataType; ``dual`` is a float and an int8.
"""


# Dtypes in files. GE: hicann/ge graph_metadef/proto/ge_ir.proto:13-58, graph_metadef/base/utils/
# type_utils_inner.cc:95-240; ONNX: onnx/onnx onnx/onnx.proto, TensorProto.DataType; TensorFlow: tensorflow/tensorflow
# tensorflow/core/framework/types.proto.

_COMMON = {"float": "float32", "double": "float64", "half": "float16", "bf16": "bfloat16", "undefined": None}

_GE = """
undefined float float16 int8 uint8 int16 uint16 int32 int64 uint32 uint64 bool double string dual_sub_int8
dual_sub_uint8 complex64 complex128 qint8 qint16 qint32 quint8 quint16 resource string_ref dual variant bf16
int4 uint1 int2 uint2 complex32 hifloat8 float8_e5m2 float8_e4m3fn float8_e8m0 float6_e3m2 float6_e2m3
float4_e2m1 float4_e1m2 hifloat4
"""

_ONNX = """
undefined float uint8 int8 uint16 int16 int32 int64 string bool float16 double uint32 uint64 complex64
complex128 bfloat16 float8_e4m3fn float8_e4m3fnuz float8_e5m2 float8_e5m2fnuz uint4 int4 float4_e2m1 float8_e8m0
uint2 int2 float6_e2m3 float6_e3m2
"""

_TENSORFLOW = """
undefined float double int32 uint8 int16 int8 string complex64 int64 bool qint8 quint8 qint32 bfloat16 qint16
quint16 uint16 complex128 half resource variant uint32 uint64 float8_e5m2 float8_e4m3fn float8_e4m3fnuz
float8_e4m3b11fnuz float8_e5m2fnuz int4 uint4 int2 uint2
"""

_REFERENCE = 100
"""The number that TensorFlow adds to a dtype for a reference."""


def _dtype_names(names: str) -> list[str | None]:
    return [_COMMON.get(name, name) for name in names.split()]


GE, ONNX, TENSORFLOW = _dtype_names(_GE), _dtype_names(_ONNX), _dtype_names(_TENSORFLOW)

_WORDS: dict[str, str | None] = {
    f"DT_{name.upper()}": _COMMON.get(name, name) for name in f"{_GE}{_TENSORFLOW}bfloat16".split()
}


def ge_dtype(number: int) -> str | None:
    """Return the dtype of a number of GE's enum; None if undefined or unknown."""
    return GE[number] if 0 <= number < len(GE) else None


def onnx_dtype(number: int) -> str | None:
    return ONNX[number] if 0 <= number < len(ONNX) else None


def tensorflow_dtype(number: int) -> str | None:
    """The dtype of a number of TensorFlow's enum; a reference has the dtype that it refers to."""
    if number > _REFERENCE:
        number -= _REFERENCE
    return TENSORFLOW[number] if 0 <= number < len(TENSORFLOW) else None


def word_dtype(word: str) -> str | None:
    """Return the dtype of a name in a text form: ``DT_FLOAT16``, ``DT_BF16``, ``DT_BFLOAT16``, ``DT_HALF_REF``."""
    word = word.removesuffix("_REF") if word != "DT_STRING_REF" else word
    if word in _WORDS:
        return _WORDS[word]
    return word.removeprefix("DT_").lower() or None
