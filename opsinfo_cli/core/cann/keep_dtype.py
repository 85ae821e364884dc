"""The lines of a keep_dtype file, read and written: nodes and op types that keep their dtype.

Source: hicann/ge ffdcbc9f, compiler/api/aclgrph/attr_options/keep_dtype_option.cc:20-125 and utils.cc:18-65.
"""

from __future__ import annotations

from collections.abc import Container, Iterable
from typing import NamedTuple

from .policy import BLANKS

OP_TYPE = "OpType::"


class KeptName(NamedTuple):
    """One line: the name of a node, or an op type; an empty name for a line of blanks.

    :param line: 1-based
    """

    name: str
    is_type: bool
    line: int


def kept_names(lines: Iterable[str]) -> list[KeptName]:
    """Return the lines that are not empty. There are no comments: ``# x`` is the name of a node.

    :param lines: ended by a line feed alone, as the engine reads them
    """
    texts = [(text.strip(BLANKS), number) for number, text in enumerate(lines, 1) if text]
    return [KeptName(text.removeprefix(OP_TYPE), text.startswith(OP_TYPE), number) for text, number in texts]


def keep_dtype_text(names: Iterable[str], types: Container[str] = ()) -> str:
    """Return the text of a keep_dtype file.

    :param names: of nodes and op types, in the order of the lines
    :param types: those of them that are op types
    """
    return "".join(f"{OP_TYPE if name in types else ''}{name}\n" for name in names)
