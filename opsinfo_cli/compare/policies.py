"""The differences between two targets, by op type."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Generic, Protocol, TypeVar, overload

from ..model.policy import Mark, Policy
from ..model.store import Operators

if TYPE_CHECKING:
    from typing import Any

    from ..model.mixlist import Mixlist


T = TypeVar("T")


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

    :param a, b: two libraries, stores, installs or targets in any mix; or two mixlists
    :param mixlist_a, mixlist_b: mixlists that are applied to a and b; not for mixlists
    :param named: the op types to compare; None for all

    :raises TypeError: if a mixlist is compared with anything else
    """
    from ..model.mixlist import Mixlist

    if isinstance(a, Mixlist) != isinstance(b, Mixlist) or (isinstance(a, Mixlist) and (mixlist_a or mixlist_b)):
        raise TypeError("a mixlist can only be compared with another mixlist")
    if isinstance(a, Mixlist):
        return difference(marks_of(a), marks_of(b), named)
    return difference(policies_of(a.operators, mixlist_a), policies_of(b.operators, mixlist_b), named)


def difference(a: Mapping[str, T], b: Mapping[str, T], named: Collection[str] | None = None) -> Difference[T]:
    """Compare name by name; every list is sorted.

    :param named: the names to compare; None for all
    """
    if named is not None:
        a, b = ({name: each[name] for name in each if name in named} for each in (a, b))
    both = sorted(a.keys() & b.keys())
    changed = {name: (a[name], b[name]) for name in both if a[name] != b[name]}
    return Difference(sorted(a.keys() - b.keys()), sorted(b.keys() - a.keys()), changed, len(both) - len(changed))


def policies_of(operators: Operators, mixlist: Mixlist | None = None) -> dict[str, Policy]:
    """Return the effective policy of every op type."""
    found: dict[str, Policy] = {}
    for store in reversed(operators.stores):  # of several stores the first one decides
        found.update((name, entries[-1].policy) for name, entries in store.definitions.items())
    if mixlist:
        for name in mixlist.marks:
            if name in found:
                found[name] = mixlist.effective(name, found[name])
    return found


def marks_of(mixlist: Mixlist) -> dict[str, tuple[Mark, ...]]:
    return {name: tuple(sorted(marks)) for name, marks in mixlist.marks.items()}
