"""Rows of operators, with the policy of the library and after the mixlist."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated

from ..document import Count, LineNumber, OpType, Schema, optional
from .entry import Columns, Entry, Possible, TensorColumns
from .library import Operator, Operators, Store
from .marks import MarkWord, mark_words
from .policy import Policy
from .targets.found import TargetFacts

if TYPE_CHECKING:
    from .mixlist import Mixlist


@dataclass(frozen=True)
class Standing:
    """Another entry of the same op type, with its location."""

    file: str
    """The library file, as given or under the path given."""
    line: LineNumber
    """The line number of the entry's key, from 1."""
    policy: Policy | None
    """The policy of this entry; null if the engine would refuse its flag."""
    store: str | None
    """The store of the entry: built-in, vendor:<name> or env:<path>; null if the path does not show it."""


@dataclass(frozen=True)
class OperatorRow:
    """One op type and what decides its policy."""

    name: OpType
    """The op type."""
    policy: Policy | None
    """The effective policy: that of the library as changed by the mixlist, if one is given. For a mixlist without a
    library it is null, unless a to-add decides it or --against supplies it.
    """
    library_policy: Policy | None
    """The policy in the library, before any mixlist; null if no library was read."""
    marks: list[MarkWord]
    """The marks of the op type in the mixlist; empty without a mixlist."""
    file: str | None
    """The file with the entry that decides the policy; for a mixlist without a library, the mixlist."""
    line: LineNumber | None
    """The line number of the entry's key in that file, from 1."""
    store: Annotated[str | None, Schema(examples=["built-in", "vendor:acme", "env:/opt/acme", None])]
    """The store of the entry: built-in, vendor:<name> or env:<path>; null if the path does not show it."""
    shadowed: tuple[Standing, ...]
    """Entries that never win: a later file of the same store replaces them."""
    also_in: tuple[Standing, ...]
    """Winning entries of later stores: the engine falls through to them if the first store refuses a node."""
    by_default: bool = optional(False)
    """Whether it is white only because its OpDef source sets no policy: AddConfig makes it so. False for anything but
    sources.
    """


@dataclass(frozen=True, kw_only=True)
class OperatorDetails(OperatorRow):
    """One op type, what decides its policy, and which policies it supports."""

    inputs: Sequence[TensorColumns]
    """The inputs in the engine's order."""
    outputs: Sequence[TensorColumns]
    """The outputs in the engine's order."""
    can_be_black: Possible
    """Whether the op type has a column with float32 inputs; without one, the engine reports a black op type as
    unsupported. yes, no, or kernel: the library lists no columns, and the kernel package decides at compile time.
    """
    can_be_white: Possible
    """Whether the op type has a low-precision column; without one, white has no effect. yes, no, or kernel: the library
    lists no columns, and the kernel package decides at compile time.
    """

    @classmethod
    def of(cls, operator: Operator, mixlist: Mixlist | None) -> OperatorDetails:
        columns = Columns(operator.entry)
        return cls(
            **vars(operator_row(operator, mixlist)),
            inputs=columns.inputs,
            outputs=columns.outputs,
            can_be_black=columns.can_be_black(),
            can_be_white=columns.can_be_white(),
        )


@dataclass(frozen=True)
class PolicyCounts:
    """The number of op types shown with each policy."""

    white: Count
    """Number of white op types."""
    black: Count
    """Number of black op types."""
    gray: Count
    """Number of gray op types."""


@dataclass(frozen=True)
class ListDocument:
    """Op types with their policies, sorted by name; for a mixlist its marks. Later versions may add keys."""

    operators: Sequence[OperatorRow]
    """The op types shown, sorted by name."""
    counts: PolicyCounts
    """The number of op types shown with each policy."""
    total: Count
    """Number of op types in the target, shown or not."""
    other_stores: dict[str, Count]
    """Number of op types in the stores of the other cores, by core (ai, vector, dsa); empty if there are none."""
    target: TargetFacts
    """The target that was read."""

    @classmethod
    def of(
        cls, rows: Sequence[OperatorRow], total: int, other_stores: Mapping[str, int], target: TargetFacts
    ) -> ListDocument:
        found = [row.policy for row in rows]
        counts = PolicyCounts(*(found.count(each) for each in (Policy.WHITE, Policy.BLACK, Policy.GRAY)))
        return cls(rows, counts, total, {**other_stores}, target)


@dataclass(frozen=True)
class ShowDocument:
    """Details of the requested op types. Later versions may add keys."""

    operators: Sequence[OperatorDetails]
    """The requested op types."""
    target: TargetFacts
    """The target that was read."""


def operator_rows(operators: Operators, mixlist: Mixlist | None) -> list[OperatorRow]:
    return [operator_row(operator, mixlist) for operator in operators]


def operator_row(operator: Operator, mixlist: Mixlist | None) -> OperatorRow:
    entry = operator.entry
    library = policy = entry.policy
    marks: list[MarkWord] = []
    if mixlist:
        policy = mixlist.effective(operator.name, library)
        marks = mark_words(mixlist.marks_of(operator.name))
    shadowed, also_in = map(_standings, (operator.shadowed, operator.also_in))
    label = operator.store.label
    place = (entry.path, entry.line, label)
    return OperatorRow(operator.name, policy, library, marks, *place, shadowed, also_in, by_default=entry.by_default)


def _standings(found: list[tuple[Store, Entry]]) -> tuple[Standing, ...]:
    return tuple(Standing(entry.path, entry.line, entry.policy_or_none, store.label) for store, entry in found)


def mixlist_rows(mixlist: Mixlist, operators: Operators | None) -> list[OperatorRow]:
    """Return the op types of a mixlist with their marks, and policies if the marks or a target determine them."""
    rows = []
    first = {item.name: item.node for item in reversed(mixlist.items)}
    for name in sorted(mixlist.marks):
        known = operators[name].entry.policy if operators and name in operators else None
        policy = mixlist.alone(name) if known is None else mixlist.effective(name, known)
        line = mixlist.source.place(first[name].start).line
        marks = mark_words(mixlist.marks[name])
        rows.append(OperatorRow(name, policy, known, marks, mixlist.path, line, None, (), ()))
    return rows
