"""Open targets for commands, report how they were found, and check their kind."""

from __future__ import annotations

import os

from ...errors import UsageFault
from ...model.target import Target, TargetOptions, resolve
from ...report.terminal.output import Output
from ...text.source import Source, read_standard_input
from .doubts import report_doubts

_DEFAULTS = TargetOptions()


def open_target(text: str, output: Output, options: TargetOptions = _DEFAULTS, stdin: bool = False) -> Target:
    """Resolve a TARGET and report how it was found.

    :param stdin: whether the command can read standard input
    :raises UsageFault: if the text names no target, or several
    """
    if text == "-" and not stdin:
        raise UsageFault(
            "only list, show, validate and fmt read standard input",
            hint=f"`opsinfo {output.command} --help` shows how it is used",
        )
    data = read_standard_input() if text == "-" else None
    target = resolve(text, options._replace(stdin=data), os.environ)
    for note in target.notes:
        output.say(note)
    if target.install:
        output.detail(f"{text}: CANN {target.install.version or 'of unknown version'}, {target.soc}, in {target.path}")
        for site in target.install.sites():
            missing = "" if os.path.isdir(site.directory) else " (missing)"
            output.detail(f"  {site.label}: {site.directory}{missing}")
    else:
        output.detail(f"{text}: a {target.kind}")
    return target


def open_against(text: str, output: Output, options: TargetOptions = _DEFAULTS) -> Target:
    """Return the target that a mixlist is checked against; options such as ``--soc`` apply to it.

    :raises UsageFault: if it is a mixlist itself
    """
    target = open_target(text, output, options._replace(kind=None))
    if target.kind == "mixlist":
        raise UsageFault("--against requires libraries; this is a mixlist", name="wrong-kind", path=text)
    return target


def open_targets(texts: tuple[str, ...], output: Output, options: TargetOptions) -> list[Target]:
    """Return the targets of a repeatable ``--against``, and report doubts about them."""
    targets = [open_against(text, output, options) for text in texts]
    for target in targets:
        report_doubts(target, output)
    return targets


def require_operators(target: Target) -> None:
    """:raises UsageFault: if the target is a mixlist"""
    if target.kind == "mixlist":
        raise UsageFault(
            "this is a mixlist, which has only marks; a library, store, install or snapshot is required",
            name="wrong-kind",
            path=target.path,
            hint=f"`opsinfo show TARGET OP --mixlist {target.path}` shows its effect",
        )


def require_not_snapshot(target: Target) -> None:
    """:raises UsageFault: if the target is a snapshot"""
    if target.kind == "snapshot":
        raise UsageFault(
            "a snapshot cannot be changed",
            name="wrong-kind",
            path=target.path,
            hint="change the target itself, or a mixlist; `opsinfo snapshot TARGET -o FILE` takes the snapshot again",
        )


def require_no_library(source: Source) -> None:
    """:raises UsageFault: if the file is a library or a snapshot, which is not fixed or overwritten by a mixlist"""
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
            hint="`opsinfo restore` undoes changes by opsinfo; the vendor's package has the original",
        )
