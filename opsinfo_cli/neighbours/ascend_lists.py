"""Ascend's own lists: the op types of a target, and the marks of a mixlist."""

from __future__ import annotations

from ..model.mixlist import Mixlist
from ..model.policy import Policy
from ..model.store import Operators
from .vocabulary import ListEntry, Loss, OperatorClass, OperatorLists, ReadLists

CLASSES = {Policy.WHITE: OperatorClass.LOW, Policy.BLACK: OperatorClass.HIGH, Policy.GRAY: OperatorClass.FOLLOW}
POLICIES = {cls: policy for policy, cls in CLASSES.items()}


def of_operators(operators: Operators, text: str = "library") -> OperatorLists:
    """Every op type of a target by its policy."""
    entries = tuple(_entry(operator.name, operator.entry.policy) for operator in operators)
    return OperatorLists(text, "ascend", entries, "library")


def of_mixlist(mixlist: Mixlist, operators: Operators | None = None, system: str = "mixlist") -> ReadLists:
    """The marks of a mixlist as the user's own entries; beside them, as defaults, the op types it does not mark.

    :param operators: the op types of a target; without one a mark that removes decides nothing
    """
    own, undecided = [], []
    for name in sorted(mixlist.marks):
        if operators is not None and name in operators:
            policy: Policy | None = mixlist.effective(name, operators[name].entry.policy)
        else:
            policy = mixlist.alone(name)
        if policy is None:
            undecided.append(name)
        else:
            own.append(_entry(name, policy))
    marked = set(mixlist.marks)
    rest = [_entry(each.name, each.entry.policy, True) for each in operators or () if each.name not in marked]
    said = (
        "no op type of the target, and its marks decide nothing without the library's list"
        if operators is not None
        else "its marks decide nothing without the library's list; --base TARGET gives it"
    )
    losses = (Loss("not-in-base", said, tuple(undecided), drops=True),) if undecided else ()
    return ReadLists(OperatorLists(system, "ascend", (*own, *rest), "library"), losses)


def _entry(name: str, policy: Policy, is_default: bool = False) -> ListEntry:
    return ListEntry(name, CLASSES[policy], origin=str(policy), is_default=is_default)
