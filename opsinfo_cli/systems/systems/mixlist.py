"""Ascend's modify_mixlist: the fewest marks that give a target's op types the wanted classes."""

from __future__ import annotations

import json

from ...core.cann.entry import BF16, FP16, Columns, Possible
from ...core.cann.library import Operators
from ...core.cann.marks import marks_for
from ...core.cann.mixlist import mixlist_content
from ...core.cann.policy import Policy
from ...errors import UsageFault
from ..system import ConversionOptions, System, WrittenLists, default_differences, sort_names
from ..vocabulary import Loss, OperatorClass, OperatorLists, loss_of

_LOW, _HIGH, _FOLLOW = OperatorClass.LOW, OperatorClass.HIGH, OperatorClass.FOLLOW
_TO = {
    _LOW: "white",
    _HIGH: "black",
    _FOLLOW: "gray",
    OperatorClass.PROMOTE: "gray",
    OperatorClass.CLEAR: "gray",
    OperatorClass.BANNED: "black",
}
_EVERYTHING: dict[str, Policy] = {
    "low": Policy.WHITE,
    "high": Policy.BLACK,
    "inputs": Policy.GRAY,
    "first-input": Policy.GRAY,
}


def write(system: System, lists: OperatorLists, options: ConversionOptions) -> WrittenLists:
    """:raises UsageFault: if ``options`` has no target to compare with"""
    if options.operators is None:
        message = "a mixlist is a difference from a library, and no library was given"
        raise UsageFault(message, name="needs-base", hint="add --against TARGET")
    operators = options.operators
    # only in Ascend's own lists does follow mean exactly gray
    exact = {_LOW, _HIGH, _FOLLOW} if lists.unlisted in ("library", "mode") else {_LOW, _HIGH}
    names = sort_names(lists, _TO, frozenset(exact), "a mixlist", "become")
    wanted = {name: Policy(policy) for policy, of_policy in names.lists.items() for name in of_policy}
    forms = {entry.name for entry in lists.entries if entry.is_form}
    left_out = {name: f"not an op type of {options.target}" for name in wanted if name not in operators}
    left_out |= {name: "no kernel for it" for name in _without_kernel(operators, wanted, lists.low) if name in forms}
    absent = [name for name in wanted if name not in operators and name not in forms]
    message = f"not op types of {options.target}; they are left out"
    losses = [*names.losses, *loss_of("not-in-base", message, absent, drops=True)]
    wanted = {name: policy for name, policy in wanted.items() if name not in left_out}
    losses += _unlisted(lists, wanted, options, operators)
    policies = {name: operators[name].entry.policy for name in wanted}
    changed = {name: to for name, to in wanted.items() if to is not policies[name]}
    moved = _without_kernel(operators, changed, lists.low)
    low, high = ([name for name, to in moved.items() if to is policy] for policy in (Policy.WHITE, Policy.BLACK))
    dtype = lists.low or "float16 or bfloat16"
    losses += loss_of("no-kernel", f"no {dtype} kernel is listed; white changes nothing", low)
    message = "no float32 kernel is listed; with black the AI Core engine refuses a float32 node"
    losses += loss_of("no-kernel", message, high)
    marks = {name: marks_for(policies[name], wanted[name]) for name in sorted(wanted)}
    text = json.dumps(mixlist_content(marks), indent=2, ensure_ascii=False) + "\n"
    unchanged = frozenset(name for name, of_name in marks.items() if not of_name)
    return WrittenLists({"ops_info.json": text}, losses, left_out, unchanged)


def _unlisted(
    lists: OperatorLists, wanted: dict[str, Policy], options: ConversionOptions, operators: Operators
) -> list[Loss]:
    """Return what becomes of op types that the source does not list. With ``everything``, add them to ``wanted``
    with the source's default; else they keep the library's list.
    """
    others = [operator for operator in operators if operator.name not in wanted]
    differences = default_differences(lists, "library", None, "a mixlist")
    losses = [loss for loss in differences if loss.kind != "default-direction"]
    if lists.unlisted == "library":
        return losses
    to = _EVERYTHING.get(lists.unlisted)
    if options.everything and to is None:
        raise UsageFault(f"--replace has no effect: {lists.title} leaves unlisted operators as they are")
    if options.everything and to:
        wanted.update({operator.name: to for operator in others})
        message = (
            f"{len(others)} op types become {to} because the source does not list them or they could not be translated"
        )
        losses.append(Loss("default-direction", message))
        if to is Policy.GRAY:
            message = f"{lists.title} uses the types of all inputs; gray uses the producer of the first input"
            losses.append(Loss("approximate", message))
        return losses
    standing = [operator.entry.policy for operator in others if operator.entry.policy is not to]
    if standing:
        count = ", ".join(f"{standing.count(policy)} {policy}" for policy in Policy if policy in standing)
        message = (
            f"op types that {lists.title} does not list keep the library's list ({count}); --replace would move them"
        )
        losses.append(Loss("default-direction", message))
    return losses


def _without_kernel(operators: Operators, wanted: dict[str, Policy], low: str | None) -> dict[str, Policy]:
    """Return the op types that have no listed kernel for the wanted policy.

    :param low: the dtype of the lists; None for any low one
    """
    dtypes = {"float16": FP16, "bfloat16": BF16}.get(low or "", FP16 | BF16)
    impossible: dict[str, Policy] = {}
    for name, to in wanted.items():
        if name in operators and to is not Policy.GRAY:
            columns = Columns(operators[name].entry)
            possible = columns.can_be_white(dtypes) if to is Policy.WHITE else columns.can_be_black()
            if possible is Possible.NO:
                impossible[name] = to
    return impossible


SYSTEMS = (
    System(
        "mixlist", "Ascend modify_mixlist", "ascend", "JSON", "JSON", write=write, input="mixlist"
    ),
)  # fmt: skip
