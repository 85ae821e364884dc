"""What commands say on the way: a mixlist that is refused, names that are not there, stores that are in doubt."""

from __future__ import annotations

import sys

from ...errors import Damaged, MissingPackage, Refused, UsageFault, few
from ...model.store import Operators
from ...model.target import Target
from ...report.terminal.output import Output
from ...typed import TYPE_CHECKING

if TYPE_CHECKING:
    from ...model.mixlist import Mixlist
    from ...text.document import Document
    from ...text.source import Source

__all__ = [
    "accepted_mixlist",
    "mendable_mixlist",
    "require_no_library",
    "require_operators",
    "require_writable",
    "say_doubts",
    "say_refusals",
    "say_unknown",
]


def accepted_mixlist(path: str, output: Output) -> Mixlist:
    """A mixlist that the engine accepts.

    :raises Refused: where it does not, with every reason on stderr
    """
    from ...text.scanner import scan
    from ...text.source import Source

    document = scan(Source.read(path))
    return _accepted(document, document, output)


def mendable_mixlist(source: Source, output: Output) -> Mixlist:
    """A mixlist that the engine accepts as `fmt` would mend it.

    :raises Refused: where it does not, with every reason on stderr
    """
    from ...change.fmt_plan import mended
    from ...text.scanner import scan

    try:
        document = scan(mended(source))
    except Damaged:  # said below, with what else is wrong
        document = scan(source)
    return _accepted(document, scan(source), output)


def _accepted(document: Document, as_it_stands: Document, output: Output) -> Mixlist:
    from ...model.mixlist import Mixlist

    try:
        return Mixlist(document)
    except Refused as error:
        reasons = say_refusals(as_it_stands, output)
        raise Refused(
            f"the engine refuses this mixlist ({reasons} finding{'' if reasons == 1 else 's'}); "
            "nothing was done with it",
            name="mixlist-refused",
            path=document.source.path,
            line=error.line,
            column=error.column,
            hint=error.hint,
        ) from None


def say_refusals(document: Document, output: Output) -> int:
    """Say why the engine refuses a mixlist; where jsonschema is not to be had, the first reason alone.

    :returns: how many reasons there are
    """
    from ...model.mixlist import Mixlist

    try:
        Mixlist(document)
    except Damaged as error:
        first = error
    else:
        return 0
    from ...check.mixlist import check_mixlist
    from ...report.formats.text import finding_lines
    from ...report.terminal.failure import failure_lines

    look = output.look(sys.stderr)
    try:
        refusing = [finding for finding in check_mixlist(document) if finding.engine == "refuses"]
        lines = finding_lines(refusing, look)
    except MissingPackage:
        refusing, lines = [], failure_lines(first, look)
    for line in lines:
        output.complain(line)
    return len(refusing) or 1


def say_unknown(mixlist: Mixlist, operators: Operators, output: Output) -> list[str]:
    """Name the op types of a mixlist that a target lacks: the engine ignores them.

    :returns: them
    """
    unknown = [name for name in sorted(mixlist.marks) if name not in operators]
    if not unknown:
        return []
    from ...model.near_names import NearNames, did_you_mean

    known = NearNames(operators.names)
    for name in unknown:
        near = did_you_mean(name, known)
        said = f"`{name}` is no op type of the target; the engine ignores it" + (f"; {near}" if near else "")
        output.say(said, "warning")
    return unknown


def say_doubts(target: Target, output: Output) -> None:
    """What a person should know before believing the policies."""
    for store in target.operators.stores:
        if store.doubts:
            first = store.doubts[0]
            more = f" (and {len(store.doubts) - 1} more)" if len(store.doubts) > 1 else ""
            said = f"{first.path}:{first.line}: {first.message}{more}; an engine of today refuses this store"
            output.say(said, "warning")
        for paths, names in store.undecided().items():
            if any(len({entry.policy for entry in store.contenders(name)}) > 1 for name in names):
                output.say(f"the engine's order of {few(paths)} is undefined; see `opsinfo doctor`", "warning")


def require_operators(target: Target) -> None:
    """:raises UsageFault: where the target is a mixlist"""
    if target.kind == "mixlist":
        raise UsageFault(
            "a mixlist knows no more of an operator than its marks",
            name="wrong-kind",
            path=target.path,
            hint=f"`opsinfo show TARGET OP --mixlist {target.path}` shows what it does",
        )


def require_no_library(source: Source) -> None:
    """:raises UsageFault: for a library or a snapshot, which is not ours to mend, nor to overwrite by a mixlist"""
    from ...model.file_kind import kind_of

    kind = kind_of(source)
    if kind == "snapshot":
        hint = "take it again: `opsinfo snapshot TARGET -o FILE`"
        raise UsageFault("this is a snapshot, not a mixlist", name="wrong-kind", path=source.path, hint=hint)
    if kind == "library":
        raise UsageFault(
            "this is a library, not a mixlist",
            name="wrong-kind",
            path=source.path,
            hint="`opsinfo restore` puts back what opsinfo changed; the vendor's package has the original",
        )


def require_writable(target: Target) -> None:
    """:raises UsageFault: where the target is a snapshot"""
    if target.kind == "snapshot":
        raise UsageFault(
            "a snapshot tells of a target and is not written into",
            name="wrong-kind",
            path=target.path,
            hint="change the target itself, or a mixlist; `opsinfo snapshot TARGET -o FILE` takes the snapshot again",
        )
