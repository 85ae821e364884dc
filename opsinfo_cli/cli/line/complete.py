"""What TAB asks. Names of operators need neither click nor a command; all else is asked of the commands themselves."""

from __future__ import annotations

import gc
import os
import sys
from collections.abc import Iterable, Mapping
from typing import NamedTuple

from .unfinished import Line, line_at_the_cursor

__all__ = ["Candidate", "complete"]


class Candidate(NamedTuple):
    """``kind`` is ``plain``, or ``file`` where the shell is to offer files too."""

    value: str
    help: str = ""
    kind: str = "plain"


def complete(environ: Mapping[str, str]) -> int:
    """Print what fits at the cursor, a line each: kind, value, help. Whatever goes wrong, the shell is told nothing.

    :returns: the exit status, 0
    """
    gc.disable()
    try:
        line = line_at_the_cursor(environ, environ["_OPSINFO_COMPLETE"].partition("_")[0])
        found: Iterable[Candidate] | None = _operators(line)
        if found is None:
            from .candidates import by_commands

            found = by_commands(line)
        text = "".join(f"{each.kind}\t{each.value}\t{' '.join(each.help.split())}\n" for each in found)
        sys.stdout.buffer.write(text.encode("utf-8", "surrogateescape"))
        sys.stdout.flush()
    except Exception:  # a traceback in the middle of a line that somebody types helps nobody
        os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
    return 0


_VALUED = ("--against", "--as", "--color", "--core", "--custom", "--format", "--mixlist", "--soc", "--store", "--to")
"""Options that need no command to be understood: each has one value, whatever the command."""


def _operators(line: Line) -> list[Candidate] | None:
    """Operators of the target already typed; None where the line is not that plain."""
    if line.words[:1] not in (["show"], ["move"]) or line.word.startswith("-"):
        return None
    operands: list[str] = []
    options: dict[str, str] = {}
    words = iter(line.words[1:])
    for word in words:
        if not word.startswith("-"):
            operands.append(word)
            continue
        name, equals, value = word.partition("=")
        given = value if equals else next(words, None)
        if name not in _VALUED or given is None:
            return None
        options[name] = given
    return _of_target(operands, options, line.word) if operands else None


def _of_target(operands: list[str], options: Mapping[str, str], begun: str) -> list[Candidate]:
    from ...model.target import Options
    from .operator_names import operator_names, starting

    customs = (options["--custom"],) if "--custom" in options else ()
    asked = Options(options.get("--as"), options.get("--soc"), options.get("--core", "ai"), customs)
    names = operator_names(operands[0], asked, options.get("--against"))
    return [Candidate(name) for name in starting(names, begun) if name not in operands[1:]]
