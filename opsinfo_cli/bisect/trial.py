"""The run folder and the folders of its trials: no trial sees the leftovers of another one."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from ..errors import Refused

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from typing import BinaryIO

TAIL = 2000
"""Bytes of a trial's output that the journal keeps."""
OUTPUT = "output.log"
CACHE = "cache"


class RunFolder:
    """:param path: contains the journal, the best list, and ``trials`` with a folder for each trial"""

    def __init__(self, path: str) -> None:
        self.path = os.path.abspath(path)
        self.journal = os.path.join(self.path, "journal.jsonl")
        self.trials = os.path.join(self.path, "trials")

    def make(self) -> None:
        """:raises Refused: if the system refuses"""
        try:
            os.makedirs(self.trials, exist_ok=True)
        except OSError as error:
            raise not_written(self.path, error) from None

    def trial(self, number: int, files: Mapping[str, tuple[str, bytes]]) -> str:
        """Make the folder of a new trial with its files.

        :returns: its path
        :raises Refused: if the system refuses
        """
        folder = os.path.join(self.trials, f"{number:04}")
        try:
            os.makedirs(os.path.join(folder, CACHE))
            for name, content in files.values():
                with open(os.path.join(folder, name), "xb") as file:
                    file.write(content)
        except OSError as error:
            raise not_written(folder, error) from None
        return folder


def output_file(folder: str) -> BinaryIO:
    """Open a new file for the output of a trial.

    :raises Refused: if the system refuses
    """
    try:
        return open(os.path.join(folder, OUTPUT), "wb")
    except OSError as error:
        raise not_written(folder, error) from None


def not_written(path: str, error: OSError) -> Refused:
    """Return the error for a search whose run folder cannot be written."""
    hint = "free some space, and continue with --resume" if error.errno in _FULL else None
    return Refused(f"cannot write: {error.strerror or error}", name="not-written", path=path, hint=hint)


_FULL = (28, 122, 27)
"""ENOSPC, EDQUOT, EFBIG."""


def mixlist_name(number: int) -> str:
    """Return a separate name for each trial: the engine reads each path once per process."""
    return f"mixlist-{number:04}.json"


def keep_dtype_name(number: int) -> str:
    """The same for keep_dtype files."""
    return f"keep_dtype-{number:04}.cfg"


def words_of(command: Sequence[str], folder: str, files: Mapping[str, tuple[str, bytes]]) -> list[str]:
    """Return the command of a trial, with ``{trial}``, ``{cache}`` and the names of its files replaced by paths."""
    places = places_of(folder, files)
    words = []
    for word in command:
        for name, path in places.items():
            word = word.replace("{" + name + "}", path)
        words.append(word)
    return words


def environment_of(
    environ: Mapping[str, str], folder: str, files: Mapping[str, tuple[str, bytes]], device: str | None = None
) -> dict[str, str]:
    """Return the environment of a trial."""
    places = places_of(folder, files)
    own = {f"OPSINFO_{name.upper()}": path for name, path in places.items() if name != "cache"}
    devices = {} if device is None else {"ASCEND_RT_VISIBLE_DEVICES": device}
    return {**environ, **own, "ASCEND_CACHE_PATH": places["cache"], **devices}


def places_of(folder: str, files: Mapping[str, tuple[str, bytes]]) -> dict[str, str]:
    """Return the replacements: ``trial`` and ``cache`` for folders, and each file's name for its path."""
    own = {name: os.path.join(folder, file) for name, (file, _) in files.items()}
    return {"trial": folder, "cache": os.path.join(folder, CACHE), **own}


def tail(folder: str) -> str:
    """Return the end of a trial's output; empty if there is none."""
    path = os.path.join(folder, OUTPUT)
    try:
        with open(path, "rb") as file:
            file.seek(max(0, os.path.getsize(path) - TAIL))
            return file.read().decode("utf-8", "replace")
    except OSError:
        return ""
