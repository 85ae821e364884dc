"""The command of the check: its placeholders, and what a trial puts in their places."""

from __future__ import annotations

import os
import re
from difflib import get_close_matches
from typing import TYPE_CHECKING

from ...errors import UsageFault

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping, Sequence

    from .place import Files

PLACEHOLDERS = ("mixlist", "keep_dtype", "trial", "cache", "device")
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


def names_list(command: Sequence[str]) -> bool:
    """Whether the words of a command show that it reads the list of a trial."""
    marks = ("{mixlist}", "{keep_dtype}", "{trial}", "OPSINFO_")
    return any(mark in word for word in command for mark in marks)


def replacements(folder: str, files: Files, device: str | None) -> dict[str, str]:
    """Return the text for each placeholder of a trial."""
    paths = {name: os.path.join(folder, file) for name, (file, _) in files.items()}
    return {"trial": folder, "cache": os.path.join(folder, CACHE), "device": device or "", **paths}


def words_of(command: Sequence[str], texts: Mapping[str, str]) -> list[str]:
    """Return the command with its placeholders replaced, each word once from left to right."""
    pattern = re.compile("|".join(re.escape(f"{{{name}}}") for name in texts))
    return [pattern.sub(lambda match: texts[match[0][1:-1]], word) for word in command]


def environment_of(
    command: Sequence[str], texts: Mapping[str, str], hidden: Collection[str] = ("cache", "device")
) -> dict[str, str]:
    """Return the variables that a trial has in addition.

    A command with ``{device}`` chooses the device itself: the numbers would be counted from the visible ones.
    """
    own = {f"OPSINFO_{name.upper()}": text for name, text in texts.items() if name not in hidden}
    devices = {DEVICES: texts["device"]} if texts["device"] and not chooses_device(command) else {}
    return {**own, "ASCEND_CACHE_PATH": texts["cache"], **devices}


def chooses_device(command: Sequence[str]) -> bool:
    return any("{device}" in word for word in command)
