"""OpDef sources: one file, or a folder that holds them, such as a checkout of an operator repository."""

from __future__ import annotations

from ..library import Operators
from ..opdef.find import SUFFIXES
from .defined import defined
from .found import Found, Named, TargetOptions


def recognise(named: Named, options: TargetOptions) -> Found | None:
    """C++ with `OP_ADD(`, or a folder with such files that is no operator package.

    :raises Refused: if nothing of them could be read
    """
    path = named.path
    is_source = named.is_file and options.kind in (None, "library") and path.endswith(SUFFIXES)
    if not is_source and (not named.is_folder or named.is_complete):
        return None
    from ..opdef_store import NOT_DECLARED, OpDefOperators, OpDefStore, read_opdef, unreadable_error

    reading = read_opdef(path)
    if reading is None:
        return None
    declared: dict[str, list[str]] = {}
    for operator in reading.operators:
        declared.setdefault(operator.name, []).extend(operator.chips)

    def operators(soc: str) -> Operators:
        unread = [each for each in reading.unreadable if each.chip in (None, soc)]
        hidden = {each.name for each in unread}  # registered once more: the linker decides which one counts
        rows = [row for row in reading.rows if row.chip == soc and row.name not in hidden]
        if not rows and unread:
            raise unreadable_error(unread[0], len(unread) - 1)
        return OpDefOperators(OpDefStore(rows), soc, declared, unread)

    chips = {row.chip for row in reading.rows} | {each.chip for each in reading.unreadable if each.chip is not None}
    return defined(
        "opdef",
        "the sources declare operators",
        path,
        sorted(chips),
        operators,
        options,
        reading.unreadable,
        NOT_DECLARED,
        reading.not_read,
    )
