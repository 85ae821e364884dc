"""The JSON of `opsinfo restore`."""

from __future__ import annotations

from typing import Annotated

from typing_extensions import NotRequired, TypedDict

from ..document import Schema
from .shared import Head


class RestoredFile(TypedDict):
    """One file and the backup that it was restored from."""

    path: str
    """The file, as given or under the path given."""
    id: Annotated[str, Schema(examples=["3f2a9c1d-12.1"])]
    """The id of the backup."""
    sha256: Annotated[str, Schema(pattern="^[0-9a-f]{64}$")] | None
    """SHA-256 of the restored content; null if the file was removed because the undone change had created it."""


class LeftMove(TypedDict):
    """An op type of the undone change that was left as it is."""

    name: str
    """The op type."""
    path: str
    """The file."""
    change: str | None
    """The id of the later change that moved it; null if something other than opsinfo did."""


class RestoreDocument(Head):
    """The files that were or would be restored. Later versions may add keys."""

    restored: list[RestoredFile]
    """The files restored, or with dry_run the files that would be restored."""
    change: Annotated[str | None, Schema(examples=["3f2a9c1d-12"])]
    """The id of the change that restore made; null if nothing was written."""
    left: NotRequired[list[LeftMove]]
    """Op types that the undone change moved and that were moved again later; the exit status is 1 then."""
    dry_run: bool
    """Whether writing was skipped because of --dry-run."""
