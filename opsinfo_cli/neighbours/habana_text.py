"""Habana's text lists for HMP and torch autocast: two files, one operator per line.

How autocast reads them: HabanaAI/gaudi-pytorch-bridge, hpu_ops/backend/autocast_helpers.cpp, load_list.
"""

from __future__ import annotations

from ..errors import UsageFault
from ..text.source import Source
from .destinations import (
    ConversionBase,
    Destination,
    WrittenLists,
    default_differences,
    dropped_by,
    replaced_defaults,
    sorted_by_list,
)
from .systems import System, lists_of
from .vocabulary import ListEntry, Loss, OperatorClass, OperatorLists, ReadLists

_DESTINATIONS = {
    OperatorClass.LOW: Destination("bf16"),
    OperatorClass.HIGH: Destination("fp32"),
    OperatorClass.FOLLOW: Destination(None, False),
    OperatorClass.PROMOTE: Destination(None),
    OperatorClass.CLEAR: Destination(None, False),
    OperatorClass.BANNED: Destination("fp32", False),
}


def line_names(source: Source) -> tuple[list[str], list[str]]:
    """Return the names of a file and its malformed lines: the whole line is the name, blanks and CR included."""
    lines = [line for line in source.text.split("\n") if line]
    return [line for line in lines if line == line.strip()], [line for line in lines if line != line.strip()]


def read(sources: list[Source], system: System) -> ReadLists:
    """Read the BF16 file, then the FP32 file if given. A file replaces the built-in list of its dtype.

    :raises UsageFault: if there are more than two files
    """
    if len(sources) > 2:
        raise UsageFault(f"{system.name} has two files: the BF16 list, then the FP32 list")
    own = lists_of(system.name)
    replaced = (OperatorClass.LOW, OperatorClass.HIGH)[: len(sources)]
    given: list[ListEntry] = []
    losses = []
    for source, cls in zip(sources, replaced, strict=True):
        names, wrong = line_names(source)
        given += [ListEntry(name, cls, origin=source.path) for name in dict.fromkeys(names)]
        if wrong:
            said = f"{source.path}: these lines match nothing, because blanks or CR around a name are part of it"
            losses.append(Loss("not-a-name", said, tuple(wrong), drops=True))
    given, more = _settled(given, system)
    kept = tuple(each for each in own.as_defaults() if each.cls not in replaced)
    return ReadLists(own._replace(entries=(*given, *kept), version=None), (*losses, *more))


def _settled(given: list[ListEntry], system: System) -> tuple[list[ListEntry], list[Loss]]:
    """Resolve names in both files; for autocast, also drop overloads, which it never looks up."""
    losses = []
    low = {each.name for each in given if each.cls is OperatorClass.LOW}
    both = tuple(sorted(low & {each.name for each in given if each.cls is OperatorClass.HIGH}))
    if both and system.name == "habana-hmp":
        said = "in both files; which one wins is not documented for HMP, so these are left out"
        losses.append(Loss("conflict", said, both, drops=True))
        given = [each for each in given if each.name not in both]
    elif both:
        losses.append(Loss("overruled", "in both files; the BF16 list wins", both))
        given = [each for each in given if each.name not in both or each.cls is OperatorClass.LOW]
    if system.name == "habana-autocast":
        given, more = without_overloads(given)
        losses += more
    return given, losses


def without_overloads(given: list[ListEntry]) -> tuple[list[ListEntry], list[Loss]]:
    """Drop overloads: Hpu_KERNEL looks up functions (gaudi-pytorch-bridge, hpu_ops/autocast_helpers.h)."""
    overloads = tuple(each.name for each in given if "." in each.name)
    said = "autocast looks up functions, so a name with an overload matches nothing"
    losses = [Loss("not-a-name", said, overloads, drops=True)] if overloads else []
    return [each for each in given if each.name not in overloads], losses


def write(lists: OperatorLists, base: ConversionBase, system: System) -> WrittenLists:
    own = lists_of(system.name)
    found = sorted_by_list(lists, _DESTINATIONS, system.name)
    fixed = not_promoted(lists, own)
    files = {f"ops_{name}.txt": "".join(f"{each}\n" for each in names) for name, names in found.lists.items()}
    losses = [*found.losses, *default_differences(lists, own.unlisted, own.low, system.name), *fixed]
    losses += replaced_defaults(lists, own, "the files replace")
    return WrittenLists(files, losses, found.dropped | dropped_by(fixed))


def not_promoted(lists: OperatorLists, own: OperatorLists) -> list[Loss]:
    """Return a loss for promoted names that are not on the fixed promote list of ``own``, the built-in lists."""
    fixed = {each.name for each in own.entries if each.cls is OperatorClass.PROMOTE}
    lost = [n for n, each in lists.deciding().items() if each.cls is OperatorClass.PROMOTE and n not in fixed]
    said = f"the promote list of {own.system} is fixed and does not have these; they are left out"
    return [Loss("no-class", said, tuple(lost), drops=True)] if lost else []
