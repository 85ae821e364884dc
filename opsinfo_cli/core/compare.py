"""Differences of targets: policies of two or many, marks of two mixlists, sections of two entries."""

from __future__ import annotations

import itertools
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, Any, Generic, TypeAlias, TypeVar, overload

from ..errors import UsageFault
from .cann.library import Operators
from .cann.marks import Mark, MarkWord, mark_words, marks_for
from .cann.mixlist import AnyMixlist, Mixlist, MixlistFile, mixlist_content
from .cann.policy import Policy
from .cann.target import AnyTarget, Target, as_target_or_mixlist
from .cann.targets.found import TargetFacts
from .document import Count, OpType, Schema, headed, optional

if TYPE_CHECKING:
    from .cann.entry_rules import Sections
    from .cann.install import Install
    from .cann.library import Library, Store

T = TypeVar("T")
Side = TypeVar("Side", bound="Policy | tuple[Mark, ...]")
Policies: TypeAlias = tuple[Policy | None, ...]
"""The policy of one op type in each target; None if the target lacks it."""


SideValue: TypeAlias = Policy | list[MarkWord]


@dataclass(frozen=True)
class ChangedOpType:
    """One op type in A and in B."""

    name: OpType
    """The op type."""
    a: SideValue
    """The policy in A; for a mixlist its marks."""
    b: SideValue
    """The policy in B; for a mixlist its marks."""


@dataclass(frozen=True)
class Decision:
    name: str
    """The op type."""
    policy: Policy
    """Its policy in B."""
    by_default: bool
    """Whether it is white only because its source sets no policy."""
    file: str
    """The source."""
    line: int
    """The line that decides, from 1."""


@dataclass(frozen=True)
class MarkedOpType:
    name: OpType
    """The op type."""
    marks: list[MarkWord]
    """Its marks in the mixlist that has it."""


@dataclass(frozen=True)
class SectionDifference:
    """One value in A and in B."""

    name: OpType
    """The op type."""
    section: Annotated[str, Schema(examples=["input0"])]
    """The section."""
    key: Annotated[str | None, Schema(examples=["dtype"])]
    """The key in the section; null if only one side has the section."""
    a: str | None
    """The value in A, or the keys and values of a whole section as text; null if A does not have it."""
    b: str | None
    """The value in B, or the keys and values of a whole section as text; null if B does not have it."""


@dataclass(frozen=True)
class DifferenceCounts:
    """Number of op types by result."""

    only_in_a: Count
    """Number of op types only in A."""
    only_in_b: Count
    """Number of op types only in B."""
    changed: Count
    """Number of op types that differ."""
    same: Count
    """Number of op types that are equal in both."""


@dataclass(frozen=True)
class TwoTargets:
    """The differences between two targets of one kind, or the policies in three or more targets. Later versions may add
    keys.
    """

    a: TargetFacts
    """The first target."""
    b: TargetFacts
    """The second target."""
    only_in_a: list[str]
    """Op types that only A has, sorted."""
    only_in_b: list[str]
    """Op types that only B has, sorted."""
    changed: list[ChangedOpType]
    """Op types that are in both and differ, sorted by name."""
    counts: DifferenceCounts
    """Number of op types by result."""
    decided: list[Decision] | None = optional()
    """If B is OpDef sources: what decides the policy of each op type in only_in_b and changed, sorted by name."""
    marked: list[MarkedOpType] | None = optional()
    """Of two mixlists: the marks of each op type in only_in_a and only_in_b, sorted by name."""
    sections: list[SectionDifference] | None = optional()
    """With --sections: every value that differs."""


@dataclass(frozen=True)
class MatrixCounts:
    """Number of op types."""

    operators: Count
    """Number of op types shown."""
    differ: Count
    """Number of op types that --on, --match and --only-in leave and whose policies differ; one that a target lacks
    differs.
    """
    total: Count
    """Number of all op types."""


@dataclass(frozen=True)
class MatrixRow:
    """One op type and its policy in every target."""

    name: OpType
    """The op type."""
    policies: Annotated[Sequence[Policy | None], Schema(minItems=1)]
    """The policy in each target, in the order of `targets`; null if the target does not have the op type."""


@dataclass(frozen=True)
class ManyTargets:
    """The policies in three or more targets. Later versions may add keys."""

    targets: Annotated[list[Annotated[str, Schema(examples=["ascend910b"])]], Schema(minItems=2)]
    """Of three or more targets: their names, distinct."""
    operators: list[MatrixRow]
    """The op types shown, sorted by name."""
    counts: MatrixCounts
    """Number of op types."""


