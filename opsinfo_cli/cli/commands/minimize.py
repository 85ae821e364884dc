"""`opsinfo minimize`: drop the entries of a mixlist that change nothing."""

from __future__ import annotations

from collections.abc import Mapping

from ...change.moves import written_like
from ...errors import UsageFault
from ...model.mixlist import minimal, narrowed
from ...model.policy import Mark
from ...model.target import Target, TargetOptions
from ...report.views.merge import minimal_document, say_minimal
from ...text.source import Source
from ..line import declare
from ..shared.common_options import OutputOptions, WriteOptions, format_option, output_of
from ..shared.mixlist_input import fixable_mixlist
from ..shared.mixlist_output import delivered, refused, report_built
from ..shared.options import against_option, install_options, write_options
from ..shared.targets import open_targets
from ..shared.writing import WriteRun


@declare.command("minimize")
@declare.argument("mixlist")
@declare.option(
    "-o", "--output", "out", metavar="OUT", help="Write to OUT, which may be MIXLIST itself.", writes=("mixlist",)
)
@declare.option("--strict", is_flag=True, help="Exit 1, writing nothing, if an op type is in no target.")
@declare.option(
    "--model", "models", multiple=True, metavar="MODEL", help="Also drop what changes no dtype in MODEL; repeatable."
)
@against_option
@install_options
@write_options
@format_option()
def command(
    mixlist: str,
    out: str | None,
    strict: bool,
    models: tuple[str, ...],
    against: tuple[str, ...],
    options: TargetOptions,
    writing: WriteOptions,
    printing: OutputOptions,
) -> int:
    """Print a mixlist without the entries that change nothing in the targets given with --against.

    An entry is kept if any target needs it, and dropped with a warning if no target has the op type. Without
    --against, only entries that change nothing in any library are dropped. --check exits 1 if any would be.

    With --model, entries are dropped too if no node of the models has other dtypes without them, in any mixed mode
    of the targets.

    \b
    Examples:
      opsinfo minimize ops_info.json --against ascend910b
      opsinfo minimize ops_info.json --against ascend910b --against ascend910 -o ops_info.json
      opsinfo minimize ops_info.json --against ascend910b --check
      opsinfo minimize ops_info.json --against ascend910b --model model.onnx
    """
    output = output_of("minimize", printing)
    run = WriteRun("minimize", output, writing, undo=out or mixlist)
    if models and not against:
        raise UsageFault("--model requires --against")
    source = Source.read(mixlist)
    given = fixable_mixlist(source, output)
    targets = open_targets(against, output, options)
    found = minimal(given.marks, [target.operators for target in targets])
    if models:
        found = narrowed(found, _without_effect(found.marks, models, targets))
    say_minimal(output, found, targets)
    document = {"source": mixlist, **minimal_document(targets, found)}
    text = written_like(given, found.marks)
    if strict and found.unknown:
        return refused(run, out, document)
    result = delivered(run, out, text, [source])
    report_built(run, out, text, result, document)
    return run.status(result)


def _without_effect(marks: Mapping[str, frozenset[Mark]], models: tuple[str, ...], targets: list[Target]) -> list[str]:
    from ...check.mixlist import MixlistTarget
    from ...check.model import CheckedModel, without_effect

    return without_effect(marks, [CheckedModel(path) for path in models], list(map(MixlistTarget, targets)))
