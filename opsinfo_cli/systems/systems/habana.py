"""Habana's text lists for HMP and torch autocast: two files, one operator per line.

How autocast reads them: HabanaAI/gaudi-pytorch-bridge, hpu_ops/backend/autocast_helpers.cpp, load_list.
"""

from __future__ import annotations

import re
from dataclasses import replace

from ...core.text.source import Source
from ...errors import Damaged
from ..system import ConversionOptions, System, WrittenLists, default_differences, sort_names
from ..vocabulary import ListEntry, Loss, OperatorClass, OperatorLists, ReadLists, loss_of

_LOW, _HIGH, _PROMOTE = OperatorClass.LOW, OperatorClass.HIGH, OperatorClass.PROMOTE
_TO = {_LOW: "bf16", _HIGH: "fp32", OperatorClass.BANNED: "fp32"}


def read(system: System, sources: list[Source]) -> ReadLists:
    """Read the BF16 file, then the FP32 file if given. A file replaces the built-in list of its dtype.

    The whole line is the name, blanks and CR included.

    :raises Damaged: if a line is not one name, as ``[ addmm, bmm ]``, which Habana would take for one
    """
    own = system.lists()
    replaced = (_LOW, _HIGH)[: len(sources)]
    entries: list[ListEntry] = []
    losses: list[Loss] = []
    for source, cls in zip(sources, replaced, strict=True):
        for number, line in enumerate(source.text.split("\n"), 1):
            if re.search(r"[\[\],]|\S\s+\S", line):
                message = "more than a name; Habana takes the whole line for the name of one operator"
                hint = "write each operator on a line of its own, without brackets and commas"
                raise Damaged(message, path=source.path, line=number, column=1, hint=hint)
        lines = [line for line in source.text.split("\n") if line]
        names = dict.fromkeys(line for line in lines if line == line.strip())
        entries += [ListEntry(name, cls=cls, origin=source.path) for name in names]
        message = f"{source.path}: these lines match nothing, because blanks or CR around a name are part of it"
        losses += loss_of("not-a-name", message, [line for line in lines if line != line.strip()], drops=True)
    low, high = ({entry.name for entry in entries if entry.cls is cls} for cls in (_LOW, _HIGH))
    both = low & high
    if system.name == "habana-hmp":
        message = "in both files; which one wins is not documented for HMP, so these are left out"
        losses += loss_of("conflict", message, sorted(both), drops=True)
        entries = [entry for entry in entries if entry.name not in both]
    else:
        losses += loss_of("overruled", "in both files; the BF16 list wins", sorted(both))
        entries, overloads = without_overloads([e for e in entries if e.name not in both or e.cls is _LOW])
        losses += overloads
    kept = tuple(entry for entry in own.as_defaults() if entry.cls not in replaced)
    return ReadLists(replace(own, entries=(*entries, *kept), version=None), tuple(losses))


def without_overloads(entries: list[ListEntry]) -> tuple[list[ListEntry], tuple[Loss, ...]]:
    """Drop overloads: Hpu_KERNEL looks up functions (gaudi-pytorch-bridge, hpu_ops/autocast_helpers.h)."""
    overloads = [entry.name for entry in entries if "." in entry.name]
    message = "autocast looks up functions, so a name with an overload matches nothing"
    return [e for e in entries if "." not in e.name], loss_of("not-a-name", message, overloads, drops=True)


def write(system: System, lists: OperatorLists, options: ConversionOptions) -> WrittenLists:
    own = system.lists()
    names = sort_names(lists, _TO, frozenset({_LOW, _HIGH, _PROMOTE}), system.name)
    named = lists.deciding()
    promoted = {entry.name for entry in own.entries if entry.cls is _PROMOTE}
    message = f"the promote list of {system.name} is fixed and does not have these; they are left out"
    not_promoted = [name for name, entry in named.items() if entry.cls is _PROMOTE and name not in promoted]
    fixed = loss_of("no-class", message, not_promoted, drops=True)
    losses = [*names.losses, *default_differences(lists, own.unlisted, own.low, system.name), *fixed]
    if lists.system != system.name:
        gone = [name for name, entry in own.deciding().items() if entry.cls in (_LOW, _HIGH) and name not in named]
        message = f"the files replace the built-in lists of {system.name}; these entries are then on no list"
        losses += loss_of("defaults-replaced", message, gone)
    files = {f"ops_{name}.txt": "".join(f"{op}\n" for op in ops) for name, ops in names.lists.items()}
    return WrittenLists(files, losses)


_TEXTS = "BF16 lines, FP32 lines"
SYSTEMS = (
    System(
        "habana-hmp", "Habana HMP", "torch", _TEXTS, _TEXTS, read, write,
        facts="habana_hmp", files=2,
    ),
    System(
        "habana-autocast", "Habana torch autocast", "torch", _TEXTS, _TEXTS, read, write,
        facts="habana_autocast", files=2, casts_first_argument=True,
    ),
)  # fmt: skip
