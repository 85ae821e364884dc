"""Ascend's own lists: the op types of a target, with or without a mixlist."""

from __future__ import annotations

from ..model.mixlist import Mixlist
from ..model.policy import Policy
from ..model.store import Operators
from .placed import Class, Lists, Placed

__all__ = ["CLASSES", "POLICIES", "of_mixlist", "of_operators"]

CLASSES = {Policy.WHITE: Class.LOW, Policy.BLACK: Class.HIGH, Policy.GRAY: Class.FOLLOW}
POLICIES = {cls: policy for policy, cls in CLASSES.items()}


def of_operators(operators: Operators, mixlist: Mixlist | None = None, text: str = "library") -> Lists:
    """Every op type of a target by its effective policy."""
    placed = []
    for operator in operators:
        policy = operator.entry.policy
        if mixlist:
            policy = mixlist.effective(operator.name, policy)
        placed.append(Placed(operator.name, CLASSES[policy], origin=str(policy)))
    return Lists(text, "ascend", tuple(placed), "library")


def of_mixlist(mixlist: Mixlist) -> Lists:
    """A lone mixlist: only what its marks decide whatever the library says."""
    alone = {name: mixlist.alone(name) for name in sorted(mixlist.marks)}
    placed = [Placed(name, CLASSES[policy], origin=str(policy)) for name, policy in alone.items() if policy]
    return Lists("mixlist", "ascend", tuple(placed), "library")
