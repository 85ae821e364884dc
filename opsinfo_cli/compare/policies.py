"""What differs between two targets, op type by op type."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Generic, TypeVar

from ..model.mixlist import Mixlist
from ..model.policy import Mark, Policy
from ..model.store import Operators

__all__ = ["Difference", "difference", "marks_of", "policies_of"]

T = TypeVar("T")


@dataclass(frozen=True)
class Difference(Generic[T]):
    """Op types of one side only, and those on both with different values: name -> (a, b)."""

    only_in_a: list[str]
    only_in_b: list[str]
    changed: dict[str, tuple[T, T]]
    same: int

    def __bool__(self) -> bool:
        return bool(self.only_in_a or self.only_in_b or self.changed)


def difference(a: Mapping[str, T], b: Mapping[str, T]) -> Difference[T]:
    """Compare name by name; every list is sorted."""
    both = sorted(a.keys() & b.keys())
    changed = {name: (a[name], b[name]) for name in both if a[name] != b[name]}
    return Difference(sorted(a.keys() - b.keys()), sorted(b.keys() - a.keys()), changed, len(both) - len(changed))


def policies_of(operators: Operators, mixlist: Mixlist | None = None) -> dict[str, Policy]:
    """The effective policy of every op type."""
    found = {operator.name: operator.entry.policy for operator in operators}
    if mixlist:
        for name in mixlist.marks:
            if name in found:
                found[name] = mixlist.effective(name, found[name])
    return found


def marks_of(mixlist: Mixlist) -> dict[str, tuple[Mark, ...]]:
    return {name: tuple(sorted(marks)) for name, marks in mixlist.marks.items()}
