"""The JSON of `opsinfo systems convert`."""

from __future__ import annotations

from typing import Annotated

from typing_extensions import TypedDict

from ...core.document import Count, Schema
from ...core.documents.shared import Head


class DroppedEntry(TypedDict):
    """One entry that the files do not express."""

    name: str
    """The entry as written in the source."""
    reason: str
    """Why the entry was not carried over."""


class Entries(TypedDict):
    """What happened to the entries of the source."""

    given: Count
    """Number of entries in the source."""
    carried: Count
    """Number of source entries that the files express."""
    dropped: list[DroppedEntry]
    """The entries that were not carried over, in the order of the source."""


class Loss(TypedDict):
    """One step in which the result expresses less than the source, or something else."""

    kind: Annotated[
        str,
        Schema(
            examples=[
                "unknown-name",
                "one-to-many",
                "broader",
                "conflict",
                "no-class",
                "approximate",
                "default-direction",
                "dtype",
                "node-rules",
                "overloads",
                "forward-only",
                "first-argument",
                "not-in-base",
                "no-kernel",
                "built-in-stays",
                "cells-only",
                "same-name",
                "unread",
                "form",
                "expansion",
                "defaults-replaced",
                "overruled",
                "not-a-name",
                "ignored",
            ]
        ),
    ]
    """The kind of step."""
    message: str
    """What happened."""
    names: list[str]
    """The affected names; empty if all are affected."""
    details: list[str]
    """Details about individual names."""
    lossy: bool
    """Whether the step loses anything; --strict refuses such a conversion."""


class File(TypedDict):
    """One file."""

    name: str
    """The usual name of the file."""
    path: str | None
    """The path that was or would be written; null if no output was given."""
    text: str
    """The complete text of the file."""


_Body = TypedDict(
    "_Body",
    {
        "from": Annotated[str, Schema(description="The format or system that was read.")],
        "to": Annotated[str, Schema(description="The format that was written.")],
        "base": Annotated[list[str], Schema(description="The baseline that the files are a difference against.")],
        "entries": Annotated[Entries, Schema(description="What happened to the entries of the source.")],
        "added": Annotated[
            list[str],
            Schema(description="Names in the files that are not in the source: other forms of its operators."),
        ],
        "losses": Annotated[
            list[Loss], Schema(description="Every step in which the result differs from the source, in order.")
        ],
        "files": Annotated[list[File], Schema(description="The resulting files; empty if --strict refused.")],
        "change": Annotated[str | None, Schema(description="The id of the change; null if no file was written.")],
        "dry_run": Annotated[bool, Schema(description="Whether writing was skipped because of --dry-run or --check.")],
    },
)


class SystemsConvertDocument(Head, _Body):
    """Files converted from other lists, what happened to every entry, and every lossy step. Later versions may add
    keys.
    """
