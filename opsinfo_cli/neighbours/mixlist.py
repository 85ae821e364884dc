"""Write Ascend's modify_mixlist: the fewest marks that give a target's op types the wanted classes."""

from __future__ import annotations

import json

from ..errors import UsageFault
from ..model.entry import Columns, Possible
from ..model.library import Operators
from ..model.mixlist import mixlist_content
from ..model.policy import Policy, marks_for
from .destinations import ConversionBase, Destination, WrittenLists, default_differences, sorted_by_list
from .systems import System
from .vocabulary import Loss, OperatorClass, OperatorLists

_DESTINATIONS = {
    OperatorClass.LOW: Destination("white"),
    OperatorClass.HIGH: Destination("black"),
    OperatorClass.FOLLOW: Destination("gray"),
    OperatorClass.PROMOTE: Destination("gray", False),
    OperatorClass.CLEAR: Destination("gray", False),
    OperatorClass.BANNED: Destination("black", False),
}
_EVERYTHING = {"low": Policy.WHITE, "high": Policy.BLACK, "inputs": Policy.GRAY, "first-input": Policy.GRAY}


def write(lists: OperatorLists, base: ConversionBase, system: System) -> WrittenLists:
    """:raises UsageFault: if ``base`` has no target to compare with"""
    if base.operators is None:
        said = "a mixlist is a difference from a library, and no library was given"
        raise UsageFault(said, name="needs-base", hint="add --base TARGET")
    operators = base.operators
    # only in Ascend's own lists does follow mean exactly gray
    gray = Destination("gray", exact=lists.unlisted in ("library", "mode"))
    found = sorted_by_list(lists, {**_DESTINATIONS, OperatorClass.FOLLOW: gray}, "a mixlist")
    wanted = {name: Policy(policy) for policy, names in found.lists.items() for name in names}
    forms = {each.name for each in lists.entries if each.is_form}
    dropped = found.dropped | {name: f"not an op type of {base.target}" for name in wanted if name not in operators}
    dropped |= {name: "no kernel for it" for name in _impossible(operators, wanted) if name in forms}
    losses = list(found.losses)
    if absent := tuple(name for name in wanted if name not in operators and name not in forms):
        said = f"not op types of {base.target}; they are left out"
        losses.append(Loss("not-in-base", said, absent, drops=True))
    wanted = {name: policy for name, policy in wanted.items() if name not in dropped}
    losses += _rest(lists, wanted, base, operators)
    policies = {name: operators[name].entry.policy for name in wanted}
    losses += _without_kernel(operators, {name: to for name, to in wanted.items() if to is not policies[name]})
    marks = {name: marks_for(policies[name], wanted[name]) for name in sorted(wanted)}
    text = json.dumps(mixlist_content(marks), indent=2, ensure_ascii=False) + "\n"
    unchanged = frozenset(name for name, each in marks.items() if not each)
    return WrittenLists({"ops_info.json": text}, losses, dropped, unchanged)


def _rest(lists: OperatorLists, wanted: dict[str, Policy], base: ConversionBase, operators: Operators) -> list[Loss]:
    """Handle op types that the source does not list: keep the library's list, or move them to the source's default.

    ``wanted`` grows in the second case.
    """
    others = [each for each in operators if each.name not in wanted]
    losses = [
        loss for loss in default_differences(lists, "library", None, "a mixlist") if loss.kind != "default-direction"
    ]
    if lists.unlisted == "library":
        return losses
    to = _EVERYTHING.get(lists.unlisted)
    if base.everything and to is None:
        raise UsageFault(f"--replace has no effect: {lists.title} leaves unlisted operators as they are")
    if base.everything and to:
        wanted.update({each.name: to for each in others})
        said = (
            f"{len(others)} op types become {to} because the source does not list them or they could not be translated"
        )
        losses.append(Loss("default-direction", said))
        if to is Policy.GRAY:
            said = f"{lists.title} uses the types of all inputs; gray uses the producer of the first input"
            losses.append(Loss("approximate", said))
        return losses
    standing = [each.entry.policy for each in others if each.entry.policy is not to]
    if standing:
        count = ", ".join(f"{standing.count(each)} {each}" for each in Policy if each in standing)
        said = f"op types that {lists.title} does not list keep the library's list ({count}); --replace would move them"
        losses.append(Loss("default-direction", said))
    return losses


def _impossible(operators: Operators, wanted: dict[str, Policy]) -> dict[str, Policy]:
    """Return the op types that have no listed kernel for the wanted policy."""
    found: dict[str, Policy] = {}
    for name, to in wanted.items():
        if name not in operators or to is Policy.GRAY:
            continue
        columns = Columns(operators[name].entry)
        possible = columns.can_be_white() if to is Policy.WHITE else columns.can_be_black()
        if possible is Possible.NO:
            found[name] = to
    return found


def _without_kernel(operators: Operators, moved: dict[str, Policy]) -> list[Loss]:
    impossible = _impossible(operators, moved)
    low = tuple(name for name, to in impossible.items() if to is Policy.WHITE)
    high = tuple(name for name, to in impossible.items() if to is Policy.BLACK)
    losses = []
    if low:
        losses.append(Loss("no-kernel", "no float16 or bfloat16 kernel is listed; white changes nothing", low))
    if high:
        said = "no float32 kernel is listed; with black the AI Core engine refuses a float32 node"
        losses.append(Loss("no-kernel", said, high))
    return losses
