"""Convert one system's lists to another system's files, and report what became of every entry."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import NamedTuple

from .destinations import ConversionBase, WrittenLists
from .systems import System
from .translation import TranslationOptions, respelled, translated
from .vocabulary import ListEntry, Loss, OperatorLists, ReadLists


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
        self.alive = set(self.given)

    def follow(self, before: OperatorLists, after: Iterable[ListEntry], losses: Iterable[Loss]) -> None:
        """Record what a step drops: source names that the entries before it stood for and those after it do not."""
        left = {source for each in after for source in each.sources}
        current: dict[str, list[str]] = {}
        for each in before.entries:
            for source in each.sources:
                current.setdefault(source, []).append(each.name)
        dropping = {name: loss.reason_for(name) for loss in losses if loss.drops for name in loss.names}
        for name in [each for each in self.given if each in self.alive - left]:
            self.alive.discard(name)
            called = (*current.get(name, ()), name)
            words = (*called, *(each.partition(".")[0] for each in called))  # an overload is dropped with its operator
            said = next((dropping[each] for each in words if each in dropping), None)
            self.reasons.setdefault(name, said or "other entries decide its op types")

    def dropped(self) -> tuple[DroppedEntry, ...]:
        return tuple(DroppedEntry(name, self.reasons[name]) for name in self.given if name not in self.alive)


def converted(
    read: ReadLists,
    to: System,
    base: ConversionBase,
    options: TranslationOptions | None = None,
    with_defaults: bool = False,
) -> Conversion:
    """Return the lists as files of another system. By default only the user's own entries are translated.

    :param with_defaults: whether to translate the built-in entries as well
    :raises UsageFault: if the target's files are differences and ``base`` has nothing to compare with
    """
    lists = read.lists if with_defaults else read.lists.without_defaults()
    in_reading = {name: loss.reason_for(name) for loss in read.losses if loss.drops for name in loss.names}
    trace = _Trace([*(each.name for each in lists.entries), *in_reading])
    for name in in_reading.keys() - {each.name for each in lists.entries}:
        trace.alive.discard(name)
        trace.reasons[name] = in_reading[name]
    losses = list(read.losses)
    for step in _steps(lists, to, options):
        after = step(lists)
        trace.follow(lists, after.lists.entries, after.losses)
        losses += after.losses
        lists = after.lists
    written: WrittenLists = to.code.write(lists, base, to)
    kept = [each for each in lists.deciding().values() if each.name not in written.dropped]
    last = Loss("", "", tuple(written.dropped), tuple(written.dropped.values()), drops=True)
    trace.follow(lists, kept, [last])
    added = tuple(each.name for each in kept if each.is_form and each.name not in written.unchanged)
    losses += [*_forms(added), *written.losses]
    return Conversion(written.files, losses, trace.given, trace.dropped(), added)


def _steps(
    lists: OperatorLists, to: System, options: TranslationOptions | None
) -> Iterator[Callable[[OperatorLists], ReadLists]]:
    """Yield the steps: spelling, then names. Between two other systems names pass through Ascend's op types."""
    yield lambda given: respelled(given, to.name)
    if lists.names != to.names and "ascend" not in (lists.names, to.names):
        yield lambda given: translated(given, "ascend", options)
    yield lambda given: translated(given, to.names, options)


def _forms(added: tuple[str, ...]) -> list[Loss]:
    said = "added: other forms of the listed operators"
    return [Loss("form", said, added)] if added else []
