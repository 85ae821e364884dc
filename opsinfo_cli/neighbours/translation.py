"""Names of one system in another's words, through Ascend's op types and one table of facts."""

from __future__ import annotations

from collections.abc import Iterable
from functools import cache
from typing import NamedTuple

from .facts import facts
from .placed import Class, Lists, Loss, Placed, Told

__all__ = ["respelt", "table_of", "translated"]

_HIGHEST_FIRST = (Class.BANNED, Class.HIGH, Class.PROMOTE, Class.FOLLOW, Class.CLEAR, Class.LOW)


class Table(NamedTuple):
    """One system's names with the op types they become.

    :param unclear: names that are known, and why no op type can be given for them
    """

    ops: dict[str, tuple[str, ...]]
    names: dict[str, tuple[str, ...]]
    unclear: dict[str, str]


@cache
def table_of(names: str) -> Table:
    content = facts("names")["systems"].get(names, {"names": {}, "unclear": {}})
    back: dict[str, list[str]] = {}
    for name, ops in content["names"].items():
        for op in ops:
            back.setdefault(op, []).append(name)
    ops = {name: tuple(ops) for name, ops in content["names"].items()}
    return Table(ops, {op: tuple(names) for op, names in back.items()}, content["unclear"])


def translated(lists: Lists, to: str, same: Iterable[str] = ()) -> Told:
    """The same lists in the names of ``to``; every name that gets lost or changes its reach is in a loss.

    :param same: op types that an unknown name may be taken for, where it is spelt the same
    """
    if lists.names == to:
        return Told(lists)
    placed, losses = _operators(lists)
    if lists.names != "ascend":
        placed, more = _to_ascend(placed, lists, frozenset(same))
        losses += more
    if to != "ascend":
        placed, more = _from_ascend(placed, to)
        losses += more
    return Told(lists._replace(names=to, placed=tuple(placed)), tuple(losses))


def respelt(lists: Lists, to: str) -> Told:
    """Names as a kindred system spells them, where the two differ and a source says how."""
    spellings = facts("names")["respelt"]
    forward = spellings.get(lists.system, {}).get(to, {})
    back = {new: old for old, new in spellings.get(to, {}).get(lists.system, {}).items()}
    known = {**forward, **back}
    changed = tuple(each.name for each in lists.placed if each.name in known)
    if not changed:
        return Told(lists)
    placed = tuple(each._replace(name=known.get(each.name, each.name)) for each in lists.placed)
    said = tuple(f"{name} is {known[name]}" for name in changed)
    return Told(lists._replace(placed=placed), (Loss("respelt", f"{to} spells names anew", changed, said),))


def _operators(lists: Lists) -> tuple[list[Placed], list[Loss]]:
    """What can be translated at all: no rules on node names, and no overloads."""
    losses = []
    nodes = tuple(each.name for each in lists.placed if each.scope == "node")
    if nodes:
        losses.append(Loss("node-rules", "rules on node names are left out; op types cannot say them", nodes))
    found: dict[str, Placed] = {}
    overloads = []
    for name, each in lists.deciding().items():
        if each.scope == "node":
            continue
        stem, dot, _ = name.partition(".")
        if dot and lists.names == "torch":
            overloads.append(name)
            each = each._replace(name=stem)
        found.setdefault(each.name, each)
    if overloads:
        losses.append(Loss("overloads", "an overload stands for all of its operator", tuple(overloads)))
    return list(found.values()), [*losses, *_told_of_torch(lists)]


def _told_of_torch(lists: Lists) -> list[Loss]:
    """What torch's names do not say: the backward pass; and, of Habana's, which argument of a norm is cast."""
    if lists.names != "torch":
        return []
    losses = [Loss("forward-only", "torch names forward operators; op types of the backward pass keep their list")]
    norms = set(facts("rules")["norm"])
    if lists.system in ("habana-autocast", "optimum-habana"):
        low = tuple(n for n, each in lists.deciding().items() if each.cls is Class.LOW and n in norms)
        if low:
            losses.append(Loss("first-argument", f"{lists.system} casts the first argument of a norm only", low))
    return losses


