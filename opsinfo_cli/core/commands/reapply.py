"""`opsinfo reapply`: repeat moves that an upgrade undid."""

from __future__ import annotations

import click

from ..change.reapply import reapply
from ..terminal import completion
from ..terminal.answer import CommandAnswer
from ..terminal.console import Console
from ..terminal.params import Command, Word, WriteOptions, prints, write_options
from ..terminal.write import answer_of_target, report_change, settings_of


@click.command("reapply", cls=Command)
@click.argument("what", required=False, type=Word("[CHANGE|TARGET]", completion.changes, files=True))
@write_options()
@prints()
def command(what: str | None, writing: WriteOptions, console: Console) -> CommandAnswer:
    """Repeat moves that were lost because the file was replaced, for example by an upgrade.

    Without an argument: all lost moves; with TARGET: those in its files; with CHANGE: those of one change.
    `opsinfo restore` of what this writes settles the moves: they are no longer lost.

    \b
    Examples:
      opsinfo reapply --dry-run
      opsinfo reapply ascend910b
    """
    result = report_change(reapply(what, say=console.warn, **settings_of(writing)), writing, console)
    return answer_of_target(result, "", writing, console)
