"""The JSON of `opsinfo systems list`."""

from __future__ import annotations

from typing_extensions import TypedDict

from ...core.documents.shared import System


class SystemsListDocument(TypedDict):
    """The systems whose lists can be read, written or queried. Later versions may add keys."""

    systems: list[System]
    """The requested systems."""
