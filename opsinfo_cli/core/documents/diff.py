"""The JSON of `opsinfo diff`."""

from __future__ import annotations

from typing import Annotated, TypeAlias

from typing_extensions import NotRequired, TypedDict

from ..document import Count, PolicyName, Schema
from .shared import Head, Mark, Target

Side: TypeAlias = PolicyName | list[Mark]


class Difference(TypedDict):
    """One op type in A and in B."""

    name: Annotated[str, Schema(examples=["MatMulV2"])]
    """The op type."""
    a: Side
    """The policy in A; for a mixlist its marks."""
    b: Side
    """The policy in B; for a mixlist its marks."""


class Decision(TypedDict):
    name: str
    """The op type."""
    policy: PolicyName
    """Its policy in B."""
    by_default: bool
    """Whether it is white only because its source sets no policy."""
    file: str
    """The source."""
    line: int
    """The line that decides, from 1."""


class DifferenceInASection(TypedDict):
    """One value in A and in B."""

    name: Annotated[str, Schema(examples=["MatMulV2"])]
    """The op type."""
    section: Annotated[str, Schema(examples=["input0"])]
    """The section."""
    key: Annotated[str | None, Schema(examples=["dtype"])]
    """The key in the section; null if only one side has the section."""
    a: str | None
    """The value in A, or the keys and values of a whole section as text; null if A does not have it."""
    b: str | None
    """The value in B, or the keys and values of a whole section as text; null if B does not have it."""


class Counts(TypedDict):
    """Number of op types by result."""

    only_in_a: Count
    """Number of op types only in A."""
    only_in_b: Count
    """Number of op types only in B."""
    changed: Count
    """Number of op types that differ."""
    same: Count
    """Number of op types that are equal in both."""


class TwoTargets(Head):
    """The differences between two targets of one kind, or the policies in three or more targets. Later versions may add
    keys.
    """

    a: Target
    """The first target."""
    b: Target
    """The second target."""
    only_in_a: list[str]
    """Op types that only A has, sorted."""
    only_in_b: list[str]
    """Op types that only B has, sorted."""
    changed: list[Difference]
    """Op types that are in both and differ, sorted by name."""
    decided: NotRequired[list[Decision]]
    """If B is OpDef sources: what decides the policy of each op type in only_in_b and changed, sorted by name."""
    sections: NotRequired[list[DifferenceInASection]]
    """With --sections: every value that differs."""
    counts: Counts
    """Number of op types by result."""


class Counts2(TypedDict):
    """Number of op types."""

    operators: Count
    """Number of op types shown."""
    differ: Count
    """Number of op types that --on, --match and --only-in leave and whose policies differ; one that a target lacks
    differs.
    """
    total: Count
    """Number of all op types."""


class Operator(TypedDict):
    """One op type and its policy in every target."""

    name: Annotated[str, Schema(examples=["MatMulV2"])]
    """The op type."""
    policies: Annotated[list[PolicyName | None], Schema(minItems=1)]
    """The policy in each target, in the order of `targets`; null if the target does not have the op type."""


class ManyTargets(Head):
    """The differences between two targets of one kind, or the policies in three or more targets. Later versions may add
    keys.
    """

    decided: NotRequired[list[Decision]]
    """If B is OpDef sources: what decides the policy of each op type in only_in_b and changed, sorted by name."""
    sections: NotRequired[list[DifferenceInASection]]
    """With --sections: every value that differs."""
    counts: Counts2
    """Number of op types."""
    targets: Annotated[list[Annotated[str, Schema(examples=["ascend910b"])]], Schema(minItems=2)]
    """Of three or more targets: their names, distinct."""
    operators: list[Operator]
    """The op types shown, sorted by name."""


DiffDocument: TypeAlias = TwoTargets | ManyTargets
"""The differences between two targets of one kind, or the policies in three or more targets. Later versions may add
keys.
"""
