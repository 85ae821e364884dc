"""Classes into the lists that a target has; if it has none for a class, that is a loss."""

from __future__ import annotations

from collections.abc import Mapping

from ..model.store import Operators
from ..typed import NamedTuple
from .vocabulary import Loss, OperatorClass, OperatorLists


class Destination(NamedTuple):
    """Where a class goes.

    :param list: the target's list; None if leaving the name out says it
    :param exact: whether that means the same there
    """

    list: str | None
    exact: bool = True


class SortedNames(NamedTuple):
    """Names by list, in the order of the source.

    :param dropped: names that no list took, with the reason
    """

    lists: dict[str, list[str]]
    losses: list[Loss]
    dropped: dict[str, str]


class ConversionBase(NamedTuple):
    """What a file of differences is made against.

    :param lists: another system's built-in lists
    :param operators: the op types of a target, with its text
    :param everything: whether to move the names that the source does not list, too
    :param out: the folder the files go to, if known
    """

    lists: OperatorLists | None = None
    operators: Operators | None = None
    target: str = ""
    everything: bool = False
    out: str | None = None


class WrittenLists(NamedTuple):
    """What a conversion makes: one or more files by name, and what was lost on the way.

    :param dropped: names that the files do not express, with the reason
    :param unchanged: names that need no mention in the files, because they have their class already
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
    """Each name on the target's list for its class.

    :param destinations: one for every class; what comes from the target's own lists fits exactly
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
    near = ", which is near but not the same" if cls is OperatorClass.FOLLOW and destination.list else ""
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
    "mode": "goes by precision_mode",
}


def default_differences(lists: OperatorLists, unlisted: str, low: str | None, target: str) -> list[Loss]:
    """What differs beyond the lists: what happens to a name that is not listed, and the dtype that low means."""
    losses = []
    if lists.unlisted != unlisted:
        said = f"what is not listed {_UNLISTED[lists.unlisted]} in {lists.title}, and {_UNLISTED[unlisted]} in {target}"
        losses.append(Loss("default-direction", said))
    if lists.low != low and (lists.low or low):
        here = lists.low or "what precision_mode says"
        there = low or "what precision_mode says"
        losses.append(Loss("dtype", f"low is {here} in {lists.title}, and {there} in {target}"))
    return losses


def dropped_by(losses: list[Loss]) -> dict[str, str]:
    """The names that losses drop, each with its reason."""
    return {name: loss.reason_for(name) for loss in losses if loss.drops for name in loss.names}


def replaced_defaults(lists: OperatorLists, own: OperatorLists, what: str) -> list[Loss]:
    """The target's built-in entries that a file which replaces its lists takes away.

    :param own: the target's built-in lists
    :param what: what replaces them, for the message
    """
    if lists.system == own.system:
        return []
    named = lists.deciding()
    replaced = (OperatorClass.LOW, OperatorClass.HIGH)
    gone = [name for name, each in own.deciding().items() if each.cls in replaced and name not in named]
    said = f"{what} the built-in lists of {own.system}; these of them are on no list then"
    return [Loss("defaults-replaced", said, tuple(gone))] if gone else []
