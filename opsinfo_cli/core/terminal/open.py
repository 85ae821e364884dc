"""Open targets and mixlists for commands, report how they were found, and check their kind."""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import TYPE_CHECKING

from ...errors import Damaged, MissingPackage, Refused, UsageFault, counted, quoted
from ..cann.definitions import chips_of
from ..cann.install import opp_root, socs_of
from ..cann.target import Target, TargetOptions, defined_target, resolve
from ..text.source import Source, read_standard_input
from .config import too_many_configured
from .console import Console

if TYPE_CHECKING:
    from ..cann.library import Operators
    from ..cann.mixlist import Mixlist
    from ..text.scanner import Document

_DEFAULTS = TargetOptions()


def open_target(text: str, console: Console, options: TargetOptions = _DEFAULTS, stdin: bool = False) -> Target:
    """Resolve a TARGET and report how it was found.

    :param stdin: whether the command can read standard input
    :raises UsageFault: if the text names no target, or several
    """
    if text == "-" and not stdin:
        hint = f"`opsinfo {console.command} --help` shows how it is used"
        raise UsageFault("only list, show, validate and fmt read standard input", hint=hint)
    data = read_standard_input() if text == "-" else None
    target = resolve(text, options._replace(stdin=data), os.environ)
    for note in target.notes:
        console.note(note)
    for doubt in target.doubts:
        console.warn(doubt)
    if target.definitions:
        console.unread(target.definitions.unreadable)
    if target.install:
        version = target.install.version or "of unknown version"
        console.detail(f"{text}: CANN {version}, {target.soc}, in {target.path}")
        for site in target.install.sites():
            missing = "" if os.path.isdir(site.directory) else " (missing)"
            console.detail(f"  {site.label}: {site.directory}{missing}")
    else:
        console.detail(f"{text}: {target.phrase}")
    return target


def open_chips(text: str, console: Console, options: TargetOptions, socs: Sequence[str] = ()) -> list[Target]:
    """Return the target, or one for each chip of an install, or of definitions, with several.

    :param socs: the chips of ``--soc``; empty for all
    """
    if os.path.exists(text) and (defined := chips_of(text)):
        console.unread(defined.unreadable)
        return [defined_target(text, defined, options._replace(soc=soc)) for soc in socs or defined.socs]
    root = opp_root(text) if os.path.isdir(text) else None
    if root is None:
        names_chip = "@" in text and not os.path.lexists(text)  # beside --soc it is wrong usage
        return [open_target(text, console, options._replace(soc=socs[0] if socs and names_chip else None))]
    chips = [*(socs or socs_of(root, "ai" if options.core == "vector" else options.core))]
    if not chips:
        return [open_target(text, console, options)]
    return [open_target(text, console, options._replace(soc=soc)) for soc in chips]


def open_against(text: str, console: Console, options: TargetOptions = _DEFAULTS) -> Target:
    """Return the target that a mixlist is checked against; options such as ``--soc`` apply to it.

    :raises UsageFault: if it is a mixlist itself
    """
    target = open_target(text, console, options._replace(kind=None))
    if target.kind == "mixlist":
        raise UsageFault("--against requires libraries; this is a mixlist", name="wrong-kind", path=text)
    return target


def open_given(text: str | None, console: Console, options: TargetOptions = _DEFAULTS) -> Target | None:
    """Return the target of an ``--against`` that may be missing; then no option may describe it.

    :raises UsageFault: if one does
    """
    if text is not None:
        return open_against(text, console, options)
    require_against(options)
    if note := too_many_configured("against"):
        console.note(note)
    return None


def require_against(options: TargetOptions) -> None:
    """:raises UsageFault: if options describe the target of ``--against``, which is missing"""
    given = {"--soc": options.soc, "--core": options.core != _DEFAULTS.core, "--custom": options.customs}
    for word, value in given.items():
        if value:
            raise UsageFault(f"{word} requires --against", hint="add --against TARGET")


def require_operators(target: Target) -> None:
    """:raises UsageFault: if the target is a mixlist"""
    if target.kind == "mixlist":
        raise UsageFault(
            "this is a mixlist, which has only marks; a library, store, install or snapshot is required",
            name="wrong-kind",
            path=target.path,
            hint=f"`opsinfo show TARGET OP --mixlist {quoted(target.path)}` shows its effect",
        )


def report_doubts(target: Target, console: Console) -> None:
    """Report what makes the policies of a target uncertain."""
    for doubt in target.doubts_of_policies():
        console.warn(doubt)


def report_unknown(mixlist: Mixlist, operators: Operators, console: Console, where: str = "the target") -> list[str]:
    """Report the op types of a mixlist that a target lacks: the engine ignores them.

    :param where: the target in the message
    :returns: their names, sorted
    """
    lacking = operators.lacking(mixlist.marks, where)
    for message in lacking.values():
        console.warn(message)
    return list(lacking)


def report_no_match(console: Console, total: int, narrowing: dict[str, object]) -> None:
    """Report that options leave none of the operators.

    :param narrowing: the value of each option that leaves operators out
    """
    given = [option for option, value in narrowing.items() if value]
    console.note(f"none of the {total} operators matches {' and '.join(given)}")


def accepted_mixlist(path: str, console: Console) -> Mixlist:
    """Return a mixlist that the engine accepts.

    :raises UsageFault: if the file is a library, a snapshot or another file of CANN
    :raises Refused: if it does not; every reason is printed to standard error
    """
    from ..change.fmt import require_no_library
    from ..text.scanner import scan

    source = Source.read(path)
    require_no_library(source)
    document = scan(source)
    return _accepted(document, document, console)


def fixable_mixlist(source: Source, console: Console) -> Mixlist:
    """Return a mixlist that the engine accepts after `fmt` has fixed its syntax.

    :raises UsageFault: if the file is a library, a snapshot or another file of CANN
    :raises Refused: if it does not; every reason is printed to standard error
    """
    from ..change.fmt import fixed, require_no_library
    from ..text.scanner import scan

    require_no_library(source)
    try:
        document = scan(fixed(source))
    except Damaged:  # reported below, with all other findings
        document = scan(source)
    return _accepted(document, scan(source), console)


def _accepted(document: Document, unfixed: Document, console: Console) -> Mixlist:
    from ..cann.mixlist import Mixlist

    try:
        return Mixlist(document)
    except Refused as error:
        reasons = report_refusals(unfixed, console)
        raise Refused(
            f"the engine refuses this mixlist ({counted(reasons, 'finding')}); it was not used",
            name="mixlist-refused",
            path=document.source.path,
            line=error.line,
            column=error.column,
            hint=error.hint,
        ) from None


def report_refusals(document: Document, console: Console) -> int:
    """Report why the engine refuses a mixlist; without jsonschema only the first reason.

    :returns: the number of reasons
    """
    from ..cann.mixlist import Mixlist
    from ..check.mixlist import check_mixlist
    from .findings import finding_lines

    try:
        Mixlist(document)
    except Damaged as error:
        first = error
    else:
        return 0
    try:
        refusing = [finding for finding in check_mixlist(document) if finding.engine == "refuses"]
    except MissingPackage:
        console.failure_text(first)
        return 1
    console.lines(finding_lines(refusing, console.stderr_width))
    return len(refusing) or 1
