"""`opsinfo restore`: undo the last change, or restore a backup."""

from __future__ import annotations

import os

from ...change.restore import Restored, restore_last, restore_to
from ...report.escape import row, visible
from ...report.formats.unified_diff import diff_of_bytes
from ...report.terminal.output import Output
from ..line import declare
from ..shared.common_options import WRITE, OutputOptions, WriteOptions, format_option, output_of
from ..shared.options import lock_options
from ..shared.writing import scope_of, writer_of


@declare.command("restore")
@declare.argument("target")
@declare.option("--to", "which", metavar="ID", help="Id of a backup or change, or `pristine`.")
@declare.option("--force", is_flag=True, help="Restore even if the file has changed since.")
@declare.option("-n", "--dry-run", is_flag=True, group=WRITE, help="Show what would be restored; write nothing.")
@lock_options
@format_option()
def command(target: str, which: str | None, force: bool, writing: WriteOptions, printing: OutputOptions) -> int:
    """Undo the last change of TARGET as a whole; with --to, restore one backup.

    The replaced content is backed up first, so a restore can be undone too.

    \b
    Examples:
      opsinfo restore ascend910b
      opsinfo restore ops_info.json --to pristine
    """
    output = output_of("restore", printing)
    writer, scope = writer_of(writing, output), scope_of(target)
    if which is None:
        change, restored = restore_last(writer, scope, force, writing.dry_run)
    else:
        change, restored = restore_to(writer, scope, which, force, writing.dry_run)
    paths = {each.path: _as_given(target, each.path) for each in restored}
    if output.format == "json":
        documents = [{"path": paths[each.path], "id": each.entry.id, "sha256": each.sha256} for each in restored]
        output.document({"restored": documents, "change": change, "dry_run": writing.dry_run})
    elif writing.dry_run:
        for each in restored:
            output.diff(diff_of_bytes(paths[each.path], each.current, each.content))
    else:
        output.lines(_line(output, each, paths[each.path]) for each in restored)
    if output.format == "text":
        _tell(output, [each for each in restored if each.current != each.content], writing.dry_run)
    return 0


def _tell(output: Output, different: list[Restored], dry_run: bool) -> None:
    if not different:
        output.tell("nothing to change")
        return
    verb = "would be restored" if dry_run else "restored"
    output.tell(f"{len(different)} file{'' if len(different) == 1 else 's'} {verb}")


def _line(output: Output, each: Restored, path: str) -> str:
    if not output.on_terminal:
        return row(path, each.entry.id, each.sha256 or "-")
    return f"{visible(path)} as it was before {each.entry.id}" if each.sha256 else f"{visible(path)} removed"


def _as_given(target: str, real: str) -> str:
    """Return a real path relative to the TARGET as given."""
    if not os.path.lexists(target):
        return real
    inside = os.path.relpath(real, os.path.realpath(target))
    return target if inside == "." else real if inside.startswith("..") else os.path.join(target, inside)
