"""Files that a line names to be written: none of them may be another file that the line names."""

from __future__ import annotations

import os
import re
from typing import TYPE_CHECKING, NamedTuple

from ...errors import UsageFault

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

_NAMES_FILES = frozenset("TARGET FILE DIR MODEL MIXLIST LOG IN OVER BASE PATH COMMAND A B".split())  # noqa: SIM905
"""Words of the metavars of parameters that take a file; their values may also be ``@FILE`` or ``NAME=FILE,FILE``."""


class GivenParameter(NamedTuple):
    """A parameter that the line has.

    :param word: the option; for an argument its name
    :param writes: for a file to write, the names of parameters whose file it may replace; else None
    """

    word: str
    name: str
    metavar: str
    values: Sequence[str]
    writes: Sequence[str] | None


def require_apart(given: Sequence[GivenParameter]) -> None:
    """:raises UsageFault: if an output is an input, or another output, by any name: relative, or through a link"""
    inputs = [(path, each) for each in given if _reads_files(each) for path in _read(each)]
    written: list[tuple[str, GivenParameter]] = []
    for each in given:
        if each.writes is None:
            continue
        for path in each.values:
            for other, output in written:
                if is_same(path, other):
                    said = f"{output.word} and {each.word} name the same file"
                    raise UsageFault(said, name="same-output", path=path, hint="name two files")
            others = [other for other, read in inputs if read.name not in each.writes]
            if os.path.exists(path) and any(is_same(path, other) for other in others):
                raise is_input(each.word, path)
            written.append((path, each))


def is_empty(word: str) -> UsageFault:
    """The error for an empty value, which commands would take for a missing one."""
    hint = "is a variable of the shell not set? leave the option out if it is not needed"
    return UsageFault(f"{word}: the value is empty", name="empty-value", hint=hint)


def is_input(option: str, path: str) -> UsageFault:
    """The error for an output that the command reads."""
    said = f"{option} would replace a file that this command reads"
    return UsageFault(said, name="is-input", path=path, hint="name another file")


def is_same(path: str, other: str) -> bool:
    """Whether two paths name one regular file, which need not exist yet; a stream is shared by intent."""
    try:
        if os.path.exists(path):
            return os.path.isfile(path) and os.path.exists(other) and os.path.samefile(path, other)
        return os.path.realpath(path) == os.path.realpath(other)
    except (OSError, ValueError):  # a null byte, for instance: opening the file reports it
        return False


def _reads_files(given: GivenParameter) -> bool:
    return given.writes is None and not _NAMES_FILES.isdisjoint(re.findall("[A-Z]+", given.metavar))


def _read(given: GivenParameter) -> Iterator[str]:
    """The paths that a value may mean: itself, and what follows a name."""
    for text in given.values:
        yield text
        yield from text.removeprefix("@").rpartition("=")[2].split(",")
