"""Convert one system's lists to another system's files, and report what became of every entry."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import NamedTuple

from ..errors import UsageFault
from .registry import SYSTEMS
from .system import ConversionOptions, System, Write
from .translation import translate
from .vocabulary import ListEntry, Loss, OperatorLists, ReadLists, loss_of, reasons_of


class DroppedEntry(NamedTuple):
    """An entry of the source that the result does not express, and why."""

    name: str
    reason: str


class Conversion(NamedTuple):
    """The result of a conversion.

    :param files: text by usual file name
    :param given: the entries of the source, in its order
    :param dropped: those of them that were not carried over
    :param added: names in the result that no entry of the source names: other forms of its operators
    """

    files: dict[str, str]
    losses: list[Loss]
    given: tuple[str, ...]
    dropped: tuple[DroppedEntry, ...]
    added: tuple[str, ...]


def convert(read: ReadLists, to: System, options: ConversionOptions) -> Conversion:
    """Return the lists as files of another system.

    :raises UsageFault: if the target cannot be written, or its files are differences and there is nothing to compare
        with
    """
    write = require_writer(to)
    lists = read.lists if options.with_defaults else read.lists._replace(entries=read.lists.own)
    unread, names = reasons_of(read.losses), {entry.name for entry in lists.entries}
    given = tuple(dict.fromkeys([*(entry.name for entry in lists.entries), *unread]))
    dropped = {name: reason for name, reason in unread.items() if name not in names}
    losses = list(read.losses)
    schemes = [to.names]
    if lists.names != to.names and "ascend" not in (lists.names, to.names):
        schemes.insert(0, "ascend")  # between two other systems names become Ascend's op types first
    for scheme in schemes:
        after = translate(lists, scheme, options.same, options.opset)
        _drop(dropped, given, lists, after.lists.entries, reasons_of(after.losses))
        losses += after.losses
        lists = after.lists
    written = write(to, lists, options)
    reasons = written.dropped
    kept = [entry for entry in lists.deciding().values() if entry.name not in reasons]
    _drop(dropped, given, lists, kept, reasons)
    added = tuple(entry.name for entry in kept if entry.is_form and entry.name not in written.unchanged)
    losses += [*loss_of("form", "added: other forms of the listed operators", added), *written.losses]
    entries = tuple(DroppedEntry(name, dropped[name]) for name in given if name in dropped)
    return Conversion(written.files, losses, given, entries, added)


def _drop(
    dropped: dict[str, str],
    given: Iterable[str],
    before: OperatorLists,
    after: Iterable[ListEntry],
    reasons: Mapping[str, str],
) -> None:
    """Add what a step drops: source names that the entries before it stood for and those after it do not."""
    left = {source for entry in after for source in entry.sources}
    current: dict[str, list[str]] = {}
    for entry in before.entries:
        for source in entry.sources:
            current.setdefault(source, []).append(entry.name)
    for name in given:
        if name not in left and name not in dropped:
            names = (*current.get(name, ()), name)
            names += tuple(word.partition(".")[0] for word in names)  # an overload is dropped with its operator
            reason = next((reasons[word] for word in names if word in reasons), None)
            dropped[name] = reason or "other entries decide its op types"


def require_writer(system: System) -> Write:
    """:raises UsageFault: if the system cannot be written"""
    if system.write is None:
        known = ", ".join(other.name for other in SYSTEMS.values() if other.write)
        hint = system.instead or f"these can: {known}"
        raise UsageFault(f"{system.name} cannot be written", name="not-writable", hint=hint)
    return system.write
