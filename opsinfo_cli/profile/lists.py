"""What the lists say of the op types that ran, and whose time a mixlist moves."""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

from ..model.entry import Columns, Possible
from ..model.library import Operators
from ..model.mixlist import Mixlist
from ..model.policy import Policy
from .times import State, Time, TypeTime, total

_HIGH: tuple[State, ...] = ("high", "hf32")


class Listed(NamedTuple):
    """One op type with its list.

    :param policy: with the mixlist, if one is given; None without a target, or if the target does not have the type
    :param before: without the mixlist
    :param movable: whether a list can change what its calls run in; None if that is unknown
    :param moved: the time that the mixlist moves: low time of a type that turns black, high of one that turns white
    :param open: the time of a type that turns gray: whether it moves depends on what is before it in the model
    """

    time: TypeTime
    policy: Policy | None = None
    before: Policy | None = None
    movable: bool | None = None
    moved: Time = Time()
    open: Time = Time()


def listed(types: Iterable[TypeTime], operators: Operators | None, mixlist: Mixlist | None) -> list[Listed]:
    """:param operators: of the target; None without one"""
    return [_listed(each, operators, mixlist) for each in types]


def _listed(time: TypeTime, operators: Operators | None, mixlist: Mixlist | None) -> Listed:
    if operators is None:
        policy = mixlist.alone(time.type) if mixlist else None
        movable = None if time.nodes else False
        return Listed(time, policy, None, movable, _moved(time, policy, None))
    if time.type not in operators:
        return Listed(time, movable=False)
    entry = operators[time.type].entry
    columns = Columns(entry)
    before = policy = entry.policy
    if mixlist:
        policy = mixlist.effective(time.type, before)
    changed = policy if policy is not before else None
    left = time.nodes.values() if changed is Policy.GRAY else ()
    return Listed(time, policy, before, _movable(time, columns), _moved(time, changed, columns), total(left))


def _movable(time: TypeTime, columns: Columns) -> bool | None:
    possible = []
    if "low" in time.nodes:
        possible.append(columns.can_be_black())
    if any(state in time.nodes for state in _HIGH):
        possible.append(columns.can_be_white())
    if Possible.YES in possible:
        return True
    return None if Possible.KERNEL in possible or "unknown" in time.nodes else False


def _moved(time: TypeTime, to: Policy | None, columns: Columns | None) -> Time:
    """:param to: the list that the mixlist puts it on; None if it does not change it"""
    if to is Policy.BLACK and (columns is None or columns.can_be_black() is not Possible.NO):
        return time.nodes.get("low", Time())
    if to is Policy.WHITE and (columns is None or columns.can_be_white() is not Possible.NO):
        return total(time.nodes[state] for state in _HIGH if state in time.nodes)
    return Time()
