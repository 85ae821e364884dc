"""`opsinfo systems convert`: convert lists to another system's files, and report every entry that is left out."""

from __future__ import annotations

import os
from collections.abc import Mapping
from contextlib import nullcontext
from typing import TYPE_CHECKING, Any

import click

from ...core.cann.onnx_plugins import NEWEST_OPSET, OLDEST_OPSET
from ...core.cann.target import TargetOptions
from ...core.change.output_file import new_folder
from ...core.change.plan import Result
from ...core.terminal.answer import Answer, Block, Exact, members
from ...core.terminal.changes import change_notes, diffs, status_of
from ...core.terminal.config import Targeted, given_or_configured, too_many_configured
from ...core.terminal.console import Console
from ...core.terminal.open import open_against, report_doubts, require_against
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
from ...core.terminal.write import built, changed, new_file, undoing
from ...errors import UsageFault
from ..conversion import Conversion, convert, require_writer
from ..registry import lists_of, system_called
from ..system import ConversionOptions, System
from ..vocabulary import ReadLists
from .open import FORMAT, read_files, report_losses

if TYPE_CHECKING:
    from ...core.change.plan import Result
    from ..conversion import Conversion


@click.command("convert", cls=Targeted)
@click.argument("inputs", nargs=-1, type=FILE)
@option("--from", "source", type=FORMAT, required=True, help="Format of FILE; without FILE, a system's own lists.")
@option("--to", type=FORMAT, required=True, help="Format to write; `opsinfo systems list` lists them.")
@option("--against", type=TARGET, help="Target that a mixlist is a difference from.")
@install_options
@option("--opset", type=click.IntRange(OLDEST_OPSET), metavar="N", help="ONNX: the opset of the model.")
@option("-o", "--output", type=OutputFile("OUT"), help="A file; a new directory if there are two.")
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
    opset: int | None,
    output: str | None,
    with_defaults: bool,
    replace: bool,
    same_names: bool,
    options: TargetOptions,
    writing: WriteOptions,
    console: Console,
) -> Answer:
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
    target = system_called(to)
    require_writer(target)
    if replace and not target.delta:
        raise UsageFault("--replace requires --to mixlist")
    origin = system_called(source.partition(":")[0])
    takes_target = target.delta or (inputs and origin.input in ("mixlist", "target"))
    against = given_or_configured("against", against, bool(takes_target))
    if against is None and not (inputs and origin.input == "target"):
        require_against(options)
        if not (inputs and origin.input == "mixlist") and takes_target and (note := too_many_configured("against")):
            console.note(note)  # else where the mixlist is read
    if against is not None and not target.delta and not (inputs and origin.input == "mixlist"):
        raise UsageFault("--against requires a mixlist to read or to write")
    if inputs:
        read = read_files(system_called(source), inputs, against, console, options)
    elif origin.facts is None:
        raise UsageFault(f"{source} has no built-in lists; give a file")
    else:
        read = ReadLists(lists_of(source))
    _require_fitting(with_defaults and (not inputs or source == "library"), opset, source, read, target)
    asked = ConversionOptions(everything=replace, out=output, opset=opset, with_defaults=with_defaults)
    if against is not None and target.delta:
        opened = open_against(against, console, options)
        report_doubts(opened, console)
        asked = asked._replace(operators=opened.operators, target=against)
    if same_names and asked.operators is None:
        raise UsageFault("--same-names requires --against", hint="add --against TARGET")
    if same_names and asked.operators:
        asked = asked._replace(same=frozenset(asked.operators.names))
    conversion = convert(read, target, asked)
    _report(conversion, console)
    _require_carried(conversion, read, target, inputs)
    head = {"from": source, "to": to, "base": [against] if against else []}
    if console.is_failed:
        console.error("warnings count as errors (--strict); nothing was written")
        return conversion_answer(conversion._replace(files={}), head, not writing.writes, status=1)
    if output is None:
        return conversion_answer(conversion, head, not writing.writes)
    files = conversion.files
    paths = {name: output if len(files) == 1 else os.path.join(output, name) for name in files}
    result = _written({paths[name]: text for name, text in files.items()}, output, writing, console)
    return conversion_answer(conversion, head, not writing.writes, paths, result, undoing(writing, output))


