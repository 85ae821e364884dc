"""Rows of operators, with the policy of the library and after the mixlist."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from .entry import Entry
from .library import Operator, Operators, Store
from .marks import Mark
from .policy import Policy

if TYPE_CHECKING:
    from .mixlist import Mixlist


class Standing(NamedTuple):
    """An entry of the same name that does not decide; ``policy`` is None if its flag cannot be read."""

    file: str
    line: int
    policy: Policy | None
    store: str | None


class OperatorRow(NamedTuple):
    """One op type of a listing. ``policy`` is None if unknown; ``by_default`` as in :class:`.Entry`."""

    name: str
    policy: Policy | None
    library_policy: Policy | None
    marks: tuple[Mark, ...] = ()
    file: str | None = None
    line: int | None = None
    store: str | None = None
    shadowed: tuple[Standing, ...] = ()
    also_in: tuple[Standing, ...] = ()
    by_default: bool = False


def operator_rows(operators: Operators, mixlist: Mixlist | None) -> list[OperatorRow]:
    return [operator_row(operator, mixlist) for operator in operators]


def operator_row(operator: Operator, mixlist: Mixlist | None) -> OperatorRow:
    entry = operator.entry
    library = policy = entry.policy
    marks: tuple[Mark, ...] = ()
    if mixlist:
        policy = mixlist.effective(operator.name, library)
        marks = tuple(sorted(mixlist.marks_of(operator.name)))
    shadowed, also_in = map(_standings, (operator.shadowed, operator.also_in))
    label = operator.store.label
    place = (entry.path, entry.line, label)
    return OperatorRow(operator.name, policy, library, marks, *place, shadowed, also_in, entry.by_default)


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
        rows.append(OperatorRow(name, policy, known, tuple(sorted(mixlist.marks[name])), mixlist.path, line))
    return rows
