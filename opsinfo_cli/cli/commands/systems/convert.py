"""`opsinfo systems convert`: convert one system's lists to another's files, and report every entry that is left out."""

from __future__ import annotations

import os
from typing import Any

from ....change.copies import make_in_folder
from ....change.job import Result
from ....errors import UsageFault
from ....model.target import TargetOptions
from ....neighbours.conversion import Conversion, converted, require_writer
from ....neighbours.name_tables import NEWEST_OPSET, OLDEST_OPSET
from ....neighbours.registry import lists_of, system_called
from ....neighbours.system import ConversionBase, System
from ....neighbours.translation import TranslationOptions
from ....neighbours.vocabulary import ReadLists
from ....report.terminal.output import Output
from ....report.views.conversion import conversion_document, show_conversion
from ...line import declare
from ...shared.common_options import OutputOptions, WriteOptions, format_option, output_of
from ...shared.doubts import report_doubts
from ...shared.mixlist_output import built, made
from ...shared.neighbour_lists import read_files
from ...shared.options import soc_option, write_options
from ...shared.targets import open_against
from ...shared.writing import WriteRun, writer_of


@declare.command("convert")
@declare.argument("inputs", nargs=-1, metavar="[IN]...")
@declare.option(
    "--from", "source", required=True, metavar="FORMAT", help="Format of IN; without IN, a system's built-in lists."
)
@declare.option("--to", required=True, metavar="FORMAT", help="Format to write; `opsinfo systems list` lists them.")
@declare.option("--against", metavar="TARGET", help="Target that a mixlist is a difference from.")
@soc_option
@declare.option("--opset", type=declare.IntRange(OLDEST_OPSET), metavar="N", help="ONNX: the opset of the model.")
@declare.option("-o", "--output", "out", metavar="OUT", help="A file; a new directory if there are two.", writes=())
@declare.option("--strict", is_flag=True, help="Exit 1, writing nothing, if anything cannot be converted.")
@declare.option("--with-defaults", is_flag=True, help="Also translate the built-in entries that stay active beside IN.")
@declare.option("--replace", is_flag=True, help="Also move the op types that IN does not list, as its system would.")
@declare.option("--same-names", is_flag=True, help="Map an unknown name to the target's op type of the same name.")
@write_options
@format_option()
def command(
    inputs: tuple[str, ...],
    source: str,
    to: str,
    against: str | None,
    opset: int | None,
    out: str | None,
    strict: bool,
    with_defaults: bool,
    replace: bool,
    same_names: bool,
    options: TargetOptions,
    writing: WriteOptions,
    printing: OutputOptions,
) -> int:
    """Convert the lists of one system to another.

    IN is one file, or two if the format has two (Habana: the BF16 list, then the FP32 list). Only the entries of IN are
    translated; built-in defaults and the rest of a library need --with-defaults. Every entry that cannot be
    converted is reported first, with the reason; other losses follow.

    \b
    Examples:
      opsinfo systems convert --from habana-hmp --to mixlist --against ascend910b bf16.txt fp32.txt -o m.json
      opsinfo systems convert --from mixlist --to habana-autocast --against ascend910b m.json -o lists
      opsinfo systems convert --from torch-npu --to mixlist --against fixtures/opp@ascend910b --strict
      opsinfo systems convert --from mixlist --to keep-dtype m.json
    """
    output = output_of("systems convert", printing)
    target = system_called(to)
    require_writer(target)
    if replace and not target.delta:
        raise UsageFault("--replace requires --to mixlist")
    read = _read(inputs, source, against, output, options)
    _require_defaults(with_defaults, inputs, source)
    _require_onnx(opset, read, target)
    base = _base(against, target, output, options, replace, out)
    same = _names_of(base) if same_names else frozenset()
    found = converted(read, target, base, TranslationOptions(same, opset), with_defaults)
    show_conversion(output, found)
    _require_carried(found, read, target, inputs)
    run = WriteRun("systems convert", output, writing, undo=out or "-")
    head = {"from": source, "to": to, "base": [against] if against else [], **conversion_document(found)}
    lossy = [loss for loss in found.losses if not loss.is_harmless]
    if strict and (lossy or found.dropped):
        output.say(f"{len(lossy)} steps lose information; nothing was written", "error")
        return _refused(head, run)
    return _give(found.files, out, head, run)


