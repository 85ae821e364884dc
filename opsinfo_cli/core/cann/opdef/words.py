"""The words that opbuild writes for constants.

Sources: mirror-cann/asc-devkit at 82b89a1, ``tools/build/opbuild/op_dtype_name_utils.h:32-71`` and
``op_cfg_generator.cpp:29-36``; hicann/metadef at 786891c, ``base/type/types_impl.cc:19-80``.
"""

from __future__ import annotations

_DTYPES = (
    *("FLOAT", "FLOAT16", "INT8", "INT32", "UINT8", "", "INT16", "UINT16", "UINT32", "INT64", "UINT64", "DOUBLE"),
    *("BOOL", "STRING", "DUAL_SUB_INT8", "DUAL_SUB_UINT8", "COMPLEX64", "COMPLEX128", "QINT8", "QINT16", "QINT32"),
    *("QUINT8", "QUINT16", "RESOURCE", "STRING_REF", "DUAL", "VARIANT", "BF16", "UNDEFINED", "INT4", "UINT1", "INT2"),
    *("UINT2", "COMPLEX32", "HIFLOAT8", "FLOAT8_E5M2", "FLOAT8_E4M3FN", "FLOAT8_E8M0", "FLOAT6_E3M2", "FLOAT6_E2M3"),
    *("FLOAT4_E2M1", "FLOAT4_E1M2", "HIFLOAT4"),
)
DTYPE_NUMBERS = {f"DT_{name}": number for number, name in enumerate(_DTYPES) if name}
"""The numbers of dtypes, which attributes hold (hicann/metadef at 786891c, ``inc/external/graph/c_types.h``)."""

_WITHOUT_WORD = {"DT_VARIANT", "DT_UNDEFINED", "DT_UINT2", "DT_HIFLOAT4"}
_DTYPE_WORDS = {name: name[3:].lower() for name in DTYPE_NUMBERS if name not in _WITHOUT_WORD}
_DTYPE_WORDS |= {"DT_FLOAT": "float32", "DT_BF16": "bfloat16"}

_FORMATS = {
    "FORMAT_FRACTAL_DECONV_SP_STRIDE8_TRANS": "DECONV_SP_STRIDE8_TRANS",
    "FORMAT_HASHTABLE_LOOKUP_LOOKUPS": "LOOKUP_LOOKUPS",
    "FORMAT_HASHTABLE_LOOKUP_KEYS": "LOOKUP_KEYS",
    "FORMAT_HASHTABLE_LOOKUP_VALUE": "LOOKUP_VALUE",
    "FORMAT_HASHTABLE_LOOKUP_OUTPUT": "LOOKUP_OUTPUT",
    "FORMAT_HASHTABLE_LOOKUP_HITS": "LOOKUP_HITS",
    **dict.fromkeys(("FORMAT_FRACTAL_ZZ", "FORMAT_RESERVED", "FORMAT_ALL", "FORMAT_NULL", "FORMAT_END"), "UNKNOWN"),
}

PARAM_TYPES = {
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
    return _DTYPE_WORDS.get(constant, "unknow")


def format_word(constant: str) -> str:
    """Return the word of a format.

    >>> format_word("FORMAT_FRACTAL_NZ"), format_word("FORMAT_NULL")
    ('FRACTAL_NZ', 'UNKNOWN')
    """
    return _FORMATS.get(constant, constant.removeprefix("FORMAT_"))


def param_type_word(constant: str) -> str:
    return PARAM_TYPES.get(constant, "unknow")


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
