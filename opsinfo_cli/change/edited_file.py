"""A temporary text file for an editor, which outlives the command if its edits were not applied."""

from __future__ import annotations

import tempfile
from contextlib import suppress
from pathlib import Path

from ..errors import Refused


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
            raise self._refused(f"cannot write a temporary file: {error.strerror}") from None
        self.write(text)

    def write(self, text: str) -> None:
        """:raises Refused: if it cannot be written"""
        try:
            Path(self.path).write_bytes(text.encode("utf-8"))
        except OSError as error:
            raise self._refused(f"cannot write: {error.strerror}", self.path) from None

    def read(self) -> str:
        """Return the text, without a byte order mark.

        :raises Refused: if the file is gone or is not UTF-8
        """
        try:
            return Path(self.path).read_bytes().decode("utf-8-sig").replace("\r\n", "\n")
        except OSError as error:
            raise Refused(error.strerror or str(error), name="unreadable", path=self.path) from None
        except UnicodeDecodeError:
            raise Refused("the editor did not save UTF-8", name="unreadable", path=self.path) from None

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

    def _refused(self, message: str, path: str | None = None) -> Refused:
        return Refused(message, name="not-written", path=path or tempfile.gettempdir())
