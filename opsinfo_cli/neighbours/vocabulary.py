"""The neutral vocabulary: an operator, its class, and where that stands (interop.md 6)."""

from __future__ import annotations

from enum import Enum

from ..typed import NamedTuple

__all__ = ["Class", "Lists", "Loss", "Placed", "Told"]


class Class(str, Enum):
    """What a system does with an operator.

    ``low`` is always reduced, ``high`` stays float32, ``follow`` takes its producer's type, ``promote`` the widest of
    its inputs, ``clear`` does not care and passes low on, ``banned`` is refused.
    """

    LOW = "low"
    HIGH = "high"
    FOLLOW = "follow"
    PROMOTE = "promote"
    CLEAR = "clear"
    BANNED = "banned"

    def __str__(self) -> str:
        return self.value


class Placed(NamedTuple):
    """One name on one list.

    :param scope: ``operator``, ``class`` (a Cell or a module) or ``node`` (a regular expression over node names)
    :param origin: the list it stands on, as its system calls it
    :param module: the Python module of a function, where the source says
    """

    name: str
    cls: Class
    scope: str = "operator"
    origin: str = ""
    note: str | None = None
    module: str | None = None


class Lists(NamedTuple):
    """What one system says.

    :param system: its name, ``apex``; of a file the name of its format
    :param names: whose names they are: ascend, torch, tensorflow, onnx, mindspore or paddle
    :param unlisted: what becomes of a name that is not listed: low, high, inputs, first-input, untouched, library
    :param low: the dtype low means; None where something else decides
    :param version: the version the lists were read from; None for a user's own
    """

    system: str
    names: str
    placed: tuple[Placed, ...]
    unlisted: str
    low: str | None = None
    version: str | None = None
    level: str = ""

    @property
    def title(self) -> str:
        return f"{self.system}:{self.level}" if self.level else self.system

    def deciding(self) -> dict[str, Placed]:
        """By name what decides it: the lists stand in the order in which they win."""
        found: dict[str, Placed] = {}
        for each in self.placed:
            found.setdefault(each.name, each)
        return found


class Loss(NamedTuple):
    """A step in which a conversion says less, or something else, than its source.

    :param kind: kebab-case, for scripts
    :param details: what there is to say of single names; shown in their stead
    """

    kind: str
    message: str
    names: tuple[str, ...] = ()
    details: tuple[str, ...] = ()

    @property
    def is_harmless(self) -> bool:
        """Whether nothing is lost: another spelling of the same name."""
        return self.kind == "respelt"


class Told(NamedTuple):
    """Lists as they were read or translated, and what got lost in that."""

    lists: Lists
    losses: tuple[Loss, ...] = ()
