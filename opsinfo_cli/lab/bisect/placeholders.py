"""The command of the check: its placeholders, and what a trial puts in their places."""

from __future__ import annotations

import os
import re
import shutil
from contextlib import suppress
from difflib import get_close_matches
from typing import TYPE_CHECKING

from ...errors import Refused, UsageFault
from ...opening import open_file

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from .trial import Files

PLACEHOLDERS = ("mixlist", "keep_dtype", "trial", "cache", "device")
_LISTS = ("mixlist", "keep_dtype", "trial")
"""Placeholders, and variables, that lead to a list."""
_SCRIPT = 1 << 24
"""Bytes of a script, or of a program, in which they are looked for."""
CACHE = "cache"
"""The folder of a trial for compiled kernels: one compiled with another list would be taken again."""
DEVICES = "ASCEND_RT_VISIBLE_DEVICES"


def require_placeholders(command: Sequence[str], known: Mapping[str, str]) -> None:
    """Refuse placeholders that would reach the command as they stand.

    :param known: for each placeholder that this search does not replace, the option that it requires
    :raises UsageFault: if a word is nothing but ``{name}`` with a name near that of a placeholder, or uses one of these
    """
    for word in command:
        for name, option in known.items():
            if f"{{{name}}}" in word:
                raise UsageFault(f"`{{{name}}}` requires {option}", name="unknown-placeholder")
        match = re.fullmatch(r"\{(\w+)\}", word)
        if match and match[1] not in PLACEHOLDERS:
            near = get_close_matches(match[1].lower(), PLACEHOLDERS, 1)
            if near:
                hint = f"did you mean `{{{near[0]}}}`?"
                raise UsageFault(f"unknown placeholder `{word}` in the check", name="unknown-placeholder", hint=hint)


def named_files(command: Sequence[str]) -> list[str]:
    """Return the files that words of a command name: a script, data, ``config.yml`` of ``--config=config.yml``.

    A program without a slash is looked up in ``PATH``, not in the current directory.
    """
    words = [word for number, word in enumerate(command) if number or "/" in word]
    return [path for word in words for path in (word, word.partition("=")[2]) if os.path.isfile(path)]


def require_list(command: Sequence[str]) -> None:
    """Refuse a check that does not read the list of a trial: all its runs would be alike.

    :raises UsageFault: if neither a word of the command nor a file that it names, as its script, mentions the list
    """
    marks = [f"{{{name}}}" for name in _LISTS] + [f"OPSINFO_{name.upper()}" for name in _LISTS]
    program = shutil.which(command[0]) or command[0]
    if any(mark in word for word in command for mark in marks) or any(
        mark.encode() in _beginning(path) for path in (program, *named_files(command)) for mark in marks
    ):
        return
    hint = "give it {mixlist}, which becomes the path of the list, or let its script read $OPSINFO_MIXLIST; "
    message = "the check does not read the list: {mixlist} is not in the command, $OPSINFO_MIXLIST not in its files"
    raise UsageFault(message, name="no-list-in-check", hint=f"{hint}if it does by another way, --force runs it")


def _beginning(path: str) -> bytes:
    """Return what a script or program begins with; empty if it cannot be read: the trial says so."""
    with suppress(OSError, Refused), open_file(path) as file:
        return file.read(_SCRIPT)
    return b""


def replacements(folder: str, files: Files, device: str | None) -> dict[str, str]:
    """Return the text for each placeholder of a trial."""
    paths = {name: os.path.join(folder, file) for name, (file, _) in files.items()}
    return {"trial": folder, "cache": os.path.join(folder, CACHE), "device": device or "", **paths}


def words_of(command: Sequence[str], texts: Mapping[str, str]) -> list[str]:
    """Return the command with its placeholders replaced, each word once from left to right."""
    pattern = re.compile("|".join(re.escape(f"{{{name}}}") for name in texts))
    return [pattern.sub(lambda match: texts[match[0][1:-1]], word) for word in command]


def environment_of(command: Sequence[str], texts: Mapping[str, str]) -> dict[str, str]:
    """Return the variables that a trial has in addition.

    A command with ``{device}`` chooses the device itself: the numbers would be counted from the visible ones.
    """
    own = {f"OPSINFO_{name.upper()}": text for name, text in texts.items() if name not in ("cache", "device")}
    devices = {DEVICES: texts["device"]} if texts["device"] and not chooses_device(command) else {}
    return {**own, "ASCEND_CACHE_PATH": texts["cache"], **devices}


def chooses_device(command: Sequence[str]) -> bool:
    return any("{device}" in word for word in command)
