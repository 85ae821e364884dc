"""The JSON of `opsinfo merge`."""

from __future__ import annotations

from typing import Annotated, Literal

from typing_extensions import NotRequired, TypedDict

from ..document import Schema
from .shared import File, Head, Mark, Target

Actions = TypedDict(
    "Actions",
    {
        "to-add": NotRequired[Annotated[list[str], Schema(description="Op types that are added to the list.")]],
        "to-remove": NotRequired[Annotated[list[str], Schema(description="Op types that are removed from the list.")]],
    },
)
Actions.__doc__ = """The op types of one list by action."""


Mixlist = TypedDict(
    "Mixlist",
    {
        "black-list": NotRequired[Actions],
        "white-list": NotRequired[Actions],
        "gray-list": NotRequired[Actions],
    },
)
Mixlist.__doc__ = """The resulting mixlist as the engine reads it, without empty lists."""


class DroppedOpType(TypedDict):
    """One op type that was removed from the mixlist."""

    name: Annotated[str, Schema(examples=["MatMulV2"])]
    """The op type."""
    marks: list[Mark]
    """The marks that the op type had."""
    reason: Literal["no-effect", "unknown-operator", "no-effect-in-model"]
    """no-effect: it changes no target. unknown-operator: no target has the op type, so the engine ignores it.
    no-effect-in-model: no node of the models has other dtypes without it.
    """


ShortenedOpType = TypedDict(
    "ShortenedOpType",
    {
        "name": Annotated[Annotated[str, Schema(examples=["MatMulV2"])], Schema(description="The op type.")],
        "from": Annotated[list[Mark], Schema(description="The marks before.")],
        "to": Annotated[list[Mark], Schema(description="The marks after.")],
    },
)
ShortenedOpType.__doc__ = """One op type before and after."""


class MarksInOneMixlist(TypedDict):
    """The marks of one mixlist."""

    path: str
    """The mixlist, as given."""
    marks: list[Mark]
    """The marks of the op type in this mixlist."""


class Conflict(TypedDict):
    """One op type and its marks in each mixlist that names it. The last one wins."""

    name: Annotated[str, Schema(examples=["MatMulV2"])]
    """The op type."""
    given: Annotated[list[MarksInOneMixlist], Schema(minItems=2)]
    """The marks by mixlist, in the order of the mixlists."""


class MergeDocument(Head):
    """One mixlist merged from several, their conflicts, and the entries that could be removed. Later versions may add
    keys.
    """

    sources: list[str]
    """The mixlists, in the order given; later ones win."""
    against: list[Target]
    """The targets of --against, in the order given."""
    mixlist: Mixlist
    """The resulting mixlist as the engine reads it, without empty lists."""
    dropped: list[DroppedOpType]
    """Entries that were removed because they have no effect."""
    shortened: list[ShortenedOpType]
    """Op types whose marks were replaced by fewer marks with the same effect."""
    conflicts: list[Conflict]
    """Op types that the mixlists treat differently."""
    output: Annotated[str | None, Schema(examples=["ops_info.json", None])]
    """The file of --output; null if the mixlist goes to standard output."""
    change: Annotated[str | None, Schema(examples=["3f2a9c1d-12"])]
    """The id of the change, for opsinfo restore; null if nothing was written."""
    files: list[File]
    """The file written, or with dry_run the file that would be written; empty if the file needs no change, or without
    --output.
    """
    dry_run: bool
    """Whether writing was skipped: because of --dry-run or --check, or because --strict refused."""
