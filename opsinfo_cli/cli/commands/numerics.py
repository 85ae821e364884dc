"""`opsinfo numerics`: show floating-point formats, and the losses of values and tensors in them."""

from __future__ import annotations

import os

from ...errors import UsageFault
from ...model.policy import Policy
from ...model.target import TargetOptions
from ...numerics.number_format import FORMATS, Rounded, parse_number, rounded, special
from ...report.terminal.output import Output
from ..line import declare
from ..shared.common_options import OutputOptions, format_option, output_of
from ..shared.options import against_soc_option, pager_option
from ..shared.targets import open_against


@declare.command("numerics", context_settings={"ignore_unknown_options": True})
@declare.argument("given", nargs=-1, metavar="[VALUE|FILE.npy|DIR]...")
@declare.option(
    "--low",
    type=declare.Choice(list(FORMATS)),
    default="fp16",
    show_default=True,
    help="Format that operators are ranked by.",
)
@declare.option("--against", metavar="TARGET", help="Show the policy of the dumped operators in this target.")
@against_soc_option
@pager_option
@format_option()
def command(
    given: tuple[str, ...], low: str, against: str | None, options: TargetOptions, printing: OutputOptions
) -> int:
    """Show number formats: bits, largest value, smallest normal and subnormal value, epsilon.

    For a VALUE: the nearest value in each format, its bits, the relative error and the outcome. For a FILE.npy: the
    share of values that overflow, become subnormal, become zero or are rounded by more than 2^-11, and the loss
    scale that avoids it. Files named as Ascend dumps (OpType.opname.taskid.timestamp.output.N.npy) are grouped by
    op type, the worst first: the candidates for the black list. Files require numpy.

    \b
    Examples:
      opsinfo numerics
      opsinfo numerics 65519 65520 1e-8 -0.1
      opsinfo numerics gradient.npy
      opsinfo numerics dump/ --against ascend910b --low fp16
    """
    output = output_of("numerics", printing)
    files = [each for each in given if _is_file(each)]
    if files and len(files) < len(given):
        values = [each for each in given if each not in files]
        raise UsageFault(f"values and files cannot be mixed: `{values[0]}` is a value", name="mixed")
    if not files and against:
        raise UsageFault("--against requires dumped tensors", hint="give .npy files, or a directory of them")
    if files:
        _tensors(files, low, against, options, output)
    elif given:
        _values(given, output)
    else:
        _formats(output)
    return 0


def _is_file(text: str) -> bool:
    return text.endswith(".npy") or os.path.isdir(text) or os.path.isfile(text) or "/" in text.lstrip("0123456789/")


def _formats(output: Output) -> None:
    from ...report.views.numerics import formats_document, show_formats

    if output.format == "json":
        output.document(formats_document())
    else:
        show_formats(output)
        output.tell(
            "hif8: limits of its published encoding; its precision falls from 3 bits near 1 to 1 bit", prose=True
        )


def _values(texts: tuple[str, ...], output: Output) -> None:
    from ...report.views.numerics import show_values, values_document

    values = [(text, _in_each(text)) for text in texts]
    if output.format == "json":
        output.document(values_document(values))
    else:
        show_values(output, values)


def _in_each(text: str) -> dict[str, Rounded]:
    """:raises UsageFault: if the text is not a number"""
    if special(text, FORMATS["fp64"]):
        return {name: found for name, each in FORMATS.items() if (found := special(text, each))}
    try:
        exact = parse_number(text)
    except (ValueError, OverflowError) as error:
        hint = "unknown option" if text.startswith("-") and not text[1:2].isdigit() else str(error)[:200]
        raise UsageFault(f"`{text[:80]}` is neither a number nor a file", name="not-a-number", hint=hint) from None
    return {name: rounded(exact, each, text.strip().startswith("-")) for name, each in FORMATS.items()}


def _tensors(given: list[str], low: str, against: str | None, options: TargetOptions, output: Output) -> None:
    from ...numerics.dump_name import dump_files
    from ...numerics.operator_losses import by_operator
    from ...numerics.tensor_losses import load_numpy, read_tensor
    from ...report.views.numerics import show_operators, show_tensors, tensors_document

    load_numpy()
    for path in given:
        if os.path.isdir(path) and not dump_files(path):
            raise UsageFault("the folder has no .npy files", name="no-files", path=path)
    target = open_against(against, output, options) if against else None
    operators = target.operators if target else None
    tensors = []
    for path in [path for each in given for path in (dump_files(each) if os.path.isdir(each) else [each])]:
        tensor = read_tensor(path)
        if tensor is None:
            output.say(f"{path} has no floating-point values")
        else:
            tensors.append(tensor)
            _say_odd(tensor.path, tensor.not_finite, output)
    grouped = by_operator(tensors, low)
    policies: dict[str, Policy | None] = {
        each.type: operators[each.type].entry.policy if operators and each.type in operators else None
        for each in grouped
    }
    if output.format == "json":
        output.document(tensors_document(tensors, grouped, policies, low))
    elif grouped:
        others = len(tensors) - sum(each.files for each in grouped)
        if others:
            said = "1 file is" if others == 1 else f"{others} files are"
            output.say(f"{said} not named as a dump, so the operator is unknown", "warning")
        show_operators(output, grouped, policies)
        _tell_candidates([each.type for each in grouped if each.is_candidate], policies, low, output)
    else:
        show_tensors(output, tensors)


def _say_odd(path: str, not_finite: int, output: Output) -> None:
    if not_finite:
        output.say(f"{path}: {not_finite} values are already infinite or NaN", "warning")


def _tell_candidates(types: list[str], policies: dict[str, Policy | None], low: str, output: Output) -> None:
    open_ones = [each for each in types if policies[each] is not Policy.BLACK]
    if open_ones:
        output.tell(f"candidates for the black list in {low}: {', '.join(open_ones)}", prose=True)