@dataclass(frozen=True)
class NameDifference(Generic[T]):
    """Op types on one side only, and those on both sides with different values: name -> (a, b)."""

    only_in_a: list[str]
    only_in_b: list[str]
    changed: dict[str, tuple[T, T]]
    same: int

    def __bool__(self) -> bool:
        return bool(self.only_in_a or self.only_in_b or self.changed)

    @property
    def counts(self) -> DifferenceCounts:
        return DifferenceCounts(len(self.only_in_a), len(self.only_in_b), len(self.changed), self.same)


@dataclass(frozen=True)
class Difference(NameDifference[Side]):
    """The differences of two targets: policies, or marks of mixlists.

    :param sections: those inside entries; None if they were not compared
    """

    a: Target | MixlistFile
    b: Target | MixlistFile
    sections: list[SectionDifference] | None = None

    def __bool__(self) -> bool:
        return super().__bool__() or bool(self.sections)

    @property
    def sources(self) -> Target | None:
        """B if it is OpDef sources, which know why and where a policy is decided."""
        return self.b if isinstance(self.b, Target) and self.b.kind == "opdef" else None

    def marks_alone(self, name: str) -> tuple[tuple[Mark, ...], tuple[Mark, ...]]:
        """Return the marks in A and in B of an op type that one of two mixlists has; none of other targets."""
        sides = (side.mixlist.marks if isinstance(side, MixlistFile) else {} for side in (self.a, self.b))
        a, b = (tuple(sorted(marks.get(name, ()))) for marks in sides)
        return a, b

    def __repr__(self) -> str:
        changed, only_in_a, only_in_b = len(self.changed), len(self.only_in_a), len(self.only_in_b)
        return f"<Difference of {self.a.text} and {self.b.text}: {changed} changed, {only_in_a} and {only_in_b} alone>"

    def to_dict(self) -> dict[str, Any]:
        """Return the JSON document of ``opsinfo diff``."""
        decided = None
        if sources := self.sources:
            of_b = [sources.operators[name] for name in sorted([*self.only_in_b, *self.changed])]
            decided = [
                Decision(each.name, each.policy, each.entry.by_default, each.entry.path, each.entry.line)
                for each in of_b
            ]
        changed = [ChangedOpType(name, _plain(a), _plain(b)) for name, (a, b) in self.changed.items()]
        marked = None
        if isinstance(self.b, MixlistFile):
            names = sorted([*self.only_in_a, *self.only_in_b])
            marked = [MarkedOpType(name, mark_words(itertools.chain(*self.marks_alone(name)))) for name in names]
        only = self.only_in_a, self.only_in_b
        facts = TwoTargets(
            self.a.facts,
            self.b.facts,
            *only,
            changed,
            self.counts,
            decided=decided,
            marked=marked,
            sections=self.sections,
        )
        return headed("diff", facts)


def _plain(value: Policy | tuple[Mark, ...]) -> SideValue:
    return value if isinstance(value, Policy) else mark_words(value)


@overload
def diff(a: Mixlist, b: Mixlist, *, named: Collection[str] | None = None) -> Difference[tuple[Mark, ...]]: ...


@overload
def diff(
    a: Library | Store | Install,
    b: AnyTarget,
    mixlist_a: AnyMixlist | None = None,
    mixlist_b: AnyMixlist | None = None,
    *,
    named: Collection[str] | None = None,
    sections: bool = False,
) -> Difference[Policy]: ...


@overload
def diff(
    a: AnyTarget | Mixlist | MixlistFile,
    b: AnyTarget | Mixlist | MixlistFile,
    mixlist_a: AnyMixlist | None = None,
    mixlist_b: AnyMixlist | None = None,
    *,
    named: Collection[str] | None = None,
    sections: bool = False,
) -> Difference[Any]: ...


def diff(
    a: AnyTarget | Mixlist | MixlistFile,
    b: AnyTarget | Mixlist | MixlistFile,
    mixlist_a: AnyMixlist | None = None,
    mixlist_b: AnyMixlist | None = None,
    *,
    named: Collection[str] | None = None,
    sections: bool = False,
) -> Difference[Any]:
    """Return the result of ``opsinfo diff``: op types with different effective policies, or marks in two mixlists.

    An op type that could not be read on one side is not compared.

    :param mixlist_a, mixlist_b: mixlists that are applied to a and b; not for mixlists
    :param named: the op types to compare; None for all
    :param sections: whether the sections of entries are compared, too

    :raises UsageFault: if a mixlist is compared with anything else, or the sections of a snapshot
    """
    one, other = map(as_target_or_mixlist, (a, b))
    found: NameDifference[Any]
    if isinstance(one, MixlistFile) and isinstance(other, MixlistFile):
        if mixlist_a is not None or mixlist_b is not None or sections:
            raise UsageFault("mixlists have neither sections nor a mixlist to apply", name="wrong-kind")
        marks = [{name: tuple(sorted(each)) for name, each in side.mixlist.marks.items()} for side in (one, other)]
        found = difference(marks[0], marks[1], named)
        return Difference(**vars(found), a=one, b=other)
    if isinstance(one, MixlistFile) or isinstance(other, MixlistFile):
        raise UsageFault("a mixlist can only be compared with another mixlist", name="wrong-kind")
    a, b = one, other
    applied = [None if each is None else Mixlist.open(each) for each in (mixlist_a, mixlist_b)]
    policies = [policies_of(side.operators, each) for side, each in zip((a, b), applied, strict=True)]
    found = difference(policies[0], policies[1], named, unread=unread_in(a, b))
    inside = None
    if sections:
        for side in (a, b):
            if side.kind == "snapshot":
                message, hint = "a snapshot does not have all sections", "compare the installs themselves"
                raise UsageFault(message, name="wrong-kind", path=side.path, hint=hint)
        inside = [each for each in section_differences(a.operators, b.operators) if named is None or each.name in named]
    return Difference(**vars(found), a=a, b=b, sections=inside)


