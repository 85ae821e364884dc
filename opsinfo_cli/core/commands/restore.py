"""`opsinfo restore`: undo the last change, or restore a backup."""

from __future__ import annotations

import click

from ...errors import UsageFault
from ..change.restore import restore_any
from ..terminal.answer import Answer
from ..terminal.console import Console
from ..terminal.params import TARGET, Command, Word, WriteOptions, force_option, lazily, option, prints, write_options
from ..terminal.write import writer_of
from .backups_view import restore_answer


@click.command("restore", cls=Command)
@click.argument("target", type=TARGET)
@option("--to", "which", type=Word("ID", lazily("backup_ids")), help="Id of a backup or change, or `pristine`.")
@option("--only", is_flag=True, help="Leave the other files of the change as they are.")
@write_options(force_option)
@prints()
def command(target: str, which: str | None, only: bool, writing: WriteOptions, console: Console) -> Answer:
    """Undo the last change of TARGET as a whole; with --to, restore one backup.

    TARGET may be the id of a change, as `opsinfo backups` lists it: that change is undone.

    Repeated, it goes back change by change. The replaced content is backed up first, so that a return with --to can be
    undone too.

    \b
    Examples:
      opsinfo move ascend910b SwiGlu --to black
      opsinfo restore ascend910b --dry-run
      opsinfo restore ascend910b
      opsinfo restore ascend910b --to pristine
    """
    if only and which is not None:
        raise UsageFault("--only is about the last change; --to restores the files of TARGET alone")
    writer = writer_of(writing, console)
    change, restored = restore_any(writer, target, which, only, writing.force, writing.dry_run)
    return restore_answer(target, change, restored, writing.dry_run)
