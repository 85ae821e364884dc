"""What the lists say of the op types that ran, and whose time a mixlist moves."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, Literal, NamedTuple, TypeAlias

from ...core.cann.entry import BF16, FP16, FP32, Columns, Possible
from ...core.cann.library import Operators
from ...core.cann.mixlist import Mixlist
from ...core.cann.policy import Policy
from .times import REPLACED, State, Time, TypeTime, total

if TYPE_CHECKING:
    from ..documents import profile as documents

Confidence: TypeAlias = Literal["library", "kernel"]
Recorded: TypeAlias = Callable[[str], Iterable[str]]
_HIGH: tuple[State, ...] = ("high", "hf32")


class Listed(NamedTuple):
    """One op type with its list.

    :param policy: with the mixlist, if one is given; None without a target, or if the target does not have the type
    :param before: without the mixlist
    :param movable: whether a list can change what its calls run in; None if that is unknown
    :param moved: the time that the mixlist moves: low time of a type that turns black, high of one that turns white
    :param open: the time of a type that turns gray: whether it moves depends on what is before it in the model
    :param confidence: ``kernel`` if what is possible was recorded from a kernel, as the library does not say it
    :param judged: the op type that the lists were asked for, if the compiler replaced it after the choice of dtypes
    """

    time: TypeTime
    policy: Policy | None = None
    before: Policy | None = None
    movable: bool | None = None
    moved: Time = Time()
    open: Time = Time()
    confidence: Confidence = "library"
    judged: str | None = None

    def to_dict(self) -> documents.Type:
        return {
            **self.time.to_dict(),
            "list": self.policy.value if self.policy else None,
            "movable": self.movable,
            "judged": self.judged,
            "confidence": self.confidence if self.policy else None,
        }

    def moved_document(self) -> documents.MovedType:
        return {
            "type": self.time.type,
            "from": self.before.value if self.before else None,
            "to": self.policy.value if self.policy else None,
            **self.moved.to_dict(),
        }


def listed(
    types: Iterable[TypeTime], operators: Operators | None, mixlist: Mixlist | None, recorded: Recorded = lambda _: ()
) -> list[Listed]:
    """:param operators: of the target; None without one
    :param recorded: returns the input dtypes that the kernel of an op type is known to have; nothing if unknown
    """
    return [_listed(each, operators, mixlist, recorded) for each in types]


def _listed(time: TypeTime, operators: Operators | None, mixlist: Mixlist | None, recorded: Recorded) -> Listed:
    judged = REPLACED.get(time.type) if time.nodes else None
    if judged is not None and operators is not None and judged in operators:
        return _of_type(time._replace(type=judged), operators, mixlist, recorded)._replace(time=time, judged=judged)
    return _of_type(time, operators, mixlist, recorded)


def _of_type(time: TypeTime, operators: Operators | None, mixlist: Mixlist | None, recorded: Recorded) -> Listed:
    if operators is None:
        policy = mixlist.alone(time.type) if mixlist else None
        movable = None if time.nodes else False
        return Listed(time, policy, None, movable, _moved(time, policy, _UNKNOWN))
    if time.type not in operators:
        return Listed(time, movable=False)
    entry = operators[time.type].entry
    before = policy = entry.policy
    if mixlist:
        policy = mixlist.effective(time.type, before)
    changed = policy if policy is not before else None
    left = time.nodes.values() if changed is Policy.GRAY else ()
    possible = _possible(Columns(entry), frozenset(recorded(time.type)))
    moved = _moved(time, changed, possible)
    return Listed(time, policy, before, _movable(time, possible), moved, total(left), possible.confidence)


class _Lists(NamedTuple):
    """Whether an op type can be on these lists."""

    black: Possible
    white: Possible
    confidence: Confidence = "library"


_UNKNOWN = _Lists(Possible.KERNEL, Possible.KERNEL)


def _possible(columns: Columns, recorded: frozenset[str]) -> _Lists:
    if columns.is_listed or not recorded:
        return _Lists(columns.can_be_black(), columns.can_be_white())
    black, white = (Possible.YES if recorded & dtypes else Possible.NO for dtypes in (FP32, FP16 | BF16))
    return _Lists(black, white, "kernel")


def _movable(time: TypeTime, possible: _Lists) -> bool | None:
    answers = [possible.black] * ("low" in time.nodes)
    answers += [possible.white] * any(state in time.nodes for state in _HIGH)
    if Possible.YES in answers:
        return True
    return None if Possible.KERNEL in answers or "unknown" in time.nodes else False


def _moved(time: TypeTime, to: Policy | None, possible: _Lists) -> Time:
    """:param to: the list that the mixlist puts it on; None if it does not change it"""
    if to is Policy.BLACK and possible.black is not Possible.NO:
        return time.nodes.get("low", Time())
    if to is Policy.WHITE and possible.white is not Possible.NO:
        return total(time.nodes[state] for state in _HIGH if state in time.nodes)
    return Time()
