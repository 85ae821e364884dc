"""`opsinfo systems convert`: convert lists to another system's files, and report every entry that is left out."""

from __future__ import annotations

import dataclasses
import os
from collections.abc import Mapping
from contextlib import nullcontext
from typing import TYPE_CHECKING

import click

from ...core.cann.onnx_opsets import OLDEST_OPSET
from ...core.cann.targets.found import TargetOptions
from ...core.change.fmt import new_file
from ...core.change.output_file import new_folder
from ...core.terminal.answer import Block, CommandAnswer, Exact
from ...core.terminal.config import Targeted, given_or_configured, too_many_configured
from ...core.terminal.console import Console
from ...core.terminal.open import accepted_mixlist, open_against, open_target_or_mixlist, require_against
from ...core.terminal.params import (
    FILE,
    TARGET,
    OutputFile,
    WriteOptions,
    install_options,
    option,
    prints,
    strict_option,
    write_options,
)
from ...core.terminal.write import diffs, notes_of_result, status_of, undoing, write_generated, write_jobs
from ...errors import UsageFault
from ..conversion import Conversion, convert
from ..input_lists import open_inputs
from ..registry import system_called
from ..system import System
from .open import FORMAT, report_losses

if TYPE_CHECKING:
    from ...core.change.plan import Result


@click.command("convert", cls=Targeted)
@click.argument("inputs", nargs=-1, type=FILE)
@option("--from", "source", type=FORMAT, required=True, help="Format of FILE; without FILE, a system's own lists.")
@option("--to", type=FORMAT, required=True, help="Format to write; `opsinfo systems list` lists them.")
@option("--against", type=TARGET, help="Target that a mixlist is a difference from.")
@install_options
@option("--model", type=FILE, help="ONNX: the model whose nodes FILE names; for a mixlist their op types.")
@option("--opset", type=click.IntRange(OLDEST_OPSET), metavar="N", help="ONNX: the opset of the model.")
@option(
    "-o",
    "--output",
    type=OutputFile("OUT", or_folder=True, backed_up=True),
    help="A file; a new directory if there are two.",
)
@strict_option
@option("--with-defaults", is_flag=True, help="Also translate the built-in entries that stay active beside FILE.")
@option("--replace", is_flag=True, help="Also move the op types that FILE does not list, as its system would.")
@option("--same-names", is_flag=True, help="Map an unknown name to the target's op type of the same name.")
@write_options()
@prints()
def command(
    inputs: tuple[str, ...],
    source: str,
    to: str,
    against: str | None,
    model: str | None,
    opset: int | None,
    output: str | None,
    with_defaults: bool,
    replace: bool,
    same_names: bool,
    options: TargetOptions,
    writing: WriteOptions,
    console: Console,
) -> CommandAnswer:
    """Convert the lists of one system to another.

    FILE is one file, or two if the format has two (Habana: the BF16 list, then the FP32 list). Only the entries of FILE
    are translated; built-in defaults and the rest of a library need --with-defaults. Every entry that cannot be
    converted is reported first, with the reason; other losses follow.

    \b
    Examples:
      opsinfo systems convert --from mixlist --to habana-autocast \
        --against ascend910b ops_info.json -o lists
      opsinfo systems convert --from habana-hmp --to mixlist \
        --against ascend910b bf16.txt fp32.txt
      opsinfo systems convert --from torch-npu --to mixlist --against ascend910b --strict
      opsinfo systems convert --from mixlist --to keep-dtype ops_info.json
    """
    target, origin = system_called(to), system_called(source.partition(":")[0])
    takes_target = bool(target.delta or (inputs and origin.input != "text"))
    against = given_or_configured("against", against, takes_target)
    if against is None and not (inputs and origin.input == "target"):
        require_against(options)
        if takes_target and (note := too_many_configured("against")):
            console.note(note)
    reads_base = target.delta or (inputs and origin.delta)
    opened = None
    if inputs:
        opened = open_inputs(
            system_called(source),
            inputs,
            lambda file: open_target_or_mixlist(file, console, options),
            lambda path: accepted_mixlist(path, console),
        )
    found = convert(
        source,
        to,
        opened,
        against=open_against(against, console, options) if against is not None and reads_base else against,
        model=model,
        opset=opset,
        output=output,
        with_defaults=with_defaults,
        replace=replace,
        same_names=same_names,
        say=console.warn,
    )
    _report(found, console)
    _require_carried(found, target, inputs)
    found = dataclasses.replace(found, dry_run=not writing.writes)
    if console.is_failed:
        console.error("warnings count as errors (--strict); nothing was written")
        return conversion_answer(dataclasses.replace(found, files=[]), status=1)
    status = 1 if found.is_partial else 0
    if output is None:
        return conversion_answer(found, status=status)
    if found.is_partial and not writing.force:
        console.error("a part of the lists was not read; nothing was written (--force writes the rest)")
        return conversion_answer(dataclasses.replace(found, files=[]), status=status)
    paths = {name: output if len(found.files) == 1 else os.path.join(output, name) for name in found.texts}
    result = _written({paths[name]: text for name, text in found.texts.items()}, output, writing, console)
    files = [dataclasses.replace(file, path=paths[file.name]) for file in found.files]
    found = dataclasses.replace(found, files=files, change=result.change)
    return conversion_answer(found, result, undoing(writing, result.change), status)


