"""The command line that compiled a model, as ``atc_cmdline`` has it."""

from __future__ import annotations

import shlex
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence


def arguments(command: str) -> tuple[str, ...]:
    """Return the command split into arguments as in a shell; at blanks if its quotes do not match."""
    try:
        return tuple(shlex.split(command))
    except ValueError:
        return tuple(command.split())


def options(command: Sequence[str]) -> dict[str, str]:
    """Return the options of a command, without dashes: ``precision_mode``, ``modify_mixlist``, ``soc_version`` ...

    Reads ``--name=value`` and ``--name value``; the last one wins.
    """
    found: dict[str, str] = {}
    name = ""
    for argument in command:
        if argument.startswith("--"):
            name, equals, value = argument[2:].partition("=")
            found[name] = value
            name = "" if equals else name
        elif name:
            found[name] = argument
            name = ""
    return found
