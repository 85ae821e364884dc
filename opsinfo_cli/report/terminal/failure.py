"""Errors, in the style of findings."""

from __future__ import annotations

from collections.abc import Iterator

from ...errors import OpsinfoError
from ...typed import TYPE_CHECKING
from .style import Look
from .visible import visible

if TYPE_CHECKING:
    from typing import Any


def failure_lines(error: OpsinfoError, look: Look) -> Iterator[str]:
    yield f"{look.paint('error:', 'error')} {visible(error.message)}"
    if error.path:
        yield f"  --> {place_of(error)}"
    if error.hint:
        yield from ("", f"{look.paint('hint:', 'hint')} {visible(error.hint)}")


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
