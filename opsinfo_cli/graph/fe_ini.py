"""The engine's own ``fe.ini``: which op types expect float16 (``fp16.op_type``).

``key=value`` lines, ``#`` comments; a line without ``=`` is ignored and the first of equal keys wins. Source: hicann/ge
ffdcbc9f, compiler/engines/nn_engine/utils/common/configuration.cc:897-921, 1681-1686, 1723-1732.
"""

from __future__ import annotations

from ..errors import Damaged
from ..model.policy import BLANKS
from .option_file import lines_of

_KEY = "fp16.op_type"


def fp16_op_types(path: str) -> frozenset[str]:
    """The op types that a fe.ini lists under ``fp16.op_type``; they are not trimmed.

    :raises Refused: when the file cannot be read
    :raises Damaged: when it has no such key, so that it is hardly a fe.ini
    """
    for text in lines_of(path):
        line = text.strip(BLANKS)
        key, equals, value = line.partition("=")
        if equals and not line.startswith("#") and key.strip(BLANKS) == _KEY:
            value = value.strip(BLANKS)
            return frozenset(value.split(",")) if value else frozenset()
    raise Damaged(f"no line sets `{_KEY}`", path=path, hint="is this the engine's fe.ini?")
