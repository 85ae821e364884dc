"""The JSON of `opsinfo backups`."""

from __future__ import annotations

from typing import Annotated, Literal

from typing_extensions import NotRequired, TypedDict

from ..document import Schema
from .shared import Head


class Backup(TypedDict):
    """The content of one file before a change."""

    id: Annotated[str, Schema(examples=["3f2a9c1d-12.1"])]
    """The id of the backup, for opsinfo restore --to."""
    change: Annotated[str, Schema(examples=["3f2a9c1d-12"])]
    """The id of the change that made the backup."""
    path: str
    """The real path of the file."""
    time: Annotated[
        str,
        Schema(pattern="^[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}:[0-9]{2}Z$", examples=["2026-11-21T00:39:00Z"]),
    ]
    """The time of the change: UTC, ISO 8601, whole seconds."""
    sha256: Annotated[str, Schema(pattern="^[0-9a-f]{64}$")]
    """SHA-256 of the content."""
    lineage: str
    """The lineage of the backup. A lineage is the sequence of backups of one path since one state of
    the vendor's file.
    """
    pristine: bool
    """Whether this is the first content seen in its lineage; it is never pruned."""
    version: str | None
    """The CANN version of the install that the file was in; null if unknown."""
    reason: Annotated[str, Schema(examples=["move", "edit", "apply", "fmt", "validate", "restore", "reapply"])]
    """The kind of change."""
    command: Annotated[list[str], Schema(examples=[["opsinfo", "move", "ops_info.json", "Add", "--to", "black"]])]
    """The command line of the change, as a list of arguments."""
    why: str | None
    """The reason that --reason gave; null without one."""
    state: Literal["pending", "done", "undone", "abandoned"]
    """The state of the change."""
    user: str
    """The user who made the change."""
    machine: NotRequired[str]
    """The machine of the file: a hash of its machine-id, empty if it has none."""


class Damaged(TypedDict):
    path: str
    """The path of the file in the vault."""
    message: str
    """What is wrong with the file."""


class BackupsDocument(Head):
    """The backups in the vault. Later versions may add keys."""

    backups: list[Backup]
    """The backups."""
    vault: str
    """The directory of the backups."""
    damaged: NotRequired[list[Damaged]]
    """Damaged or missing files of the vault, if there are any."""
    pruned: NotRequired[list[str]]
    """With --prune: the backups that were removed."""
