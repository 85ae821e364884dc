"""Names of dtypes, and which of them are low.

Names are those of the JSON: ``float32``, ``float16``, ``bfloat16``, ``float64``, ``int8`` .. ``uint64``, ``bool``,
``complex64``, ``hifloat8``, and any other in lower case.
"""

from __future__ import annotations

from sys import intern

FLOATING = frozenset({"float32", "float16", "bfloat16"})
"""The dtypes that the engine raises and reduces (hicann/ge inc/common/util/op_info_util.h:83)."""
LOW = frozenset({"float16", "bfloat16", "hifloat8"})

_ALIASES = {"float": "float32", "double": "float64", "bf16": "bfloat16", "undefined": ""}


def canonical(word: str) -> str:
    """Return the name of a dtype from a library (``float``) or an enum (``DT_BF16``, ``DT_BFLOAT16``).

    >>> canonical("float"), canonical("DT_BF16"), canonical("DT_INT4")
    ('float32', 'bfloat16', 'int4')
    """
    name = word.strip().lower().removeprefix("dt_")
    return intern(_ALIASES.get(name, name))
