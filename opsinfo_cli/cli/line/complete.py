"""Completion. Operator names are completed without click; click completes everything else."""

from __future__ import annotations

import gc
import os
import sys
from collections.abc import Iterable, Mapping
from typing import Any

from .reading import command_first, read_line
from .unfinished import Candidate, UnfinishedLine, line_at_the_cursor


def complete(environ: Mapping[str, str]) -> int:
    """Print the candidates at the cursor, one per line: kind, value, help. On any failure print nothing.

    :returns: the exit status, 0
    """
    gc.disable()
    try:
        line = line_at_the_cursor(environ, environ["_OPSINFO_COMPLETE"].partition("_")[0])
        line = line._replace(words=command_first(line.words))
        found: Iterable[Candidate] | None = _operators(line)
        if found is None:
            from .candidates import by_commands

            found = by_commands(line)
        text = "".join(f"{each.kind}\t{each.value}\t{' '.join(each.help.split())}\n" for each in found)
        sys.stdout.buffer.write(text.encode("utf-8", "surrogateescape"))
        sys.stdout.flush()
    except Exception:  # a traceback must not appear in a line being typed
        os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
    return 0


def _operators(line: UnfinishedLine) -> list[Candidate] | None:
    """Return operators of the target on the line; None if click must read the line."""
    if line.words[:1] not in (["show"], ["move"]) or line.word.startswith("-"):
        return None
    reading = read_line(line.words)
    return _of_target(reading.operands, reading.values, line.word) if reading.understood and reading.operands else None


def _of_target(operands: list[str], values: Mapping[str, Any], begun: str) -> list[Candidate]:
    from ...model.target import TargetOptions
    from .operator_names import operator_names, starting

    asked = TargetOptions(values["kind"], values["soc"], values["core"], values["customs"])
    names = operator_names(operands[0], asked, values.get("against"))
    return [Candidate(name) for name in starting(names, begun) if name not in operands[1:]]