def unread_in(*targets: Target) -> frozenset[str]:
    """Return the op types whose policy could not be read in one of some targets."""
    return frozenset().union(*(target.operators.unreadable for target in targets))


def difference(
    a: Mapping[str, T], b: Mapping[str, T], named: Collection[str] | None = None, unread: Collection[str] = ()
) -> NameDifference[T]:
    """Compare name by name; every list is sorted.

    :param named: the names to compare; None for all
    :param unread: names that a side may have although it does not show them
    """
    if named is not None:
        a, b = ({name: side[name] for name in side if name in named} for side in (a, b))
    both = sorted(a.keys() & b.keys())
    changed = {name: (a[name], b[name]) for name in both if a[name] != b[name]}
    only_in_a, only_in_b = (sorted((one.keys() - other.keys()).difference(unread)) for one, other in ((a, b), (b, a)))
    return NameDifference(only_in_a, only_in_b, changed, len(both) - len(changed))


def policies_of(operators: Operators, mixlist: Mixlist | None = None) -> dict[str, Policy]:
    """Return the effective policy of every op type."""
    policies: dict[str, Policy] = {}
    for store in reversed(operators.stores):  # of several stores the first one decides
        policies.update((name, entries[-1].policy) for name, entries in store.definitions.items())
    for name in mixlist.marks if mixlist else ():
        if mixlist and name in policies:
            policies[name] = mixlist.effective(name, policies[name])
    return policies


def policies_by_name(targets: Sequence[Mapping[str, Policy]]) -> dict[str, Policies]:
    """Return every op type that any target has, sorted, with its policies."""
    names = sorted(set().union(*targets))
    return {name: tuple(target.get(name) for target in targets) for name in names}


def differs(policies: Policies) -> bool:
    """Return whether the policies of the targets differ; a target that lacks the op type counts as different.

    >>> differs((Policy.WHITE, None)), differs((Policy.GRAY, Policy.GRAY))
    (True, False)
    """
    return len(set(policies)) > 1


def mixlist_for(
    a: Operators, b: Operators, applied: Mixlist | None, names: Iterable[str]
) -> tuple[dict[str, dict[str, list[str]]], list[str]]:
    """Return a mixlist as plain values, with the fewest marks that give A the policies of B in every store, and the op
    types that no marks make gray, because one store of A has them white and another black.

    :param applied: the mixlist of B
    :param names: op types that both have
    """
    marks, impossible = {}, []
    for name in sorted(names):
        own, wanted = _in_stores(a, name, None), _in_stores(b, name, applied)
        needed = frozenset[Mark]().union(*(marks_for(each, wanted[0]) for each in own if own != wanted))
        if len(needed) > 1:
            impossible.append(name)
        else:
            marks[name] = needed
    return mixlist_content(marks), impossible


def _in_stores(operators: Operators, name: str, applied: Mixlist | None) -> list[Policy]:
    """Return the different policies of an op type in the stores, that of the deciding one first."""
    policies = [entry.policy for _, entry in operators[name].winners]
    return [*dict.fromkeys(applied.effective(name, each) if applied else each for each in policies)]


def section_differences(a: Operators, b: Operators) -> Iterator[SectionDifference]:
    for name in sorted(set(a.names) & set(b.names)):
        yield from _entry_differences(name, a[name].entry.sections, b[name].entry.sections)


def _entry_differences(name: str, a: Sections, b: Sections) -> Iterator[SectionDifference]:
    for section in sorted({*a, *b}):
        one, other = a.get(section), b.get(section)
        if one is None or other is None:
            yield SectionDifference(name, section, None, _content_text(one), _content_text(other))
            continue
        for key in sorted({*one, *other}):
            if one.get(key) != other.get(key):
                yield SectionDifference(name, section, key, one.get(key), other.get(key))


def _content_text(content: Mapping[str, str] | None) -> str | None:
    return None if content is None else ", ".join(f"{key}={value}" for key, value in content.items())
