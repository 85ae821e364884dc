"""Open targets and mixlists for commands, report how they were found, and check their kind."""

from __future__ import annotations

import os
import re
from collections.abc import Sequence
from contextlib import suppress
from typing import TYPE_CHECKING

import click

from ...errors import Damaged, MissingPackage, OpsinfoError, Refused, UsageFault, counted
from ...opening import unreadable
from ..cann.mixlist import Mixlist, MixlistFile
from ..cann.target import Target, a_mixlist, target_or_mixlist, targets_or_mixlist
from ..cann.targets.found import TargetOptions
from ..change.vault_place import vault_path
from ..check.git import file_of_revision
from ..document import EditedHere
from ..text.source import Source, read_standard_input
from .config import too_many_configured
from .console import Console

if TYPE_CHECKING:
    from ..cann.library import Operators
    from ..cann.opdef.find import NotRead
    from ..text.scanner import Document

_DEFAULTS = TargetOptions()


def open_target(text: str, console: Console, options: TargetOptions = _DEFAULTS, stdin: bool = False) -> Target:
    """Resolve a TARGET and report how it was found.

    :param stdin: whether the command can read standard input
    :raises UsageFault: if the text names no target, or several, or a mixlist
    """
    target = open_target_or_mixlist(text, console, options, stdin)
    if isinstance(target, MixlistFile):
        raise a_mixlist(target.path)
    return target


def open_target_or_mixlist(
    text: str, console: Console, options: TargetOptions = _DEFAULTS, stdin: bool = False, rests: bool | None = None
) -> Target | MixlistFile:
    """Return a TARGET as :func:`open_target`, or a mixlist, for commands that take both.

    :param rests: whether the answer rests on its policies; None asks the command
    """
    if text == "-" and not stdin:
        hint = f"`opsinfo {console.command} --help` shows how it is used"
        raise UsageFault("only list, show, diff, validate and fmt read standard input", hint=hint)
    handed = _handed(text) if stdin else None
    target = target_or_mixlist(text, options._replace(handed=handed), os.environ)
    _report(target, console, rests)
    return target


_PIPE = re.compile(r"/dev/stdin|/(?:dev|proc/self)/fd/[0-9]+")
"""What a shell writes for `<(...)`: a pipe with a writer. A FIFO with a name may have none, and is not waited for."""


def _handed(text: str) -> bytes | None:
    """Read a target that has no file of its own: standard input, a pipe of the shell, or a file of a git revision.

    :returns: None for any other text
    :raises Refused: if it cannot be read
    """
    if text == "-":
        return read_standard_input()
    try:
        if _PIPE.fullmatch(text):
            if os.path.isfile(text):
                return None
            with open(text, "rb") as pipe:
                return pipe.read()
    except OSError as error:
        raise unreadable(error, text) from None
    return file_of_revision(text)


def _report(target: Target | MixlistFile, console: Console, rests: bool | None = None) -> None:
    """Report how a target was found."""
    if isinstance(target, MixlistFile):
        console.detail(f"{target.text}: a mixlist")
        return
    console.unread(target.unreadable)
    report_not_read(target.not_read, console)
    _report_edits(target, console, rests)
    for note in target.notes:
        console.note(note)
    for doubt in target.doubts:
        console.warn(doubt)
    if target.install:
        version = target.version or "of unknown version"
        console.detail(f"{target.text}: CANN {version}, {target.soc}, in {target.path}")
        for site in target.install.sites():
            missing = "" if os.path.isdir(site.directory) else " (missing)"
            console.detail(f"  {site.label}: {site.directory}{missing}")
    else:
        console.detail(f"{target.text}: {target.phrase}")


_LOOKS_OR_WRITES = {"list", "move", "edit", "apply"}
"""Commands whose TARGET is what they print or change, not what they rest on; `list -v` says more."""


def _report_edits(target: Target, console: Console, rests: bool | None) -> None:
    """Report op types whose policy opsinfo changed, here or where a snapshot was taken."""
    if target.edited:
        edits = [EditedHere(name, None, target.path, *policies) for name, *policies in target.edited]
        console.edited(edits, f"{target.text} where it was taken")
    vault = vault_path(click.get_current_context().params.get("backup_dir"), os.environ)
    if rests is None:
        rests = console.command not in _LOOKS_OR_WRITES or (console.command == "list" and bool(console.verbose))
    if not rests or target.kind == "snapshot" or not os.path.isdir(vault):
        return
    from ..change.standing import standing_edits
    from ..change.vault import Vault

    with suppress(OpsinfoError):  # the command says so
        console.edited(standing_edits(Vault(vault), target.operators.libraries().values()), target.text)


def report_not_read(not_read: Sequence[NotRead], console: Console) -> None:
    """Report how many sources were passed over, and why; ``-v`` lists them."""
    if not_read:
        from ..cann.opdef.find import passed_over_note

        console.note(passed_over_note(not_read))
    for each in not_read:
        console.detail(f"  {each.path}: {each.reason}")


def open_chips(
    text: str, console: Console, options: TargetOptions, socs: Sequence[str] = ()
) -> list[Target | MixlistFile]:
    """Return the target, or one for each chip of it, or the mixlist.

    :param socs: the chips of ``--soc``; empty for all
    """
    targets = targets_or_mixlist(text, options._replace(handed=_handed(text)), socs, os.environ)
    for target in targets:
        _report(target, console)
    return targets


def open_against(text: str, console: Console, options: TargetOptions = _DEFAULTS) -> Target:
    """Return the target that a mixlist is checked against; options such as ``--soc`` apply to it.

    :raises UsageFault: if it is a mixlist itself
    """
    target = open_target_or_mixlist(text, console, options._replace(kind=None), rests=True)
    if isinstance(target, MixlistFile):
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


def report_doubts(target: Target, console: Console) -> None:
    """Report what makes the policies of a target uncertain."""
    for doubt in target.doubts_of_policies():
        console.warn(doubt)


def report_unknown(mixlist: Mixlist, operators: Operators, console: Console) -> None:
    """Report the op types of a mixlist that a target lacks: the engine ignores them."""
    for message in operators.lacking(mixlist.marks).values():
        console.warn(message)


def report_no_match(console: Console, total: int, narrowing: dict[str, object], what: str = "operators") -> None:
    """Report that options leave nothing.

    :param narrowing: the value of each option that leaves something out
    """
    given = [option for option, value in narrowing.items() if value]
    globs = narrowing.get("--match")
    whole = [glob for glob in (globs if isinstance(globs, (list, tuple)) else ()) if not set(glob) & set("*?[")]
    wider = f"; a pattern is compared with the whole name: --match '*{whole[0].lower()}*'" if whole else ""
    console.note(f"none of the {total} {what} matches {' and '.join(given)}{wider}")


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