def _report(conversion: Conversion, console: Console) -> None:
    """Print every entry that was not converted, with the reason; then the other losses."""
    dropped = {entry.name for entry in conversion.entries.dropped}
    if dropped:
        console.warn(f"{len(dropped)} of {len(conversion.given)} entries are not converted:")
        console.lines(f"  {entry.name}: {entry.reason}" for entry in conversion.entries.dropped)
    losses = (loss.beyond(dropped) if loss.drops else loss for loss in conversion.losses)
    report_losses((loss for loss in losses if loss is not None), console)


def _require_carried(conversion: Conversion, target: System, inputs: tuple[str, ...]) -> None:
    """:raises UsageFault: if no entry of the user is in the result"""
    if conversion.given and not conversion.entries.carried:
        raise UsageFault(
            f"{target.name} can express none of the {len(conversion.given)} entries of {conversion.title}",
            name="unknown-name",
            hint="--same-names maps a name to the target's op type of the same name" if target.delta else None,
        )
    if inputs and not conversion.given:
        hint = "--with-defaults converts the built-in entries that apply"
        raise UsageFault(f"{', '.join(inputs)}: no entries of its own", name="no-entries", hint=hint)


def _written(texts: Mapping[str, str], out: str, writing: WriteOptions, console: Console) -> Result:
    """Write the files as one change, or plan it.

    :param texts: by path: ``out`` itself, or files in the new or empty folder ``out``
    """
    if list(texts) == [out]:
        return write_generated("systems convert", out, texts[out], [], writing, console)
    if os.path.lexists(out) and not (os.path.isdir(out) and not os.listdir(out)):
        raise UsageFault("the output exists already and is not an empty folder", name="exists", path=out)
    with new_folder(out) if writing.writes else nullcontext():
        jobs = [new_file(path, text) for path, text in texts.items()]
        return write_jobs("systems convert", jobs, writing, console)


def conversion_answer(
    conversion: Conversion, result: Result | None = None, undo: str = "", status: int = 0
) -> CommandAnswer:
    """The files themselves, or what was written.

    :param undo: the command line that undoes the change
    """

    def blocks() -> list[Block]:
        if result is not None:
            return diffs(result) if conversion.dry_run else []
        if len(conversion.files) > 1:
            message = f"this makes {len(conversion.files)} files ({', '.join(conversion.texts)})"
            raise UsageFault(message, hint="-o DIRECTORY writes them")
        return [Exact(text) for text in conversion.texts.values()]

    notes = notes_of_result(result, undo, True, False) if result is not None and not conversion.dry_run else []
    status = max(status, status_of(result, False)) if result is not None else status
    return CommandAnswer(conversion.to_dict, blocks, notes=[*notes], status=status, paged=False)
