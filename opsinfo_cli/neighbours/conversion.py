"""Convert one system's lists to another system's files, and report what became of every entry."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import NamedTuple

from ..errors import UsageFault
from .registry import SYSTEMS
from .system import ConversionBase, System, Write
from .translation import TranslationOptions, translated
from .vocabulary import ListEntry, Loss, OperatorLists, ReadLists, lost, reasons_of


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


class _Trace:
    """Follows which names of the source each step still expresses."""

    def __init__(self, given: Iterable[str]) -> None:
        self.given = tuple(dict.fromkeys(given))
        self.reasons: dict[str, str] = {}

    def drop(self, name: str, reason: str) -> None:
        self.reasons.setdefault(name, reason)

    def follow(self, before: OperatorLists, after: Iterable[ListEntry], reasons: dict[str, str]) -> None:
        """Record what a step drops: source names that the entries before it stood for and those after it do not."""
        left = {source for entry in after for source in entry.sources}
        current: dict[str, list[str]] = {}
        for entry in before.entries:
            for source in entry.sources:
                current.setdefault(source, []).append(entry.name)
        for name in self.given:
            if name not in left and name not in self.reasons:
                names = (*current.get(name, ()), name)
                names += tuple(word.partition(".")[0] for word in names)  # an overload is dropped with its operator
                reason = next((reasons[word] for word in names if word in reasons), None)
                self.drop(name, reason or "other entries decide its op types")

    def dropped(self) -> tuple[DroppedEntry, ...]:
        return tuple(DroppedEntry(name, self.reasons[name]) for name in self.given if name in self.reasons)


def converted(
    read: ReadLists,
    to: System,
    base: ConversionBase,
    options: TranslationOptions | None = None,
    with_defaults: bool = False,
) -> Conversion:
    """Return the lists as files of another system. By default only the user's own entries are translated.

    :param with_defaults: whether to translate the built-in entries as well
    :raises UsageFault: if the target cannot be written, or its files are differences and ``base`` has nothing to
        compare with
    """
    write = require_writer(to)
    lists = read.lists if with_defaults else read.lists._replace(entries=read.lists.own)
    unread = reasons_of(read.losses)
    names = [entry.name for entry in lists.entries]
    trace = _Trace([*names, *unread])
    for name in unread.keys() - set(names):
        trace.drop(name, unread[name])
    losses = list(read.losses)
    for scheme in _schemes(lists.names, to.names):
        after = translated(lists, scheme, options)
        trace.follow(lists, after.lists.entries, reasons_of(after.losses))
        losses += after.losses
        lists = after.lists
    written = write(to, lists, base)
    kept = [entry for entry in lists.deciding().values() if entry.name not in written.dropped]
    trace.follow(lists, kept, dict(written.dropped))
    added = tuple(entry.name for entry in kept if entry.is_form and entry.name not in written.unchanged)
    losses += [*lost("form", "added: other forms of the listed operators", added), *written.losses]
    return Conversion(written.files, losses, trace.given, trace.dropped(), added)


def require_writer(system: System) -> Write:
    """:raises UsageFault: if the system cannot be written"""
    if system.write is None:
        known = ", ".join(other.name for other in SYSTEMS.values() if other.write)
        hint = system.instead or f"these can: {known}"
        raise UsageFault(f"{system.name} cannot be written", name="not-writable", hint=hint)
    return system.write


def _schemes(source: str, target: str) -> Iterator[str]:
    """Yield the naming schemes to pass through: between two other systems names become Ascend's op types first."""
    if source != target and "ascend" not in (source, target):
        yield "ascend"
    yield target
