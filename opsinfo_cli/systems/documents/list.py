"""The JSON of `opsinfo systems list`."""

from __future__ import annotations

from ...core.documents.shared import Head, System


class SystemsListDocument(Head):
    """The systems whose lists can be read, written or queried. Later versions may add keys."""

    systems: list[System]
    """The requested systems."""
