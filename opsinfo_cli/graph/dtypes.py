"""Dtype names of a graph, and the low dtypes.

Names are those of the JSON: ``float32``, ``float16``, ``bfloat16``, ``float64``, ``int8`` .. ``uint64``, ``bool``,
``complex64``, ``hifloat8``, and any other in lower case.
"""

from __future__ import annotations

from sys import intern
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable

FLOATING = frozenset({"float32", "float16", "bfloat16"})
"""The dtypes that the engine raises and reduces (hicann/ge inc/common/util/op_info_util.h:83)."""
LOW = frozenset({"float16", "bfloat16", "hifloat8"})
COMPLEX = frozenset({"complex32", "complex64", "complex128"})

BITS = {
    **dict.fromkeys(("float64", "int64", "uint64", "complex64"), 64),
    **dict.fromkeys(("float32", "int32", "uint32", "complex32", "qint32"), 32),
    **dict.fromkeys(("float16", "bfloat16", "int16", "uint16", "qint16", "quint16"), 16),
    **dict.fromkeys(("int8", "uint8", "bool", "hifloat8", "qint8", "quint8"), 8),
    **dict.fromkeys(("float8_e5m2", "float8_e4m3fn", "float8_e8m0"), 8),
    **dict.fromkeys(("float6_e3m2", "float6_e2m3"), 6),
    **dict.fromkeys(("int4", "hifloat4", "float4_e2m1", "float4_e1m2"), 4),
    "complex128": 128,
    "int2": 2,
    "uint1": 1,
}
"""Bits of one element; dtypes without a fixed size are missing."""

_ALIASES = {"float": "float32", "double": "float64", "bf16": "bfloat16", "undefined": ""}


def canonical(word: str) -> str:
    """Return the graph's name of a dtype from a library (``float``) or an enum (``DT_BF16``, ``DT_BFLOAT16``).

    >>> canonical("float"), canonical("DT_BF16"), canonical("DT_INT4")
    ('float32', 'bfloat16', 'int4')
    """
    name = word.strip().lower().removeprefix("dt_")
    return intern(_ALIASES.get(name, name))


def leading(inputs: Iterable[str | None], outputs: Iterable[str | None]) -> str | None:
    """Return the dtype that represents a node in a drawing: a low one before a floating one before any other.

    Inputs count if no output is floating-point, as in the definition of a low node.

    >>> leading(["float16"], ["float32"]), leading(["float16"], ["bool"]), leading([], [None])
    ('float32', 'float16', None)
    """
    for side in (outputs, inputs):
        for kinds in (LOW, FLOATING):
            found = next((dtype for dtype in side if dtype in kinds), None)
            if found is not None:
                return found
    return next((dtype for dtype in (*outputs, *inputs) if dtype), None)


def is_low(dtype: str | None) -> bool:
    """Return whether a dtype is float16, bfloat16 or hifloat8."""
    return dtype in LOW
