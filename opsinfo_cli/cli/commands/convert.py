"""`opsinfo convert`: one system's lists as another's files, with everything that gets lost said."""

from __future__ import annotations

import os
from typing import Any

from ...change.copies import make_in_folder
from ...change.writer import Result
from ...errors import UsageFault
from ...model.target import TargetOptions
from ...neighbours.conversion import converted
from ...neighbours.homes import Base, Written
from ...neighbours.placed import Told
from ...neighbours.systems import SYSTEMS, System, lists_of, names_system, system_called
from ...report.terminal.output import Output
from ...report.views.neighbours import loss_document, say_losses
from ..line import declare
from ..shared.common_options import OutputOptions, WriteOptions, format_option, output_of
from ..shared.doubts import report_doubts
from ..shared.mixlist_output import built, made
from ..shared.neighbour_lists import read_files
from ..shared.options import soc_option, write_options
from ..shared.targets import open_against
from ..shared.writing import WriteRun, writer_of


@declare.command("convert")
@declare.argument("inputs", nargs=-1, metavar="[IN]...")
@declare.option(
    "--from", "source", required=True, metavar="FORMAT", help="Format of IN; without IN, the system's own lists."
)
@declare.option("--to", required=True, metavar="FORMAT", help="Format to write; `opsinfo systems` lists the formats.")
@declare.option("--base", "bases", multiple=True, metavar="TARGET", help="Baseline the output is a difference against.")
@soc_option
@declare.option("-o", "--output", "out", metavar="OUT", help="Output file, or a new directory if there are two files.")
@declare.option("--strict", is_flag=True, help="Exit 1, writing nothing, if anything cannot be converted.")
@declare.option("--replace", is_flag=True, help="Also move op types that IN does not list, as its system treats them.")
@declare.option("--same-names", is_flag=True, help="Treat an unknown name as the op type of that name in the base.")
@write_options
@format_option()
def command(
    inputs: tuple[str, ...],
    source: str,
    to: str,
    bases: tuple[str, ...],
    out: str | None,
    strict: bool,
    replace: bool,
    same_names: bool,
    options: TargetOptions,
    writing: WriteOptions,
    printing: OutputOptions,
) -> int:
    """Convert the lists of one system to another.

    IN is one file, or two if the format has two (Habana: the BF16 list, then the FP32 list). Names are translated
    by a table of sourced facts; every name or property that cannot be converted is reported.

    \b
    Examples:
      opsinfo convert --from habana-hmp --to mixlist --base ascend910b bf16.txt fp32.txt -o m.json
      opsinfo convert --from mixlist --to habana-autocast --base ascend910b m.json -o lists
      opsinfo convert --from torch-npu --to mixlist --base ascend910b --strict
      opsinfo convert --from library --to tensorflow --base tensorflow ascend910b
    """
    output = output_of("convert", printing)
    target = _writable(to)
    if replace and target.name not in ("mixlist", "mindspore-lite"):
        raise UsageFault("--replace requires a mixlist: the other formats list every operator")
    base = next((each for each in bases if not names_system(each)), None)
    told = _told(inputs, source, base, output, options)
    made = _base(bases, target, output, options, replace, out)
    same = frozenset(made.operators.names) if same_names and made.operators else frozenset()
    if same_names and not same:
        raise UsageFault("--same-names requires --base", hint="add --base TARGET")
    written = converted(told, target, made, same)
    say_losses(output, written.losses)
    lossy = [loss for loss in written.losses if not loss.is_harmless]
    run = WriteRun("convert", output, writing, undo=out or "-")
    head = {"from": source, "to": to, "base": list(bases), "losses": [loss_document(loss) for loss in written.losses]}
    if strict and lossy:
        output.say(f"{len(lossy)} conversions lose something; nothing was written", "error")
        return _refused(head, run)
    return _give(written, out, head, run)


def _writable(name: str) -> System:
    system = system_called(name)
    if system.writes is None:
        known = ", ".join(each.name for each in SYSTEMS.values() if each.writes)
        raise UsageFault(f"{name} cannot be written", name="not-writable", hint=f"these can: {known}")
    return system


def _told(inputs: tuple[str, ...], source: str, base: str | None, output: Output, options: TargetOptions) -> Told:
    if inputs:
        return read_files(system_called(source), inputs, base, output, options)
    if system_called(source.partition(":")[0]).facts is None:
        raise UsageFault(f"{source} has no lists of its own; a file is required")
    return Told(lists_of(source))


def _base(
    bases: tuple[str, ...], target: System, output: Output, options: TargetOptions, everything: bool, out: str | None
) -> Base:
    """The baseline of the result; an empty one if the format is not a difference."""
    wants_lists = target.name == "tensorflow"
    base = next((each for each in bases if names_system(each) is wants_lists), None)
    if base is None or not target.delta:
        return Base(out=out)
    if wants_lists:
        return Base(lists=lists_of(base), out=out)
    found = open_against(base, output, options)
    report_doubts(found, output)
    return Base(operators=found.operators, target=base, everything=everything, out=out)


def _refused(head: dict[str, Any], run: WriteRun) -> int:
    if run.output.format == "json":
        run.output.document({**head, "files": [], "change": None, "dry_run": not run.writes})
    return 1


def _give(written: Written, out: str | None, head: dict[str, Any], run: WriteRun) -> int:
    """Print the files, or write them."""
    result = Result([])
    paths: dict[str, str] = {}
    if out is not None:
        single = len(written.files) == 1
        paths = {name: out if single else os.path.join(out, name) for name in written.files}
        if single:
            result = built(run, out, next(iter(written.files.values())), [])
        else:
            result = _in_folder(out, {paths[name]: text for name, text in written.files.items()}, run)
    if run.output.format == "json":
        files = [{"name": name, "path": paths.get(name), "text": text} for name, text in written.files.items()]
        run.output.document({**head, "files": files, "change": result.change, "dry_run": not run.writes})
    elif out is not None:
        run.report(result)
    elif len(written.files) > 1:
        names = ", ".join(written.files)
        raise UsageFault(f"the output has {len(written.files)} files ({names})", hint="-o DIRECTORY writes them")
    else:
        run.output.data("".join(written.files.values()), exact=True)
    return run.status(result)


def _in_folder(out: str, texts: dict[str, str], run: WriteRun) -> Result:
    if os.path.lexists(out) and not (os.path.isdir(out) and not os.listdir(out)):
        raise UsageFault("-o names a path that exists and is not an empty directory", name="exists", path=out)
    data = {path: text.encode() for path, text in texts.items()}
    change = make_in_folder(writer_of(run.writing, run.output), data, out, run.kind) if run.writes else None
    return Result([made(path, each) for path, each in data.items()], change)
