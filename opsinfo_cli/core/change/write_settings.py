"""How files are written, as the keyword arguments of the functions that change files say."""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import TypedDict


class WriteSettings(TypedDict, total=False):
    """How files are written. Each may be left out."""

    dry_run: bool
    """Write nothing, and return what would change."""
    force: bool
    """Override the refusal that a message names."""
    wait: float
    """The longest wait for a lock, in seconds; :data:`.lock.DEFAULT_WAIT` if left out."""
    in_place: bool
    """Overwrite a file that cannot be replaced."""
    backup_dir: str | os.PathLike[str] | None
    """The folder of backups; None for the usual one."""
    reason: str | None
    """Why, kept in the record of the change."""
    command: Sequence[str]
    """The command line, kept in the record, too; the host of the Python API has a line of its own."""
