"""Errors, in the style of findings."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from ...errors import OpsinfoError
from ..escape import visible
from .style import Look

if TYPE_CHECKING:
    from typing import Any


def failure_lines(error: OpsinfoError, look: Look) -> Iterator[str]:
    yield from headed_lines("error:", "error", error.message, look)
    if error.path:
        yield f"  --> {place_of(error)}"
    if error.hint:
        yield ""
        yield from headed_lines("hint:", "hint", error.hint, look)


def headed_lines(head: str, color: str, text: str, look: Look) -> Iterator[str]:
    """A painted word and a text, which is broken between words if the medium asks for it."""
    from .cell_width import wrapped

    whole = f"{head} {visible(text)}"
    first, *rest = wrapped(whole, look.width) if look.breaks else [whole]
    yield look.paint(head, color) + first.removeprefix(head)
    yield from rest


def place_of(error: OpsinfoError) -> str:
    """Return `path:line:column`, without the unknown parts."""
    place = visible(error.path) if error.path else ""
    if error.line:
        place += f":{error.line}" + (f":{error.column}" if error.column else "")
    return place


def failure_document(error: OpsinfoError) -> dict[str, Any]:
    return {
        "name": error.name,
        "message": error.message,
        "path": error.path,
        "line": error.line,
        "column": error.column,
        "hint": error.hint,
    }
