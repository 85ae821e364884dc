"""The text of a list's file, and the line of the call or command in it that is meant: FILE or FILE:LINE."""

from __future__ import annotations

import os
import re
import shlex
from collections.abc import Iterable, Iterator
from contextlib import suppress
from typing import NamedTuple, TypeVar

from ..core.text.source import Source, read_bytes
from ..errors import UsageFault

Found = TypeVar("Found")


class ListText(Source):
    """:ivar line: the line that was given with the path; None for the whole text"""

    line: int | None = None


def read_list_text(text: str) -> ListText:
    """:param text: the path of a file, or FILE:LINE"""
    path, colon, number = text.rpartition(":")
    if colon and number.isdecimal() and not os.path.lexists(text) and os.path.lexists(path):
        source = ListText(read_bytes(path), path)
        source.line = int(number)
        return source
    return ListText(read_bytes(text), text)


def chosen_line(source: Source) -> int | None:
    return source.line if isinstance(source, ListText) else None


def one_chosen(source: Source, found: Iterable[tuple[int, Found]], what: str) -> Found | None:
    """Return what was found in the line that is meant; None if nothing was.

    :param found: each with its line
    :param what: it is called, as a plural
    :raises UsageFault: if several were
    """
    found, line = list(found), chosen_line(source)
    chosen = [each for number, each in found if line in (None, number)]
    if len(chosen) > 1:
        message = f"{len(chosen)} {what}, in lines {', '.join(str(number) for number, _ in found)}"
        raise UsageFault(message, path=source.path, hint="give one as FILE:LINE")
    return chosen[0] if chosen else None


class ShellLine(NamedTuple):
    """A line of a shell script, with those that go on after a backslash.

    :param number: of its first line
    :param words: None if a quote is not closed
    """

    number: int
    text: str
    words: list[str] | None


def flag_values(words: Iterable[str]) -> Iterator[tuple[str, str]]:
    """Yield the values of a command, each with the flag that it follows or that has it behind ``=``; "" without one."""
    flag = ""
    for word in words:
        flag, _, value = word.partition("=") if word.startswith("-") else (flag, "", word)
        if value:
            yield flag, value


def shell_lines(source: Source) -> Iterator[ShellLine]:
    after = 1
    for part in re.split(r"(?<!\\)\n", source.text):
        number, after = after, after + part.count("\n") + 1
        text = part.replace("\\\n", " ")
        words: list[str] | None = None
        with suppress(ValueError):
            words = shlex.split(text, comments=True)
        yield ShellLine(number, text, words)
