"""Differences of targets: policies of two or many, marks of two mixlists, sections of two entries."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Generic, NamedTuple, Protocol, TypeAlias, TypeVar, overload

from ..errors import UsageFault
from .cann.library import Operators
from .cann.mixlist import Mixlist, mixlist_content
from .cann.policy import Mark, Policy, marks_for

if TYPE_CHECKING:
    from .cann.entry_rules import Sections

T = TypeVar("T")
Policies: TypeAlias = tuple[Policy | None, ...]
"""The policy of one op type in each target; None if the target lacks it."""


class HasOperators(Protocol):
    """A library, a store, an install, a target."""

    @property
    def operators(self) -> Operators: ...


@dataclass(frozen=True)
class Difference(Generic[T]):
    """Op types on one side only, and those on both sides with different values: name -> (a, b)."""

    only_in_a: list[str]
    only_in_b: list[str]
    changed: dict[str, tuple[T, T]]
    same: int

    def __bool__(self) -> bool:
        return bool(self.only_in_a or self.only_in_b or self.changed)


@overload
def diff(a: Mixlist, b: Mixlist, *, named: Collection[str] | None = None) -> Difference[tuple[Mark, ...]]: ...


@overload
def diff(
    a: HasOperators,
    b: HasOperators,
    mixlist_a: Mixlist | None = None,
    mixlist_b: Mixlist | None = None,
    *,
    named: Collection[str] | None = None,
) -> Difference[Policy]: ...


def diff(
    a: Any,
    b: Any,
    mixlist_a: Mixlist | None = None,
    mixlist_b: Mixlist | None = None,
    *,
    named: Collection[str] | None = None,
) -> Difference[Any]:
    """Return the result of ``opsinfo diff``: op types with different effective policies, or marks in two mixlists.

    An op type that could not be read on one side is not compared.

    :param a, b: two libraries, stores, installs or targets in any mix; or two mixlists
    :param mixlist_a, mixlist_b: mixlists that are applied to a and b; not for mixlists
    :param named: the op types to compare; None for all

    :raises UsageFault: if a mixlist is compared with anything else
    """
    if isinstance(a, Mixlist) != isinstance(b, Mixlist) or (isinstance(a, Mixlist) and (mixlist_a or mixlist_b)):
        raise UsageFault("a mixlist can only be compared with another mixlist", name="wrong-kind")
    if isinstance(a, Mixlist):
        return difference(marks_of(a), marks_of(b), named)
    policies = policies_of(a.operators, mixlist_a), policies_of(b.operators, mixlist_b)
    return difference(*policies, named, unread=unread_in(a, b))


def unread_in(*targets: HasOperators) -> frozenset[str]:
    """Return the op types whose policy could not be read in one of some targets."""
    return frozenset().union(*(target.operators.unreadable for target in targets))


def difference(
    a: Mapping[str, T], b: Mapping[str, T], named: Collection[str] | None = None, unread: Collection[str] = ()
) -> Difference[T]:
    """Compare name by name; every list is sorted.

    :param named: the names to compare; None for all
    :param unread: names that a side may have although it does not show them
    """
    if named is not None:
        a, b = ({name: side[name] for name in side if name in named} for side in (a, b))
    both = sorted(a.keys() & b.keys())
    changed = {name: (a[name], b[name]) for name in both if a[name] != b[name]}
    only_in_a, only_in_b = (sorted((one.keys() - other.keys()).difference(unread)) for one, other in ((a, b), (b, a)))
    return Difference(only_in_a, only_in_b, changed, len(both) - len(changed))


def policies_of(operators: Operators, mixlist: Mixlist | None = None) -> dict[str, Policy]:
    """Return the effective policy of every op type."""
    policies: dict[str, Policy] = {}
    for store in reversed(operators.stores):  # of several stores the first one decides
        policies.update((name, entries[-1].policy) for name, entries in store.definitions.items())
    for name in mixlist.marks if mixlist else ():
        if mixlist and name in policies:
            policies[name] = mixlist.effective(name, policies[name])
    return policies


def marks_of(mixlist: Mixlist) -> dict[str, tuple[Mark, ...]]:
    return {name: tuple(sorted(marks)) for name, marks in mixlist.marks.items()}


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


def mixlist_for(library: Mapping[str, Policy], wanted: Mapping[str, Policy]) -> dict[str, dict[str, list[str]]]:
    """Return a mixlist as plain values, with the fewest marks.

    :param library: the policies of the target's libraries
    :param wanted: the wanted policies; op types that the target lacks are left out
    """
    names = sorted(wanted.keys() & library.keys())
    return mixlist_content({name: marks_for(library[name], wanted[name]) for name in names})


class SectionDifference(NamedTuple):
    """One key that differs.

    ``key`` is None if a whole section is on one side only, ``a`` or ``b`` if it is missing there.
    """

    name: str
    section: str
    key: str | None
    a: str | None
    b: str | None


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


def difference_members(found: Difference[Any]) -> dict[str, Any]:
    def plain(value: Any) -> Any:
        return [str(mark) for mark in value] if isinstance(value, tuple) else value

    sides = {name: getattr(found, name) for name in ("only_in_a", "only_in_b", "changed")}
    return {
        **sides,
        "changed": [{"name": name, "a": plain(x), "b": plain(y)} for name, (x, y) in found.changed.items()],
        "counts": {**{name: len(side) for name, side in sides.items()}, "same": found.same},
    }
