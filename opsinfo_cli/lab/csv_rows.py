"""The rows of a table that another tool wrote, read line by line, with their places."""

from __future__ import annotations

import csv
from collections.abc import Callable, Iterator
from typing import IO, TypeAlias

from ..errors import Damaged, Refused
from ..opening import open_file, unreadable

Refuse: TypeAlias = Callable[[str, int], Refused]
"""Makes the error for a file that is no table, of a message and a line."""
_LONGEST_LINE = 1 << 20


def csv_rows(path: str, refuse: Refuse, seen: Callable[[int], None] | None = None) -> Iterator[tuple[int, list[str]]]:
    """Yield the rows that are not empty, with the line that each begins in.

    :param refuse: called for what is no text in UTF-8
    :param seen: called with the bytes of each part that was read
    :raises Refused: if the file cannot be read, or is no table
    :raises Damaged: if a row cannot be read
    """
    try:
        with open_file(path) as file:
            yield from _number_rows(csv.reader(_lines(file, path, refuse, seen)), path)
    except OSError as error:  # the disk fails while it is read
        raise unreadable(error, path) from None


def _lines(file: IO[bytes], path: str, refuse: Refuse, seen: Callable[[int], None] | None) -> Iterator[str]:
    for number, line in enumerate(iter(lambda: file.readline(_LONGEST_LINE), b""), 1):
        if seen:
            seen(len(line))
        if b"\0" in line or len(line) == _LONGEST_LINE:
            raise refuse("not a text file", number)
        try:
            yield line.decode("utf-8-sig" if number == 1 else "utf-8")
        except UnicodeDecodeError as error:
            if number == 1:
                raise refuse("not UTF-8", number) from None
            column = len(line[: error.start].decode("utf-8")) + 1
            hint = "convert it, for example from GBK: iconv -f GBK -t UTF-8"
            raise Damaged("not UTF-8", path=path, line=number, column=column, hint=hint) from None


def _number_rows(reader: Iterator[list[str]], path: str) -> Iterator[tuple[int, list[str]]]:
    line = 1
    try:
        for cells in reader:
            following = reader.line_num + 1  # type: ignore[attr-defined]
            if cells:
                yield line, cells
            line = following
    except csv.Error as error:
        message = "a cell of more than 131,072 characters, as after a quote that is not closed"
        if "new-line" in str(error):
            message = "a carriage return inside a line"
        raise Damaged(message, path=path, line=line, hint="export the table again, or remove the line") from None
