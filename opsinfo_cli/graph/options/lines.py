"""Text files of compiler options, read line by line, and faults of lines; the engine's ``fe.ini``."""

from __future__ import annotations

from typing import NamedTuple

from ...errors import Damaged
from ...model.policy import BLANKS
from ...text.source import read_bytes


class OptionFileFault(NamedTuple):
    """A fault of a line.

    :param name: kebab-case, for findings
    :param line: 1-based, with ``column`` in code points
    :param refuses: whether the compiler refuses the file; otherwise it ignores the line or part of it
    """

    name: str
    line: int
    column: int
    message: str
    refuses: bool
    hint: str | None = None


def lines_of(path: str) -> list[str]:
    """The lines as the engine reads them: ended by a line feed alone; bytes that are not UTF-8 stay as half surrogates.

    :raises Refused: if the file cannot be read
    """
    lines = read_bytes(path).decode("utf-8", "surrogateescape").split("\n")
    return lines[:-1] if lines[-1] == "" else lines


def refuse(faults: list[OptionFileFault], path: str) -> None:
    """:raises Damaged: for the first fault that makes the compiler refuse the file"""
    for fault in faults:
        if fault.refuses:
            raise Damaged(
                fault.message, name=fault.name, path=path, line=fault.line, column=fault.column, hint=fault.hint
            )


_FP16_TYPES = "fp16.op_type"


def fp16_op_types(path: str) -> frozenset[str]:
    """Return the op types of ``fp16.op_type`` in the engine's ``fe.ini``, which expect float16; not trimmed.

    ``key=value`` lines, ``#`` comments; a line without ``=`` is ignored and the first of equal keys wins. Source:
    hicann/ge ffdcbc9f, compiler/engines/nn_engine/utils/common/configuration.cc:897-921, 1681-1686, 1723-1732.

    :raises Refused: if the file cannot be read
    :raises Damaged: if the key is missing, so that the file is probably not a fe.ini
    """
    for text in lines_of(path):
        line = text.strip(BLANKS)
        key, equals, value = line.partition("=")
        if equals and not line.startswith("#") and key.strip(BLANKS) == _FP16_TYPES:
            value = value.strip(BLANKS)
            return frozenset(value.split(",")) if value else frozenset()
    raise Damaged(f"`{_FP16_TYPES}` is not set", path=path, hint="is this the engine's fe.ini?")
