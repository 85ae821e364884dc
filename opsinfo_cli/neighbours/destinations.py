"""Classes into the lists a target has; where it has none for a class, the loss is said."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

from ..model.store import Operators
from .placed import Class, Lists, Loss

__all__ = ["Base", "Home", "Sorted", "Written", "sorted_into", "unlike"]


class Home(NamedTuple):
    """Where a class goes.

    :param list: the target's list; None where it is said by leaving the name out
    :param exact: whether that means the same there
    """

    list: str | None
    exact: bool = True


class Sorted(NamedTuple):
    """Names by list, in the order of the source."""

    lists: dict[str, list[str]]
    losses: list[Loss]


class Base(NamedTuple):
    """What a file that says only differences is made against.

    :param lists: another system's built-in lists; :param operators: the op types of a target, with its text
    :param everything: whether names that the source does not list are to be given what it gives them
    :param out: the folder the files go to, where one is known
    """

    lists: Lists | None = None
    operators: Operators | None = None
    target: str = ""
    everything: bool = False
    out: str | None = None


class Written(NamedTuple):
    """What a conversion makes: one or more files by name, and what got lost on the way."""

    files: dict[str, str]
    losses: list[Loss]


_WORDS = {
    Class.LOW: "that are always low",
    Class.HIGH: "that stay float32",
    Class.FOLLOW: "that follow their producer",
    Class.PROMOTE: "that take their widest input",
    Class.CLEAR: "that pass low precision on",
    Class.BANNED: "that are refused in low precision",
}


def sorted_into(lists: Lists, homes: Mapping[Class, Home], target: str) -> Sorted:
    """:param homes: a home for every class; what comes from the target's own lists is at home there anyway"""
    found: dict[str, list[str]] = {home.list: [] for home in homes.values() if home.list}
    inexact: dict[Class, list[str]] = {}
    for name, each in lists.deciding().items():
        home = homes[each.cls]
        if home.list:
            found[home.list].append(name)
        if not home.exact and lists.system != target:
            inexact.setdefault(each.cls, []).append(name)
    losses = [_loss(cls, homes[cls], names, target) for cls, names in inexact.items()]
    return Sorted(found, losses)


def _loss(cls: Class, home: Home, names: list[str], target: str) -> Loss:
    goes = f"they go to {home.list}" if home.list else "they are left out"
    near = ", which is near but not the same" if cls is Class.FOLLOW and home.list else ""
    kind = "approximate" if cls is Class.FOLLOW else "no-class"
    return Loss(kind, f"{target} has no class for operators {_WORDS[cls]}; {goes}{near}", tuple(names))


_UNLISTED = {
    "low": "is low",
    "high": "is float32",
    "inputs": "runs in the types of its inputs",
    "first-input": "takes the type of its first input",
    "untouched": "is left as it is",
    "library": "keeps the library's list",
    "mode": "goes by precision_mode",
}


def unlike(lists: Lists, unlisted: str, low: str | None, target: str) -> list[Loss]:
    """What differs beyond the lists: the fate of a name that is not listed, and the dtype that low means."""
    losses = []
    if lists.unlisted != unlisted:
        said = f"what is not listed {_UNLISTED[lists.unlisted]} in {lists.title}, and {_UNLISTED[unlisted]} in {target}"
        losses.append(Loss("default-direction", said))
    if lists.low != low and (lists.low or low):
        here = lists.low or "what precision_mode says"
        there = low or "what precision_mode says"
        losses.append(Loss("dtype", f"low is {here} in {lists.title}, and {there} in {target}"))
    return losses
