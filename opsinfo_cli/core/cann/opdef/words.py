"""The words that opbuild writes for constants.

Sources: mirror-cann/asc-devkit at 82b89a1, ``tools/build/opbuild/op_dtype_name_utils.h:32-71`` and
``op_cfg_generator.cpp:29-36``; hicann/metadef at 786891c, ``base/type/types_impl.cc:19-80``.
"""

from __future__ import annotations

_DTYPES = {
    "DT_FLOAT": "float32",
    "DT_BF16": "bfloat16",
    **{
        f"DT_{name}": name.lower()
        for name in (
            *("FLOAT16", "DOUBLE", "HIFLOAT8", "FLOAT8_E4M3FN", "FLOAT8_E5M2", "FLOAT8_E8M0"),
            *("FLOAT6_E3M2", "FLOAT6_E2M3", "FLOAT4_E2M1", "FLOAT4_E1M2"),
            *("INT2", "INT4", "INT8", "INT16", "INT32", "INT64", "UINT1", "UINT8", "UINT16", "UINT32", "UINT64"),
            *("BOOL", "STRING", "STRING_REF", "RESOURCE", "COMPLEX32", "COMPLEX64", "COMPLEX128"),
            *("QINT8", "QINT16", "QINT32", "QUINT8", "QUINT16", "DUAL", "DUAL_SUB_INT8", "DUAL_SUB_UINT8"),
        )
    },
}

DTYPE_NUMBERS = {
    "DT_FLOAT": 0,
    "DT_FLOAT16": 1,
    "DT_INT8": 2,
    "DT_INT32": 3,
    "DT_UINT8": 4,
    "DT_INT16": 6,
    "DT_UINT16": 7,
    "DT_UINT32": 8,
    "DT_INT64": 9,
    "DT_UINT64": 10,
    "DT_DOUBLE": 11,
    "DT_BOOL": 12,
    "DT_STRING": 13,
    "DT_DUAL_SUB_INT8": 14,
    "DT_DUAL_SUB_UINT8": 15,
    "DT_COMPLEX64": 16,
    "DT_COMPLEX128": 17,
    "DT_QINT8": 18,
    "DT_QINT16": 19,
    "DT_QINT32": 20,
    "DT_QUINT8": 21,
    "DT_QUINT16": 22,
    "DT_RESOURCE": 23,
    "DT_STRING_REF": 24,
    "DT_DUAL": 25,
    "DT_VARIANT": 26,
    "DT_BF16": 27,
    "DT_UNDEFINED": 28,
    "DT_INT4": 29,
    "DT_UINT1": 30,
    "DT_INT2": 31,
    "DT_UINT2": 32,
    "DT_COMPLEX32": 33,
    "DT_HIFLOAT8": 34,
    "DT_FLOAT8_E5M2": 35,
    "DT_FLOAT8_E4M3FN": 36,
    "DT_FLOAT8_E8M0": 37,
    "DT_FLOAT6_E3M2": 38,
    "DT_FLOAT6_E2M3": 39,
    "DT_FLOAT4_E2M1": 40,
    "DT_FLOAT4_E1M2": 41,
    "DT_HIFLOAT4": 42,
}
"""The numbers of dtypes, which attributes hold (hicann/metadef at 786891c, ``inc/external/graph/c_types.h``)."""

_FORMATS = {
    "FORMAT_FRACTAL_DECONV_SP_STRIDE8_TRANS": "DECONV_SP_STRIDE8_TRANS",
    "FORMAT_HASHTABLE_LOOKUP_LOOKUPS": "LOOKUP_LOOKUPS",
    "FORMAT_HASHTABLE_LOOKUP_KEYS": "LOOKUP_KEYS",
    "FORMAT_HASHTABLE_LOOKUP_VALUE": "LOOKUP_VALUE",
    "FORMAT_HASHTABLE_LOOKUP_OUTPUT": "LOOKUP_OUTPUT",
    "FORMAT_HASHTABLE_LOOKUP_HITS": "LOOKUP_HITS",
    **dict.fromkeys(("FORMAT_FRACTAL_ZZ", "FORMAT_RESERVED", "FORMAT_ALL", "FORMAT_NULL", "FORMAT_END"), "UNKNOWN"),
}

_PARAM_TYPES = {
    "IGNORE": "ignore",
    "OPTIONAL": "optional",
    "REQUIRED": "required",
    "DYNAMIC": "dynamic",
    "VIRTUAL": "optional",
}


def dtype_word(constant: str) -> str:
    """Return the word of a dtype.

    >>> dtype_word("DT_FLOAT"), dtype_word("DT_INT8"), dtype_word("DT_UNDEFINED")
    ('float32', 'int8', 'unknow')
    """
    return _DTYPES.get(constant, "unknow")


def format_word(constant: str) -> str:
    """Return the word of a format.

    >>> format_word("FORMAT_FRACTAL_NZ"), format_word("FORMAT_NULL")
    ('FRACTAL_NZ', 'UNKNOWN')
    """
    return _FORMATS.get(constant, constant.removeprefix("FORMAT_"))


def param_type_word(constant: str) -> str:
    return _PARAM_TYPES.get(constant, "unknow")


def snake_case(name: str) -> str:
    """Return an op type as the name of its file (``op_generator.cpp:133-160``).

    >>> snake_case("BatchMatMulV3"), snake_case("LAWSnakeCASETest2D"), snake_case("GELU")
    ('batch_mat_mul_v3', 'law_snake_case_test2_d', 'gelu')
    """
    found = name[:1].lower()
    for before, letter, after in zip(name, name[1:], name[2:] + " ", strict=False):
        is_start = _is_capital(letter) and before != "_" and (not _is_capital(before) or "a" <= after <= "z")
        found += ("_" if is_start else "") + (letter.lower() if _is_capital(letter) else letter)
    return found


def _is_capital(letter: str) -> bool:
    return "A" <= letter <= "Z"