def _require_fitting(useless_defaults: bool, opset: int | None, source: str, read: ReadLists, target: System) -> None:
    """:raises UsageFault: if an option has no effect"""
    if useless_defaults:
        message = f"--with-defaults adds nothing: the lists of {source} are converted whole"
        raise UsageFault(message, hint="it applies to files beside which built-in entries stay active")
    if opset is not None and "onnx" not in (read.lists.names, target.names):
        raise UsageFault("--opset requires an ONNX format on one side")
    if opset is not None and opset > NEWEST_OPSET:
        raise UsageFault(f"the operators of opset {opset} are unknown", hint=f"the newest known is {NEWEST_OPSET}")


def _report(conversion: Conversion, console: Console) -> None:
    """Print every entry that was not converted, with the reason; then the other losses."""
    dropped = {entry.name for entry in conversion.dropped}
    if dropped:
        console.warn(f"{len(dropped)} of {len(conversion.given)} entries are not converted:")
        console.lines(f"  {entry.name}: {entry.reason}" for entry in conversion.dropped)
    losses = (loss.beyond(dropped) if loss.drops else loss for loss in conversion.losses)
    report_losses((loss for loss in losses if loss is not None), console)


def _require_carried(conversion: Conversion, read: ReadLists, target: System, inputs: tuple[str, ...]) -> None:
    """:raises UsageFault: if no entry of the user is in the result"""
    if conversion.given and len(conversion.dropped) == len(conversion.given):
        raise UsageFault(
            f"{target.name} can express none of the {len(conversion.given)} entries of {read.lists.title}",
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
        return built("systems convert", out, texts[out], [], writing, console)
    if os.path.lexists(out) and not (os.path.isdir(out) and not os.listdir(out)):
        raise UsageFault("the output exists already and is not an empty folder", name="exists", path=out)
    with new_folder(out) if writing.writes else nullcontext():
        jobs = [new_file(path, text) for path, text in texts.items()]
        return changed("systems convert", jobs, writing, console)


def conversion_answer(
    conversion: Conversion,
    head: Mapping[str, Any],
    dry_run: bool,
    paths: Mapping[str, str] | None = None,
    result: Result | None = None,
    undo: str = "",
    status: int = 0,
) -> Answer:
    """The files themselves, or what was written.

    :param head: the first keys of the document
    :param paths: where each file is written
    :param undo: the command line that undoes the change
    """

    def document() -> dict[str, Any]:
        files = [
            {"name": name, "path": (paths or {}).get(name), "text": text} for name, text in conversion.files.items()
        ]
        entries = {
            "given": len(conversion.given),
            "carried": len(conversion.given) - len(conversion.dropped),
            "dropped": [entry._asdict() for entry in conversion.dropped],
        }
        losses = [
            {**members(loss, "kind", "message", "names", "details"), "lossy": not loss.is_harmless}
            for loss in conversion.losses
        ]
        change = result.change if result else None
        tail = {"added": conversion.added, "losses": losses, "files": files, "change": change}
        return {**head, "entries": entries, **tail, "dry_run": dry_run}

    def blocks() -> list[Block]:
        if result is not None:
            return diffs(result) if dry_run else []
        if len(conversion.files) > 1:
            message = f"this makes {len(conversion.files)} files ({', '.join(conversion.files)})"
            raise UsageFault(message, hint="-o DIRECTORY writes them")
        return [Exact(text) for text in conversion.files.values()]

    notes = change_notes(result, undo, True, False) if result is not None and not dry_run else []
    status = status_of(result, False) if result is not None else status
    return Answer(document, blocks, notes=[*notes], status=status, paged=False)
