"""`opsinfo restore`: undo the last change, or restore a backup."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from typing import Any

import click

from ...errors import UsageFault, counted
from ..change.restore import Restored, restore_any
from ..terminal import completion
from ..terminal.answer import Answer, Block, Column, Diff, Either, Lines, Table
from ..terminal.console import Console
from ..terminal.params import TARGET, Command, Word, WriteOptions, option, prints, write_options
from ..terminal.unified_diff import diff_of_bytes
from ..terminal.write import writer_of


@click.command("restore", cls=Command)
@click.argument("target", type=TARGET)
@option("--to", "which", type=Word("ID", completion.backup_ids), help="Id of a backup or change, or `pristine`.")
@option("--only", is_flag=True, help="Leave the other files of the change as they are.")
@write_options()
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


def restore_answer(target: str, change: str | None, restored: Sequence[Restored], dry_run: bool) -> Answer:
    """:param change: the id of the restore; None if nothing was written"""
    paths = {each.path: _as_given(target, each.path) for each in restored}

    def document() -> Mapping[str, Any]:
        files = [{"path": paths[each.path], "id": each.entry.id, "sha256": each.sha256} for each in restored]
        return {"restored": files, "change": change, "dry_run": dry_run}

    def lines() -> list[Block]:
        return [
            Lines(
                f"{paths[each.path]} as it was before {each.entry.id}" if each.sha256 else f"{paths[each.path]} removed"
                for each in restored
            )
        ]

    def rows() -> list[Block]:
        columns = [Column("file"), Column("id"), Column("SHA-256")]
        return [Table(columns, [(paths[each.path], each.entry.id, each.sha256 or "-") for each in restored])]

    def blocks() -> list[Block]:
        if dry_run:
            texts = (diff_of_bytes(paths[each.path], each.current, each.content) for each in restored)
            return [Diff(text) for text in texts if text]
        return [Either(lines, rows)]

    different = [each for each in restored if each.current != each.content]
    words = counted(len(different), "file")
    note = f"{words} {'would be restored' if dry_run else 'restored'}" if different else "nothing to change"
    return Answer(document, blocks, notes=[note], paged=False)


def _as_given(target: str, real: str) -> str:
    """Return a real path relative to the TARGET as given."""
    if not os.path.lexists(target):
        return real
    inside = os.path.relpath(real, os.path.realpath(target))
    return target if inside == "." else real if inside.startswith("..") else os.path.join(target, inside)