def _to_ascend(placed: list[Placed], lists: Lists, same: frozenset[str]) -> tuple[list[Placed], list[Loss]]:
    table = table_of(lists.names)
    asked: dict[str, list[Placed]] = {}
    unknown, many, taken = [], [], []
    for each in placed:
        ops = table.ops.get(each.name, ())
        if not ops and each.name in same and each.name not in table.unclear:
            taken.append(each.name)
            ops = (each.name,)
        if not ops:
            unknown.append(each.name)
        if len(ops) > 1:
            many.append(each.name)
        for op in ops:
            asked.setdefault(op, []).append(each)
    losses = [
        *_unknown(unknown, table, lists.names),
        *_one_to_many(many, table),
        *_broader(asked, {each.name for each in placed}, table),
    ]
    if taken:
        losses.append(Loss("same-name", "taken for the op type of the same name; no source says so", tuple(taken)))
    decided, conflicts = _decided(asked)
    return decided, losses + conflicts


def _unknown(names: list[str], table: Table, system: str) -> list[Loss]:
    if not names:
        return []
    why = tuple(f"{name} ({table.unclear[name]})" if name in table.unclear else name for name in names)
    said = f"no source gives an op type for these names of {system}; they are left out"
    return [Loss("unknown-name", said, tuple(names), why)]


def _one_to_many(names: list[str], table: Table) -> list[Loss]:
    if not names:
        return []
    said = tuple(f"{name} is {' and '.join(table.ops[name])}" for name in names)
    return [Loss("one-to-many", "one name stands for several op types, and each gets its class", tuple(names), said)]


def _broader(asked: dict[str, list[Placed]], listed: set[str], table: Table) -> list[Loss]:
    """Op types that other names run as too, which the source does not list."""
    wider = {op: [name for name in table.names.get(op, ()) if name not in listed] for op in asked}
    wider = {op: names for op, names in wider.items() if names}
    if not wider:
        return []
    said = tuple(f"{op} also runs {' and '.join(names)}" for op, names in sorted(wider.items()))
    return [Loss("broader", "an op type also runs what the source does not list", tuple(sorted(wider)), said)]


def _decided(asked: dict[str, list[Placed]]) -> tuple[list[Placed], list[Loss]]:
    """One class for each op type; of several the highest precision."""
    decided, said, names = [], [], []
    for op, each in asked.items():
        first = min(each, key=lambda one: _HIGHEST_FIRST.index(one.cls))
        decided.append(first._replace(name=op, scope="operator", note=None, module=None))
        if len({one.cls for one in each}) > 1:
            said.append(f"{op} ({', '.join(f'{one.name} {one.cls}' for one in each)})")
            names.append(op)
    if not said:
        return decided, []
    message = "names of different classes meet in one op type, which gets the higher precision"
    return decided, [Loss("conflict", message, tuple(names), tuple(said))]


def _from_ascend(placed: list[Placed], to: str) -> tuple[list[Placed], list[Loss]]:
    """A name is used where its first op type is listed, and none of the others in another class."""
    table = table_of(to)
    classes = {each.name: each for each in placed}
    found: dict[str, Placed] = {}
    served: set[str] = set()
    torn, wider = {}, {}
    for name in dict.fromkeys(name for op in classes for name in table.names.get(op, ())):
        ops = table.ops[name]
        listed = [op for op in ops if op in classes]
        if len({classes[op].cls for op in listed}) > 1:
            torn[name] = f"{name} ({', '.join(f'{op} {classes[op].cls}' for op in listed)})"
            served.update(listed)
        elif ops[0] in classes:
            scope = "class" if name.startswith("nn.") else "operator"
            found[name] = classes[ops[0]]._replace(name=name, scope=scope)
            served.update(listed)
            if len(listed) < len(ops):
                wider[name] = f"{name} is also {' and '.join(op for op in ops if op not in classes)}"
    return list(found.values()), _lost_on_the_way_back([op for op in classes if op not in served], torn, wider, to)


def _lost_on_the_way_back(unknown: list[str], torn: dict[str, str], wider: dict[str, str], to: str) -> list[Loss]:
    losses = []
    if unknown:
        losses.append(
            Loss("unknown-name", f"no source names these op types in {to}; they are left out", tuple(unknown))
        )
    if torn:
        said = "op types of one name differ, and it is left out"
        losses.append(Loss("one-to-many", said, tuple(torn), tuple(torn.values())))
    if wider:
        losses.append(
            Loss("broader", "a name also stands for op types not listed", tuple(wider), tuple(wider.values()))
        )
    return losses
