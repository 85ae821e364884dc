"""The JSON of `opsinfo list`."""

from __future__ import annotations

from typing import Annotated

from typing_extensions import NotRequired, TypedDict

from ..document import Count, LineNumber, PolicyName, Schema
from .shared import Head, Mark, Place, Target


class Operator(TypedDict):
    """One op type and what decides its policy."""

    name: Annotated[str, Schema(examples=["MatMulV2"])]
    """The op type."""
    policy: PolicyName | None
    """The effective policy: that of the library as changed by the mixlist, if one is given. For a mixlist without a
    library it is null, unless a to-add decides it or --against supplies it.
    """
    library_policy: PolicyName | None
    """The policy in the library, before any mixlist; null if no library was read."""
    marks: list[Mark]
    """The marks of the op type in the mixlist; empty without a mixlist."""
    file: str | None
    """The file with the entry that decides the policy; for a mixlist without a library, the mixlist."""
    line: LineNumber | None
    """The line number of the entry's key in that file, from 1."""
    store: Annotated[str | None, Schema(examples=["built-in", "vendor:acme", "env:/opt/acme", None])]
    """The store of the entry: built-in, vendor:<name> or env:<path>; null if the path does not show it."""
    shadowed: list[Place]
    """Entries that never win: a later file of the same store replaces them."""
    also_in: list[Place]
    """Winning entries of later stores: the engine falls through to them if the first store refuses a node."""
    by_default: NotRequired[bool]
    """Whether it is white only because its OpDef source sets no policy: AddConfig makes it so. False for anything but
    sources.
    """


class Counts(TypedDict):
    """The number of op types shown with each policy."""

    white: Count
    """Number of white op types."""
    black: Count
    """Number of black op types."""
    gray: Count
    """Number of gray op types."""


class ListDocument(Head):
    """Op types with their policies, sorted by name; for a mixlist its marks. Later versions may add keys."""

    operators: list[Operator]
    """The op types shown, sorted by name."""
    counts: Counts
    """The number of op types shown with each policy."""
    total: Count
    """Number of op types in the target, shown or not."""
    other_stores: dict[str, Count]
    """Number of op types in the stores of the other cores, by core (ai, vector, dsa); empty if there are none."""
    target: Target
    """The target that was read."""
