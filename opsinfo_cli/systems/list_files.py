"""Lists of other systems, made from the names that stay high and those that do not."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ..core.text.source import Source
from ..errors import UsageFault
from .registry import system_called
from .system import ConversionOptions
from .vocabulary import ListEntry, OperatorClass, OperatorLists, reasons_of

if TYPE_CHECKING:
    from collections.abc import Collection

    from ..core.cann.list_forms import WriteAs

_SYSTEMS = {"habana": "habana-autocast", "mindspore": "mindspore-black"}
_NAMES = "names.txt"


def list_files(write_as: WriteAs, high: Collection[str], low: Collection[str]) -> dict[str, str]:
    """Return the texts of a list's files by name; first the one with the names that stay high.

    Habana's two files replace the built-in lists of autocast, so they have the built-in names that are no candidates.

    :raises UsageFault: if the system cannot express a name
    """
    if write_as not in _SYSTEMS:
        return {_NAMES: "".join(f"{name}\n" for name in high)}
    system = system_called(_SYSTEMS[write_as])
    entries = [ListEntry(name, cls=OperatorClass.HIGH) for name in high]
    if system.facts:
        own = system.lists()
        entries += [ListEntry(name, cls=OperatorClass.LOW) for name in low]
        entries += [entry for entry in own.entries if entry.name not in high and entry.name not in low]
    assert system.read is not None
    assert system.write is not None
    lists = OperatorLists(system=system.name, names=system.names, unlisted="low", entries=tuple(entries))
    written = system.write(system, lists, ConversionOptions())
    read = system.read(system, [Source(text.encode("utf-8"), name) for name, text in written.files.items()])
    wrong = {**written.dropped, **reasons_of(read.losses)}
    for name in (name for name in (*high, *low) if name in wrong):
        raise UsageFault(f"--write-as {write_as}: `{name}`: {wrong[name]}", name="unknown-name")
    return dict(sorted(written.files.items(), key=lambda file: "bf16" in file[0]))
