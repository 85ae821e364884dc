"""Edits as values, so that a change can be shown, proved and tested without writing."""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

from ..errors import Stale
from .source import Source, encoded


class Edit(NamedTuple):
    """Replace the code points ``start:end`` by ``text``."""

    start: int
    end: int
    text: str


def splice(text: str, edits: Iterable[Edit]) -> str:
    """:raises ValueError: if edits overlap; adjacent ones are fine"""
    parts: list[str] = []
    at = 0
    for edit in sorted(edits):
        if edit.start < at or edit.end < edit.start or edit.end > len(text):
            raise ValueError(f"edit {edit} overlaps another or is outside the text")
        parts += (text[at : edit.start], edit.text)
        at = edit.end
    parts.append(text[at:])
    return "".join(parts)


class Patch(NamedTuple):
    """Edits bound to the SHA-256 of the bytes they were computed from."""

    sha256: str
    edits: tuple[Edit, ...]
    drop_bom: bool = False

    def __bool__(self) -> bool:
        return bool(self.edits) or self.drop_bom

    def apply(self, source: Source) -> bytes:
        """:raises Stale: if ``source`` is not the text the patch was made for"""
        if source.sha256 != self.sha256:
            raise Stale(
                f"the file changed since the edit was planned: {self.sha256[:12]} then, {source.sha256[:12]} now",
                path=source.path,
                hint="plan the change again",
            )
        text = splice(source.text, self.edits)
        return encoded(text) if self.drop_bom else source.with_text(text)
