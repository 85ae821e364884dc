"""The neutral vocabulary: list entries, operator classes, lists, and losses of a conversion."""

from __future__ import annotations

from enum import Enum
from typing import NamedTuple


class OperatorClass(str, Enum):
    """The precision that a system gives an operator.

    ``low``: always reduced; ``high``: stays float32; ``follow``: its producer's type; ``promote``: the widest of
    its inputs; ``clear``: passes low precision on; ``banned``: refused in low precision.
    """

    LOW = "low"
    HIGH = "high"
    FOLLOW = "follow"
    PROMOTE = "promote"
    CLEAR = "clear"
    BANNED = "banned"

    def __str__(self) -> str:
        return self.value


class ListEntry(NamedTuple):
    """One name on one list.

    :param scope: ``operator``, ``class`` (a Cell or a module) or ``node`` (a regular expression over node names)
    :param origin: the name of the list in its own system
    :param module: the Python module of a function, if the source says so
    :param is_default: whether it comes from a built-in list, not from the user
    :param given: the names in the source that this entry translates; empty before a translation
    :param is_form: whether it was added as another form of a listed operator
    """

    name: str
    cls: OperatorClass
    scope: str = "operator"
    origin: str = ""
    note: str | None = None
    module: str | None = None
    is_default: bool = False
    given: tuple[str, ...] = ()
    is_form: bool = False

    @property
    def sources(self) -> tuple[str, ...]:
        """The names in the source that this entry translates."""
        return self.given or (self.name,)


class OperatorLists(NamedTuple):
    """The lists of one system.

    :param system: the system's name, such as ``apex``; for a file, the name of its format
    :param names: the naming scheme: ascend, torch, tensorflow, onnx, mindspore or paddle
    :param unlisted: treatment of unlisted names: low, high, inputs, first-input, untouched, library, mode
    :param low: the low dtype; None if something else decides it
    :param version: the version that the lists come from; None for a user's own
    """

    system: str
    names: str
    entries: tuple[ListEntry, ...]
    unlisted: str
    low: str | None = None
    version: str | None = None
    level: str = ""

    @property
    def title(self) -> str:
        return f"{self.system}:{self.level}" if self.level else self.system

    def deciding(self) -> dict[str, ListEntry]:
        """Return the deciding entry of each name: the user's own before a default, else the first."""
        found: dict[str, ListEntry] = {}
        for each in sorted(self.entries, key=lambda entry: entry.is_default):
            found.setdefault(each.name, each)
        return {each.name: found[each.name] for each in self.entries}

    @property
    def own(self) -> tuple[ListEntry, ...]:
        return tuple(each for each in self.entries if not each.is_default)

    def as_defaults(self) -> tuple[ListEntry, ...]:
        """Return the entries marked as defaults."""
        return tuple(each._replace(is_default=True) for each in self.entries)

    def without_defaults(self) -> OperatorLists:
        return self._replace(entries=self.own)


class Loss(NamedTuple):
    """A step in which a conversion expresses less, or something else, than its source.

    :param kind: kebab-case, for scripts
    :param details: texts about single names; shown instead of the names
    :param drops: whether its names are left out of the result
    """

    kind: str
    message: str
    names: tuple[str, ...] = ()
    details: tuple[str, ...] = ()
    drops: bool = False

    @property
    def is_harmless(self) -> bool:
        """Whether nothing is lost: another spelling, or another form of the same operator."""
        return self.kind in ("respelt", "form")

    def reason_for(self, name: str) -> str:
        """Return why this name was dropped: its own detail if there is one."""
        single = dict(zip(self.names, self.details, strict=False)).get(name, name)
        if single.startswith(f"{name} (") and single.endswith(")"):
            return single[len(name) + 2 : -1]
        return single if single != name else self.message


class ReadLists(NamedTuple):
    """Lists that were read or translated, and what that step lost."""

    lists: OperatorLists
    losses: tuple[Loss, ...] = ()
