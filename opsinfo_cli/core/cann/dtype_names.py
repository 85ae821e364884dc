"""Names of dtypes, and which of them are low.

Names are those of the JSON: ``float32``, ``float16``, ``bfloat16``, ``float64``, ``int8`` .. ``uint64``, ``bool``,
``complex64``, ``hifloat8``, and any other in lower case.
"""

from __future__ import annotations

from functools import lru_cache
from sys import intern
from typing import Literal, TypeAlias

Precision: TypeAlias = Literal["low", "high"]

FLOATING = frozenset({"float32", "float16", "bfloat16"})
"""The dtypes that the engine raises and reduces (hicann/ge inc/common/util/op_info_util.h:83)."""
LOW = frozenset({"float16", "bfloat16", "hifloat8"})
COMPLEX = frozenset({"complex32", "complex64", "complex128"})
_OTHER_FLOATING = COMPLEX | {"float64"}
"""Floating dtypes that the engine never changes."""

_ALIASES = {"float": "float32", "double": "float64", "bf16": "bfloat16", "undefined": ""}


def canonical(word: str) -> str:
    """Return the name of a dtype from a library (``float``) or an enum (``DT_BF16``, ``DT_BFLOAT16``).

    >>> canonical("float"), canonical("DT_BF16"), canonical("DT_INT4")
    ('float32', 'bfloat16', 'int4')
    """
    name = word.strip().lower().removeprefix("dt_")
    return intern(_ALIASES.get(name, name))


@lru_cache(maxsize=4096)  # the same dtypes come again and again
def leading_dtype(inputs: tuple[str | None, ...], outputs: tuple[str | None, ...]) -> str | None:
    """Return the dtype that stands for an operator: of its outputs, or of its inputs if no output is floating-point; a
    low one before another floating one before any other.

    >>> leading_dtype(("float16",), ("float32",)), leading_dtype(("float16",), ("bool",)), leading_dtype((), (None,))
    ('float32', 'float16', None)
    """
    for side in (outputs, inputs):
        for kinds in (LOW, FLOATING):
            found = next((dtype for dtype in side if dtype in kinds), None)
            if found is not None:
                return found
    every = [dtype for dtype in (*outputs, *inputs) if dtype]
    return next((dtype for dtype in every if dtype in _OTHER_FLOATING), every[0] if every else None)


def precision_of(inputs: tuple[str | None, ...], outputs: tuple[str | None, ...]) -> Precision | None:
    """Return the precision that an operator runs in, by its leading dtype; None without a floating-point tensor.

    >>> precision_of(("float32",), ("float16",)), precision_of(("float16",), ("float32",)), precision_of(("int8",), ())
    ('low', 'high', None)
    """
    dtype = leading_dtype(inputs, outputs)
    if dtype in LOW:
        return "low"
    return "high" if dtype in FLOATING or dtype in _OTHER_FLOATING else None
