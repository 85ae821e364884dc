"""`opsinfo restore`: undo the last change, or restore a backup."""

from __future__ import annotations

import click

from ...errors import counted, join_some
from ..change.restore import Restored, restore
from ..terminal import completion
from ..terminal.answer import Block, Column, CommandAnswer, Diff, Either, Lines, Table
from ..terminal.console import Console
from ..terminal.params import TARGET, Command, Word, WriteOptions, option, prints, write_options
from ..terminal.unified_diff import diff_of_bytes
from ..terminal.write import settings_of


@click.command("restore", cls=Command)
@click.argument("target", type=TARGET)
@option("--to", "which", type=Word("ID", completion.backup_ids), help="Id of a backup or change, or `pristine`.")
@option("--only", is_flag=True, help="Leave the other files of the change as they are.")
@write_options()
@prints()
def command(target: str, which: str | None, only: bool, writing: WriteOptions, console: Console) -> CommandAnswer:
    """Undo the last change of TARGET as a whole; with --to, return to one backup.

    TARGET may be the id of a change, as `opsinfo backups` lists it: that change alone is undone. Op types that a later
    change moved again are named and left alone, with exit status 1; a change that is no move is undone only as the last
    one. --to returns to the content at a moment, and loses what followed.

    Repeated, it goes back change by change. The replaced content is backed up first, so that a return with --to can be
    undone too.

    \b
    Examples:
      opsinfo move ascend910b SwiGlu --to black
      opsinfo restore ascend910b --dry-run
      opsinfo restore ascend910b
      opsinfo restore ascend910b --to pristine
    """
    restored = restore(target, which, only=only, say=console.warn, **settings_of(writing))
    for left in [left for file in restored.files for left in file.left]:
        by = f"change {left.change} moved it again" if left.change else "something other than opsinfo moved it since"
        console.warn(f"`{left.name}` is left alone in {left.path}: {by}")
    return restore_answer(restored)


def restore_answer(restored: Restored) -> CommandAnswer:
    pairs = [(each.path, file) for each, file in zip(restored.restored, restored.files, strict=True)]

    def lines() -> list[Block]:
        return [
            Lines(
                f"{path} removed"
                if each.sha256 is None
                else f"{path} as it was before {each.entry.id}"
                if each.is_whole
                else f"{path} without {each.entry.record.id}: {join_some([move.name for move in each.moved])}"
                for path, each in pairs
            )
        ]

    def rows() -> list[Block]:
        columns = [Column("file"), Column("id"), Column("SHA-256")]
        return [Table(columns, [(path, each.entry.id, each.sha256 or "-") for path, each in pairs])]

    def blocks() -> list[Block]:
        if restored.dry_run:
            texts = (diff_of_bytes(path, each.current, each.content) for path, each in pairs)
            return [Diff(text) for text in texts if text]
        return [Either(lines, rows)]

    different = [each for each in restored.files if each.current != each.content]
    words = counted(len(different), "file")
    note = f"{words} {'would be restored' if restored.dry_run else 'restored'}" if different else "nothing to change"
    status = int(any(file.left for file in restored.files))
    return CommandAnswer(restored.to_dict, blocks, notes=[note], status=status, paged=False)
