"""Text files of compiler options, read line by line, and faults of lines."""

from __future__ import annotations

from typing import NamedTuple

from ...errors import Damaged
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
