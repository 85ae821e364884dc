"""`opsinfo edit`: the policies of a target as lines in an editor, and the changed ones as moves."""

from __future__ import annotations

import os
import re
import signal
import sys
from collections.abc import Iterable, Iterator
from contextlib import contextmanager

import click

from ...errors import Refused, Stopped, UsageFault, counted
from ...near_names import matches
from ..cann.policy import Policy
from ..cann.target import Target
from ..cann.targets.found import TargetOptions
from ..change.move import Movable, require_changeable, winning_files
from ..change.output_file import EditedFile
from ..change.policy_lines import (
    KnownPolicies,
    Mistake,
    are_repeated,
    can_be_line,
    policy_lines,
    read_policy_lines,
    with_mistakes,
)
from ..change.writer import writer_of
from ..terminal.answer import CommandAnswer
from ..terminal.config import Targeted
from ..terminal.console import Console
from ..terminal.open import report_no_match, report_unknown
from ..terminal.params import (
    LIST,
    TARGET,
    WriteOptions,
    create_option,
    for_mixlist_option,
    match_option,
    option,
    prints,
    reason_option,
    target_options,
    write_options,
)
from ..terminal.styles import is_terminal
from ..terminal.write import answer_of_target, settings_of, write_jobs
from ..text.escape import visible_line
from .move import open_movable


@click.command("edit", cls=Targeted)
@click.argument("target", type=TARGET)
@option("--on", "lists", multiple=True, type=LIST, help="Only operators on this list; repeatable.")
@match_option
@for_mixlist_option
@create_option
@target_options
@write_options(reason_option)
@prints()
def command(
    target: str,
    lists: tuple[str, ...],
    globs: tuple[str, ...],
    against: str | None,
    create: bool,
    options: TargetOptions,
    writing: WriteOptions,
    console: Console,
) -> CommandAnswer:
    """Put operators on lists in your editor ($VISUAL, else $EDITOR).

    The operators of TARGET are lines such as `white MatMulV2`. A changed first word is a move; a deleted line changes
    nothing. A line that cannot be applied opens the editor again, with the error above it.
    For a mixlist, the lines are the operators of --against with the policy that the mixlist gives them; without it,
    the operators in the mixlist.

    \b
    Examples:
      opsinfo edit ascend910b --match 'MatMul*' --dry-run
      opsinfo edit ops_info.json --against ascend910b
      EDITOR='sed -i s/^white/black/' opsinfo edit ascend910b --on white -n
    """
    require_editor()
    movable = open_movable(target, (against,) if against else (), create, options, console)
    if isinstance(movable.target, Target):
        require_changeable(movable.target, {})
    if movable.against and (mixlist := movable.mixlist):
        report_unknown(mixlist, movable.against[0].operators, console)
    known = KnownPolicies(movable.policies(), bool(movable.libraries), movable.elsewhere)
    shown = {
        name: policy
        for name, policy in known.policies.items()
        if (not lists or str(policy) in lists) and matches(name, globs)
    }
    if known.policies and not shown:
        report_no_match(console, len(known.policies), {"--on": lists, "--match": globs})
        return answer_of_target(write_jobs("edit", [], writing, console), target, writing, console)
    if unusual := [name for name in shown if not can_be_line(name)]:
        console.warn(f"{counted(len(unusual), 'operator')} with control characters in the name left out")
    lines = {name: policy for name, policy in shown.items() if can_be_line(name)}
    if writing.writes:
        _require_writable(movable, lines, writing)
    title = visible_line(f"Policies of {target}" + (f" for {against}" if against else ""))
    with _temporary(policy_lines(title, lines), console) as file:
        asked = _asked(file, known)
        jobs = movable.jobs(asked, console.warn, force=writing.force, reviewed=True)
        return answer_of_target(write_jobs("edit", jobs, writing, console), target, writing, console)


def require_editor() -> None:
    """:raises UsageFault: if no editor is named, and there is no terminal for one that is found"""
    named = os.environ.get("VISUAL") or os.environ.get("EDITOR")
    if not named and not (sys.stdin and sys.stdin.isatty() and is_terminal(sys.stdout)):
        hint = "set $VISUAL or $EDITOR; without an editor: `opsinfo move TARGET OP --to LIST`"
        raise UsageFault("edit requires a terminal, or an editor in $VISUAL or $EDITOR", name="no-editor", hint=hint)


def _require_writable(movable: Movable, names: Iterable[str], writing: WriteOptions) -> None:
    """Check before the editor opens that the mixlist, or one of the libraries, can be changed.

    :raises Refused: if not
    """
    target = movable.target
    if isinstance(target, Target):
        paths = list(winning_files(target, list(names), None, True, lambda _: None))
    else:
        paths = [target if isinstance(target, str) else target.path]
    writer = writer_of(settings_of(writing), lambda _: None)
    refused: list[Refused] = []
    for path in paths:
        try:
            writer.require_writable(path)
        except Refused as error:
            refused.append(error)
    if refused and len(refused) == len(paths) and not writing.in_place:
        raise refused[0]


@contextmanager
def _temporary(text: str, console: Console) -> Iterator[EditedFile]:
    """A file to edit, which is kept if what follows fails and it has edits, or an editor may still show it."""
    file = EditedFile(text)
    try:
        yield file
    except BaseException as error:
        if isinstance(error, Stopped) or file.is_edited:
            console.warn(f"your edits are kept in {file.path}")
        else:
            file.remove()
        raise
    file.remove()


def _asked(file: EditedFile, known: KnownPolicies) -> dict[str, Policy]:
    """Return the op types whose policy was changed; a line that cannot be applied opens the editor again.

    :raises UsageFault: if no mistake was corrected
    :raises Refused: if the editor fails
    """
    earlier: list[Mistake] = []
    while True:
        _open_editor(file.path)
        text = file.read()
        asked, mistakes = read_policy_lines(text, known)
        if not mistakes:
            return asked
        if earlier and are_repeated(earlier, mistakes):
            first = mistakes[0]
            more = f" (and {len(mistakes) - 1} more)" if len(mistakes) > 1 else ""
            raise UsageFault(first.message + more, name="invalid-line", path=file.path, line=first.at + 1)
        earlier = mistakes
        file.write(with_mistakes(text, mistakes))


def _open_editor(path: str) -> None:
    """Wait for the editor. Ctrl-C is the editor's business, as with git: it may be meant for a child of it.

    :raises Refused: if the editor fails
    """
    before = signal.signal(signal.SIGINT, lambda *_: None)  # a handler, since the editor would inherit SIG_IGN
    try:
        click.edit(filename=path)
    except (click.ClickException, ValueError) as error:  # ValueError: a quote in $EDITOR is not closed
        reason = error.format_message() if isinstance(error, click.ClickException) else str(error)
        reason = re.sub(r": Editing failed|\[Errno \d+\] ", "", reason)
        hint = "nothing was changed; $VISUAL or $EDITOR names the editor"
        raise Refused(f"the editor failed: {reason}", name="editor-failed", hint=hint) from None
    finally:
        signal.signal(signal.SIGINT, before)
