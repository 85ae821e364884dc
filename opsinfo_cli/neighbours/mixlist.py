"""Ascend's modify_mixlist as a target: the fewest marks that give a target's op types the classes asked for."""

from __future__ import annotations

import json

from ..errors import UsageFault
from ..model.columns import Columns, Possible
from ..model.mixlist import mixlist_content
from ..model.policy import Policy, marks_for
from ..model.store import Operators
from .homes import Base, Home, Written, sorted_into, unlike
from .placed import Class, Lists, Loss
from .systems import System

__all__ = ["write"]

_HOMES = {
    Class.LOW: Home("white"),
    Class.HIGH: Home("black"),
    Class.FOLLOW: Home("gray"),
    Class.PROMOTE: Home("gray", False),
    Class.CLEAR: Home("gray", False),
    Class.BANNED: Home("black", False),
}
_EVERYTHING = {"low": Policy.WHITE, "high": Policy.BLACK, "inputs": Policy.GRAY, "first-input": Policy.GRAY}


def write(lists: Lists, base: Base, system: System) -> Written:
    """:raises UsageFault: without a target to differ from"""
    if base.operators is None:
        raise UsageFault(
            "a mixlist says what differs from a library, and needs one", name="needs-base", hint="say --base TARGET"
        )
    operators = base.operators
    gray = Home("gray", exact=lists.unlisted in ("library", "mode"))  # only Ascend's own lists mean gray by follow
    found = sorted_into(lists, {**_HOMES, Class.FOLLOW: gray}, "a mixlist")
    wanted = {name: Policy(policy) for policy, names in found.lists.items() for name in names}
    absent = tuple(name for name in wanted if name not in operators)
    losses = list(found.losses)
    if absent:
        losses.append(Loss("not-in-base", f"no op types of {base.target}; they are left out", absent))
    wanted = {name: policy for name, policy in wanted.items() if name in operators}
    losses += _rest(lists, wanted, base, operators)
    policies = {name: operators[name].entry.policy for name in wanted}
    losses += _without_kernel(operators, {name: to for name, to in wanted.items() if to is not policies[name]})
    content = mixlist_content({name: marks_for(policies[name], wanted[name]) for name in sorted(wanted)})
    return Written({"ops_info.json": json.dumps(content, indent=2, ensure_ascii=False) + "\n"}, losses)


def _rest(lists: Lists, wanted: dict[str, Policy], base: Base, operators: Operators) -> list[Loss]:
    """The op types the source does not list: left to the library, or given what the source gives them.

    ``wanted`` grows in the second case.
    """
    others = [each for each in operators if each.name not in wanted]
    losses = [loss for loss in unlike(lists, "library", None, "a mixlist") if loss.kind != "default-direction"]
    if lists.unlisted == "library":
        return losses
    to = _EVERYTHING.get(lists.unlisted)
    if base.everything and to is None:
        raise UsageFault(f"{lists.title} leaves what it does not list as it is: there is nothing to --replace")
    if base.everything and to:
        wanted.update({each.name: to for each in others})
        said = f"{len(others)} op types are made {to} unlisted; what could not be translated is among them"
        losses.append(Loss("default-direction", said))
        if to is Policy.GRAY:
            said = f"{lists.title} goes by the types of a call's inputs; gray by the producer of the first"
            losses.append(Loss("approximate", said))
        return losses
    standing = [each.entry.policy for each in others if each.entry.policy is not to]
    if standing:
        count = ", ".join(f"{standing.count(each)} {each}" for each in Policy if each in standing)
        said = f"op types that {lists.title} does not list keep the library's list ({count}); --replace would move them"
        losses.append(Loss("default-direction", said))
    return losses


def _without_kernel(operators: Operators, moved: dict[str, Policy]) -> list[Loss]:
    columns = {name: Columns(operators[name].entry) for name in moved}
    low = [n for n, to in moved.items() if to is Policy.WHITE and columns[n].can_be_white() is Possible.NO]
    high = [n for n, to in moved.items() if to is Policy.BLACK and columns[n].can_be_black() is Possible.NO]
    losses = []
    if low:
        losses.append(Loss("no-kernel", "no float16 or bfloat16 kernel is listed; white changes nothing", tuple(low)))
    if high:
        said = "no float32 kernel is listed; black makes the AI Core engine refuse a float32 node"
        losses.append(Loss("no-kernel", said, tuple(high)))
    return losses
