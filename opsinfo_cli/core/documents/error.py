"""The JSON of a command that fails."""

from __future__ import annotations

from typing_extensions import TypedDict

from .shared import Error


class ErrorDocument(TypedDict):
    """The document that every command writes instead of its own when it fails. Later versions may add keys."""

    error: Error
    """The error."""
