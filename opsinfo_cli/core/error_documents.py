"""The JSON of errors, and of what could not be read, which several documents have."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable

    from ..errors import OpsinfoError
    from .cann.opdef.reading import Unreadable
    from .documents import shared as documents


def error_document(error: OpsinfoError) -> documents.Error:
    return {
        "name": error.name,
        "message": error.message,
        "path": error.path,
        "line": error.line,
        "column": error.column,
        "hint": error.hint,
    }


def unreadable_documents(unreadable: Iterable[Unreadable]) -> list[documents.Unreadable]:
    return [{"name": each.name, "file": each.file, "line": each.line, "reason": each.reason} for each in unreadable]
