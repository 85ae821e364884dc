"""The neutral vocabulary: an operator, its class, the list it is on, and what a conversion loses."""

from __future__ import annotations

from enum import Enum

from ..typed import NamedTuple


class OperatorClass(str, Enum):
    """What a system does with an operator.

    ``low`` is always reduced, ``high`` stays float32, ``follow`` takes its producer's type, ``promote`` the widest of
    its inputs, ``clear`` passes low precision on, ``banned`` is refused in low precision.
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
    :param origin: the list it is on, as its system calls it
    :param module: the Python module of a function, if the source says so
    :param is_default: whether it comes from a built-in list and not from the user
    :param given: the names in the source that this entry translates; empty before a translation
    :param is_form: whether it was added as another form of an operator that was named
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
        """The names in the source it stands for."""
        return self.given or (self.name,)


class OperatorLists(NamedTuple):
    """The lists of one system.

    :param system: its name, ``apex``; for a file the name of its format
    :param names: whose names they are: ascend, torch, tensorflow, onnx, mindspore or paddle
    :param unlisted: what happens to a name that is not listed: low, high, inputs, first-input, untouched, library, mode
    :param low: the dtype low means; None if something else decides
    :param version: the version the lists were read from; None for a user's own
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
        """By name the entry that decides: a user's own before a default, else the first."""
        found: dict[str, ListEntry] = {}
        for each in sorted(self.entries, key=lambda entry: entry.is_default):
            found.setdefault(each.name, each)
        return {each.name: found[each.name] for each in self.entries}

    @property
    def own(self) -> tuple[ListEntry, ...]:
        return tuple(each for each in self.entries if not each.is_default)

    def as_defaults(self) -> tuple[ListEntry, ...]:
        """Its entries as what stays beside a user's own."""
        return tuple(each._replace(is_default=True) for each in self.entries)

    def without_defaults(self) -> OperatorLists:
        return self._replace(entries=self.own)


class Loss(NamedTuple):
    """A step in which a conversion expresses less, or something else, than its source.

    :param kind: kebab-case, for scripts
    :param details: what there is to say of single names; shown instead of them
    :param drops: whether the names in it were not carried over
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
        """Why this name was dropped: its own detail if there is one."""
        single = dict(zip(self.names, self.details, strict=False)).get(name, name)
        if single.startswith(f"{name} (") and single.endswith(")"):
            return single[len(name) + 2 : -1]
        return single if single != name else self.message


class ReadLists(NamedTuple):
    """Lists as they were read or translated, and what was lost in that step."""

    lists: OperatorLists
    losses: tuple[Loss, ...] = ()
