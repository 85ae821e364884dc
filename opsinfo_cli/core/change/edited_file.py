"""A temporary text file for an editor, which outlives the command if its edits were not applied."""

from __future__ import annotations

import tempfile
from contextlib import suppress
from pathlib import Path

from ...errors import Refused
from ..text.source import read_bytes
from .output_file import write_file


class EditedFile:
    """A new file, readable by its owner only.

    :raises Refused: if it cannot be written
    """

    def __init__(self, text: str) -> None:
        self._first = text
        try:
            with tempfile.NamedTemporaryFile(prefix="opsinfo-edit-", suffix=".txt", delete=False) as file:
                self.path = file.name
        except OSError as error:
            raise Refused(f"cannot write a temporary file: {error.strerror}", name="not-written") from None
        self.write(text)

    def write(self, text: str) -> None:
        """:raises Refused: if it cannot be written"""
        write_file(self.path, text.encode("utf-8"))

    def read(self) -> str:
        """Return the text, without a byte order mark; any line end of an editor, CR alone too, ends a line.

        :raises Refused: if the file is gone or is not UTF-8
        """
        try:
            return read_bytes(self.path).decode("utf-8-sig").replace("\r\n", "\n").replace("\r", "\n")
        except UnicodeDecodeError:
            raise Refused("the edited text is not UTF-8", name="unreadable", path=self.path) from None

    @property
    def is_edited(self) -> bool:
        """Whether it exists with another text than at first."""
        try:
            return self.read() != self._first
        except Refused:
            return Path(self.path).exists()

    def remove(self) -> None:
        with suppress(OSError):
            Path(self.path).unlink()
