"""Write the files of one change, as the keyword arguments of the functions that change files say."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from typing import TypedDict

from .plan import Job, Result
from .vault import Vault
from .vault_place import vault_path
from .writer import Writer


class WriteSettings(TypedDict, total=False):
    """How files are written. Each may be left out."""

    dry_run: bool
    """Write nothing, and return what would change."""
    force: bool
    """Override the refusal that a message names."""
    wait: float
    """The longest wait for a lock, in seconds; 30 if left out."""
    in_place: bool
    """Overwrite a file that cannot be replaced."""
    backup_dir: str | os.PathLike[str] | None
    """The folder of backups; None for the usual one."""
    reason: str | None
    """Why, kept in the record of the change."""


def vault_in(settings: WriteSettings) -> Vault:
    folder = settings.get("backup_dir")
    return Vault(vault_path(None if folder is None else os.fspath(folder), os.environ))


def writer_of(settings: WriteSettings, say: Callable[[str], None]) -> Writer:
    return Writer(
        vault_in(settings),
        wait=settings.get("wait", 30.0),
        in_place=settings.get("in_place", False),
        force=settings.get("force", False),
        say=say,
        why=settings.get("reason"),
    )


def write_files(kind: str, jobs: Sequence[Job], settings: WriteSettings, say: Callable[[str], None]) -> Result:
    """Change files as one change, or with ``dry_run`` return what would change.

    :param kind: the command, for the record
    :raises OpsinfoError: as :meth:`.Writer.run`
    """
    is_dry = settings.get("dry_run", False)
    writer = writer_of(settings, say)
    result = Result([]) if not jobs else writer.preview(jobs) if is_dry else writer.run(kind, jobs)
    return result._replace(kind=kind, dry_run=is_dry)
