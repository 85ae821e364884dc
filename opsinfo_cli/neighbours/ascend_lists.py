"""Ascend's own lists: the op types of a target, and the marks of a mixlist."""

from __future__ import annotations

from ..model.library import Operators
from ..model.mixlist import Mixlist
from ..model.policy import Policy
from .vocabulary import ListEntry, Loss, OperatorClass, OperatorLists, ReadLists

CLASSES = {Policy.WHITE: OperatorClass.LOW, Policy.BLACK: OperatorClass.HIGH, Policy.GRAY: OperatorClass.FOLLOW}
POLICIES = {cls: policy for policy, cls in CLASSES.items()}


def of_operators(operators: Operators, text: str = "library") -> OperatorLists:
    """Return every op type of a target with the class of its policy."""
    entries = tuple(_entry(operator.name, operator.entry.policy) for operator in operators)
    return OperatorLists(text, "ascend", entries, "library")


def of_mixlist(mixlist: Mixlist, operators: Operators | None = None, system: str = "mixlist") -> ReadLists:
    """Return the marks of a mixlist as the user's own entries, and the op types it does not mark as defaults.

    :param operators: the op types of a target; without it a mark that only removes has no effect
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
        "not op types of the target, and their marks only remove, so the resulting list is unknown"
        if operators is not None
        else "their marks only remove, so the resulting list is unknown without the library; add --base TARGET"
    )
    losses = (Loss("not-in-base", said, tuple(undecided), drops=True),) if undecided else ()
    return ReadLists(OperatorLists(system, "ascend", (*own, *rest), "library"), losses)


def _entry(name: str, policy: Policy, is_default: bool = False) -> ListEntry:
    return ListEntry(name, CLASSES[policy], origin=str(policy), is_default=is_default)
