"""Map classes to the lists of a target; a class without a list there is a loss."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

from ..model.library import Operators
from .vocabulary import Loss, OperatorClass, OperatorLists


class Destination(NamedTuple):
    """The target's list for a class.

    :param list: the name of the list; None if leaving the name out has the same effect
    :param exact: whether the list has the same meaning as the class
    """

    list: str | None
    exact: bool = True


class SortedNames(NamedTuple):
    """Names by list, in the order of the source.

    :param dropped: names that are on no list, with the reason
    """

    lists: dict[str, list[str]]
    losses: list[Loss]
    dropped: dict[str, str]


class ConversionBase(NamedTuple):
    """What a difference file is compared with.

    :param lists: another system's built-in lists
    :param operators: the op types of a target, with its text
    :param everything: whether to move the names that the source does not list as well
    :param out: the output folder, if known
    """

    lists: OperatorLists | None = None
    operators: Operators | None = None
    target: str = ""
    everything: bool = False
    out: str | None = None


class WrittenLists(NamedTuple):
    """The files of a conversion, by name, and what was lost.

    :param dropped: names that the files do not express, with the reason
    :param unchanged: names that the files leave out because they have the wanted class already
    """

    files: dict[str, str]
    losses: list[Loss]
    dropped: Mapping[str, str] = {}
    unchanged: frozenset[str] = frozenset()


_WORDS = {
    OperatorClass.LOW: "that are always low",
    OperatorClass.HIGH: "that stay float32",
    OperatorClass.FOLLOW: "that follow their producer",
    OperatorClass.PROMOTE: "that take their widest input",
    OperatorClass.CLEAR: "that pass low precision on",
    OperatorClass.BANNED: "that are refused in low precision",
}


def sorted_by_list(lists: OperatorLists, destinations: Mapping[OperatorClass, Destination], target: str) -> SortedNames:
    """Sort names into the target's lists by their class.

    :param destinations: one for every class; entries from the target's own lists are always exact
    """
    found: dict[str, list[str]] = {each.list: [] for each in destinations.values() if each.list}
    inexact: dict[OperatorClass, list[str]] = {}
    for name, each in lists.deciding().items():
        destination = destinations[each.cls]
        if destination.list:
            found[destination.list].append(name)
        if not destination.exact and lists.system != target:
            inexact.setdefault(each.cls, []).append(name)
    losses = [_inexact(cls, destinations[cls], names, target) for cls, names in inexact.items()]
    return SortedNames(found, losses, dropped_by(losses))


def _inexact(cls: OperatorClass, destination: Destination, names: list[str], target: str) -> Loss:
    goes = f"they go to {destination.list}" if destination.list else "they are left out"
    near = ", the closest list" if cls is OperatorClass.FOLLOW and destination.list else ""
    kind = "approximate" if cls is OperatorClass.FOLLOW else "no-class"
    said = f"{target} has no class for operators {_WORDS[cls]}; {goes}{near}"
    return Loss(kind, said, tuple(names), drops=not destination.list)


_UNLISTED = {
    "low": "is low",
    "high": "is float32",
    "inputs": "runs in the types of its inputs",
    "first-input": "takes the type of its first input",
    "untouched": "is left as it is",
    "library": "keeps the library's list",
    "mode": "depends on precision_mode",
}


def default_differences(lists: OperatorLists, unlisted: str, low: str | None, target: str) -> list[Loss]:
    """Return differences outside the lists: the treatment of unlisted names, and the low dtype."""
    losses = []
    if lists.unlisted != unlisted:
        here, there = _UNLISTED[lists.unlisted], _UNLISTED[unlisted]
        said = f"an unlisted operator {here} in {lists.title}, and {there} in {target}"
        losses.append(Loss("default-direction", said))
    if lists.low != low and (lists.low or low):
        here = lists.low or "set by precision_mode"
        there = low or "set by precision_mode"
        losses.append(Loss("dtype", f"low is {here} in {lists.title}, and {there} in {target}"))
    return losses


def dropped_by(losses: list[Loss]) -> dict[str, str]:
    """Return the names that losses drop, each with its reason."""
    return {name: loss.reason_for(name) for loss in losses if loss.drops for name in loss.names}


def replaced_defaults(lists: OperatorLists, own: OperatorLists, what: str) -> list[Loss]:
    """Return a loss for built-in entries of the target that the replacing file no longer lists.

    :param own: the target's built-in lists
    :param what: subject and verb of the message, such as ``the files replace``
    """
    if lists.system == own.system:
        return []
    named = lists.deciding()
    replaced = (OperatorClass.LOW, OperatorClass.HIGH)
    gone = [name for name, each in own.deciding().items() if each.cls in replaced and name not in named]
    said = f"{what} the built-in lists of {own.system}; these entries are then on no list"
    return [Loss("defaults-replaced", said, tuple(gone))] if gone else []