def _read(inputs: tuple[str, ...], source: str, base: str | None, output: Output, options: TargetOptions) -> ReadLists:
    if inputs:
        return read_files(system_called(source), inputs, base, output, options)
    if system_called(source.partition(":")[0]).facts is None:
        raise UsageFault(f"{source} has no built-in lists; give a file")
    return ReadLists(lists_of(source))


def _require_defaults(with_defaults: bool, inputs: tuple[str, ...], source: str) -> None:
    """:raises UsageFault: if --with-defaults has no effect"""
    if with_defaults and (not inputs or source == "library"):
        said = f"--with-defaults adds nothing: the lists of {source} are converted whole"
        raise UsageFault(said, hint="it applies to files beside which built-in entries stay active")


def _require_onnx(opset: int | None, read: ReadLists, target: System) -> None:
    """:raises UsageFault: if neither side uses ONNX's names"""
    if opset is not None and "onnx" not in (read.lists.names, target.names):
        raise UsageFault("--opset requires an ONNX format on one side")
    if opset is not None and opset > NEWEST_OPSET:
        raise UsageFault(f"the operators of opset {opset} are unknown", hint=f"the newest known is {NEWEST_OPSET}")


def _require_carried(found: Conversion, read: ReadLists, target: System, inputs: tuple[str, ...]) -> None:
    """:raises UsageFault: if no entry of the user is in the result"""
    if found.given and len(found.dropped) == len(found.given):
        raise UsageFault(
            f"{target.name} can express none of the {len(found.given)} entries of {read.lists.title}",
            name="unknown-name",
            hint="--same-names maps a name to the target's op type of the same name" if target.delta else None,
        )
    if inputs and not found.given:
        raise UsageFault(
            f"{', '.join(inputs)}: no entries of its own",
            name="no-entries",
            hint="--with-defaults converts the built-in entries that apply",
        )


def _base(
    against: str | None, target: System, output: Output, options: TargetOptions, everything: bool, out: str | None
) -> ConversionBase:
    """Return the target that the result differs from; empty if the format needs none."""
    if against is None or not target.delta:
        return ConversionBase(out=out)
    found = open_against(against, output, options)
    report_doubts(found, output)
    return ConversionBase(operators=found.operators, target=against, everything=everything, out=out)


def _names_of(base: ConversionBase) -> frozenset[str]:
    """:raises UsageFault: if there is no base with op types"""
    names = frozenset(base.operators.names) if base.operators else frozenset[str]()
    if not names:
        raise UsageFault("--same-names requires --against", hint="add --against TARGET")
    return names


def _refused(head: dict[str, Any], run: WriteRun) -> int:
    if run.output.format == "json":
        run.output.document({**head, "files": [], "change": None, "dry_run": not run.writes})
    return 1


def _give(texts: dict[str, str], out: str | None, head: dict[str, Any], run: WriteRun) -> int:
    """Print the files, or write them."""
    result = Result([])
    paths: dict[str, str] = {}
    if out is not None:
        single = len(texts) == 1
        paths = {name: out if single else os.path.join(out, name) for name in texts}
        if single:
            result = built(run, out, next(iter(texts.values())), [])
        else:
            result = _in_folder(out, {paths[name]: text for name, text in texts.items()}, run)
    if run.output.format == "json":
        files = [{"name": name, "path": paths.get(name), "text": text} for name, text in texts.items()]
        run.output.document({**head, "files": files, "change": result.change, "dry_run": not run.writes})
    elif out is not None:
        run.report(result)
    elif len(texts) > 1:
        raise UsageFault(f"this makes {len(texts)} files ({', '.join(texts)})", hint="-o DIRECTORY writes them")
    else:
        run.output.data("".join(texts.values()), exact=True)
    return run.status(result)


def _in_folder(out: str, texts: dict[str, str], run: WriteRun) -> Result:
    if os.path.lexists(out) and not (os.path.isdir(out) and not os.listdir(out)):
        raise UsageFault("the output exists already and is not an empty folder", name="exists", path=out)
    data = {path: text.encode() for path, text in texts.items()}
    change = make_in_folder(writer_of(run.writing, run.output), data, out, run.kind) if run.writes else None
    return Result([made(path, each) for path, each in data.items()], change)
