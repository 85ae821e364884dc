"""The lists of one system as a user names it: NAME, NAME:LEVEL, or NAME=FILE[,FILE]."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import Any, NamedTuple

from ..core.document import headed
from ..errors import UsageFault
from .input_lists import read_lists
from .list_text import read_list_text
from .registry import SYSTEMS, lists_of, system_called
from .system import ClassCounts, ShownSystem, System
from .vocabulary import ListEntry, Loss, OperatorClass, OperatorLists


class SystemLists(NamedTuple):
    """:param losses: what reading the files lost"""

    system: System
    lists: OperatorLists
    losses: Sequence[Loss] = ()

    def to_dict(self, entries: Sequence[ListEntry] | None = None) -> dict[str, Any]:
        """Return the JSON document of ``opsinfo systems show``.

        :param entries: those that are shown; None for all
        """
        shown = self.lists.entries if entries is None else entries
        counts = Counter(entry.cls.value for entry in shown)
        record = ShownSystem(
            [self.system.description],
            self.lists,
            shown,
            ClassCounts(**{cls.value: counts[cls.value] for cls in OperatorClass}),
            len(self.lists.entries),
        )
        return headed("systems show", record)


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
