"""The lists of one system as a user names it: NAME, NAME:LEVEL, or NAME=FILE[,FILE]."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import TYPE_CHECKING, NamedTuple

from ..errors import UsageFault
from .input_lists import read_lists
from .list_text import read_list_text
from .registry import SYSTEMS, lists_of, system_called
from .system import System
from .vocabulary import ListEntry, Loss, OperatorClass, OperatorLists

if TYPE_CHECKING:
    from .documents.show import SystemsShowDocument


class SystemLists(NamedTuple):
    """:param losses: what reading the files lost"""

    system: System
    lists: OperatorLists
    losses: Sequence[Loss] = ()

    def to_dict(self, entries: Sequence[ListEntry] | None = None) -> SystemsShowDocument:
        """Return the JSON document of ``opsinfo systems show``.

        :param entries: those that are shown; None for all
        """
        shown = self.lists.entries if entries is None else entries
        counts = Counter(entry.cls for entry in shown)
        document = self.system.to_dict()
        document["system"] = self.lists.description
        document["operators"] = [
            {
                "name": entry.name,
                "scope": entry.scope,
                "module": entry.module,
                "note": entry.note,
                "class": entry.cls.value,
                "list": entry.origin or None,
            }
            for entry in shown
        ]
        document["counts"] = {
            "low": counts[OperatorClass.LOW],
            "high": counts[OperatorClass.HIGH],
            "follow": counts[OperatorClass.FOLLOW],
            "promote": counts[OperatorClass.PROMOTE],
            "clear": counts[OperatorClass.CLEAR],
            "banned": counts[OperatorClass.BANNED],
        }
        document["total"] = len(self.lists.entries)
        return document


def list_systems() -> list[System]:
    """Return the systems whose lists can be read, written or asked, as ``opsinfo systems list``."""
    return list(SYSTEMS.values())


def read_system(text: str) -> SystemLists:
    """Return the lists of a system, as ``opsinfo systems show``.

    :param text: ``NAME``, ``NAME:LEVEL``, or ``NAME=FILE[,FILE]``
    :raises UsageFault: if the system or level is unknown, or the files have another format
    :raises Refused: if a file cannot be read
    """
    name, equals, files = text.partition("=")
    if not equals:
        return SystemLists(system_called(text.partition(":")[0]), lists_of(text))
    system = system_called(name)
    if system.input != "text":
        raise UsageFault(f"{name} is a TARGET, not another system", name="wrong-kind", hint=f"give {files}")
    read = read_lists(system, [read_list_text(path) for path in files.split(",")])
    return SystemLists(system, read.lists, read.losses)
