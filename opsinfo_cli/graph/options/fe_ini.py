"""The engine's ``fe.ini``: the op types that expect float16 (``fp16.op_type``).

``key=value`` lines, ``#`` comments; a line without ``=`` is ignored and the first of equal keys wins. Source: hicann/ge
ffdcbc9f, compiler/engines/nn_engine/utils/common/configuration.cc:897-921, 1681-1686, 1723-1732.
"""

from __future__ import annotations

from ...errors import Damaged
from ...model.policy import BLANKS
from .lines import lines_of

_KEY = "fp16.op_type"


def fp16_op_types(path: str) -> frozenset[str]:
    """Return the op types of ``fp16.op_type`` in a fe.ini, not trimmed.

    :raises Refused: if the file cannot be read
    :raises Damaged: if the key is missing, so that the file is probably not a fe.ini
    """
    for text in lines_of(path):
        line = text.strip(BLANKS)
        key, equals, value = line.partition("=")
        if equals and not line.startswith("#") and key.strip(BLANKS) == _KEY:
            value = value.strip(BLANKS)
            return frozenset(value.split(",")) if value else frozenset()
    raise Damaged(f"`{_KEY}` is not set", path=path, hint="is this the engine's fe.ini?")
