"""`opsinfo snapshot`: save a target's operators to a small file, for machines without CANN."""

from __future__ import annotations

import click

from ...errors import UsageFault
from ..cann.file_kind import is_library_name, kind_of
from ..cann.snapshot import Edited
from ..cann.target import snapshot
from ..cann.targets.found import TargetOptions
from ..terminal.answer import CommandAnswer, Exact
from ..terminal.console import Console
from ..terminal.open import open_target
from ..terminal.params import (
    TARGET,
    Command,
    OutputFile,
    WriteOptions,
    check_option,
    option,
    prints,
    target_options,
    write_options,
)
from ..terminal.write import answer_of_target, write_generated
from ..text.source import Source


@click.command("snapshot", cls=Command)
@click.argument("target", type=TARGET)
@option(
    "-o",
    "--output",
    type=OutputFile(replaces=["target"], backed_up=True),
    help="Write to FILE instead of standard output.",
)
@target_options
@write_options(check_option)
@prints()
def command(
    target: str, output: str | None, options: TargetOptions, writing: WriteOptions, console: Console
) -> CommandAnswer:
    """Save the op types, policies and dtype columns of TARGET to a file, for use without CANN.

    The file is small and sorted, and does not depend on the machine. It can be used wherever a TARGET is read, mainly
    with --against, and cannot be edited. --check exits 1 if FILE is out of date.

    \b
    Examples:
      opsinfo snapshot ascend910b
      opsinfo snapshot ascend910b -o ascend910b.opsinfo.json
      opsinfo validate ops_info.json --against ascend910b.opsinfo.json
      opsinfo diff ascend910b.opsinfo.json ascend910b
    """
    if output is None and (console.format == "json" or not writing.writes):
        raise UsageFault("--format json, --check and --dry-run require -o", hint="add -o FILE")
    if output is not None and is_library_name(output):
        raise UsageFault("the engine would load this file as a library", name="wrong-place", path=output)
    opened = open_target(target, console, options)
    edited = [Edited(each.name, each.before, each.now) for each in console.edited_here]
    text = snapshot(opened, edited=edited, say=console.warn)
    if opened.soc is None:
        console.note("the chip of the target is unknown: findings will name the file only")
    if output is None:
        return CommandAnswer(dict, lambda: [Exact(text)])
    result = write_generated("snapshot", output, text, [], writing, console, _require_snapshot)
    return answer_of_target(result, output, writing, console)


def _require_snapshot(source: Source) -> None:
    """:raises UsageFault: if the file is not a snapshot"""
    if kind_of(source) != "snapshot":
        hint = "choose another name, or remove it first"
        raise UsageFault("-o names a file that is not a snapshot", name="exists", path=source.path, hint=hint)
