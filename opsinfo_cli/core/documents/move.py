"""The JSON of `opsinfo move`."""

from __future__ import annotations

from typing import Annotated

from typing_extensions import NotRequired, TypedDict

from ..document import Failure, FileChange, PolicyName, Schema
from .shared import Head

Move = TypedDict(
    "Move",
    {
        "name": Annotated[Annotated[str, Schema(examples=["MatMulV2"])], Schema(description="The op type.")],
        "from": Annotated[
            PolicyName | None, Schema(description="The policy before the change; null if unknown without a library.")
        ],
        "to": Annotated[
            PolicyName | None, Schema(description="The policy after the change; null if unknown without a library.")
        ],
        "file": Annotated[str, Schema(description="The changed file.")],
    },
)
Move.__doc__ = """One op type moved from one list to another."""


class MoveDocument(Head):
    """What a writing command has changed, or would change. Later versions may add keys."""

    change: Annotated[str | None, Schema(examples=["3f2a9c1d-12"])]
    """The id of the change, for opsinfo restore; null if nothing was written."""
    changed: list[Move]
    """The moves made, or with dry_run the moves that would be made; empty for fmt and snapshot."""
    unchanged: list[str]
    """Op types that need no change."""
    ignored: list[str]
    """Names that are not in the target."""
    files: list[FileChange]
    """The files written, or with dry_run the files that would be written."""
    dry_run: bool
    """Whether writing was skipped: because of --dry-run or --check; because of warnings with --strict; or, with -o of
    fmt, because the engine would refuse the result.
    """
    refused: NotRequired[Annotated[list[Failure], Schema(examples=[[]])]]
    """The files that were refused while the change was planned; the others are written, and the exit status is 3.
    Absent if there are none.
    """
