"""`opsinfo graph`: show the effect of a policy on a model, node by node."""

from __future__ import annotations

from ...change.output_file import require_writable
from ...errors import UsageFault
from ...graph.answer import WrittenAnswer
from ...graph.judge.modes import judge_mode
from ...model.target import TargetOptions
from ..line import declare
from ..model_graph.annotate import require_new, write_annotated
from ..model_graph.comparing import COMPARING, CompareOptions
from ..model_graph.judging import (
    FRAMEWORKS,
    JudgeOptions,
    judge_options,
    judged_model,
    opened_model,
    report_notes,
)
from ..model_graph.showing import ROWS, RowOptions, show_compared, show_rows, show_way
from ..shared.common_options import OutputOptions, format_option, output_of
from ..shared.options import install_options, out_option, pager_option

_ON = ("low", "high", "cast", "first-column", "assumed")


@declare.command("graph")
@declare.argument("model")
@judge_options
@declare.option(
    "--by", type=declare.Choice(["type", "node"]), default="type", help="Show op types or nodes.", group=ROWS
)
@declare.option("--node", metavar="NODE", help="Show why this node has its dtypes.")
@declare.option(
    "--on",
    "states",
    type=declare.Choice(_ON),
    multiple=True,
    help="Only nodes in this state; repeatable.",
    group=ROWS,
)
@declare.option(
    "--match",
    "globs",
    multiple=True,
    metavar="GLOB",
    help="Only nodes whose name or op type matches GLOB; repeatable.",
    group=ROWS,
)
@declare.option("--compare-mixlist", metavar="FILE", help="Show what this mixlist changes.", group=COMPARING)
@declare.option(
    "--compare-precision-mode", "compare_mode", metavar="MODE", help="Show what this mode changes.", group=COMPARING
)
@declare.option("--compare-against", metavar="TARGET", help="Show what this target changes.", group=COMPARING)
@declare.option("--read-back", metavar="FILE", help="Compare with this compiled model or dump.", group=COMPARING)
@declare.option(
    "--annotate", metavar="OUT", help="Write the ONNX model to OUT, dtype and reason in every node.", writes=()
)
@install_options
@out_option
@pager_option
@format_option("html")
def command(
    model: str,
    node: str | None,
    annotate: str | None,
    judging: JudgeOptions,
    rows: RowOptions,
    comparing: CompareOptions,
    options: TargetOptions,
    printing: OutputOptions,
) -> int:
    """Show which nodes of MODEL run in low precision, why, and how many Casts that costs.

    MODEL is a compiled model (.om), a GE dump, ATC JSON, ONNX or TensorFlow. Without --precision-mode the dtypes of
    a compiled model or dump are shown as it has them.

    Exit status 1 if a comparison finds a difference.

    \b
    Examples:
      opsinfo graph model.onnx --against ascend910b --precision-mode mixed_float16
      opsinfo graph model.onnx --against ascend910b --precision-mode mixed_float16 --node Softmax_12
      opsinfo graph model.om
      opsinfo graph model.om --format html -o model.html
      opsinfo graph m.om --against ascend910b --precision-mode mixed_float16 --compare-mixlist a.json
      opsinfo graph model.onnx --against ascend310 --precision-mode force_fp16 --read-back model.om
    """
    output = output_of("graph", printing)
    _require_one_answer(rows, node, comparing, output.format)
    for mode in (judging.mode, comparing.compare_mode):
        if mode is not None:
            judge_mode(mode)
    if annotate is not None:
        if judging.mode is None:
            raise UsageFault("--annotate requires --precision-mode", name="needs-mode")
        require_new(annotate)
    if printing.out is not None:
        require_writable(printing.out)
    graph = opened_model(model, output)
    if judging.mode is None:
        _require_written(graph.model.format, judging, comparing, node)
        outcome = WrittenAnswer(graph)
        report_notes(outcome, None, output)
        return show_rows(output, outcome, rows, None)
    judged = judged_model(graph, judging, options, output)
    report_notes(judged.answer, judged, output)
    if annotate is not None:
        write_annotated(model, judged, annotate, output)
    if node is not None:
        return show_way(output, judged, node)
    if comparing.given:
        return show_compared(output, judged, comparing, options)
    return show_rows(output, judged.answer, rows, judged)


def _require_one_answer(rows: RowOptions, node: str | None, comparing: CompareOptions, format: str) -> None:
    """:raises UsageFault: if options ask for two answers, or choose rows of a table that is not shown"""
    compares = list(comparing.given)
    if len(compares) > 1:
        raise UsageFault("only one of --compare-mixlist, --compare-precision-mode, --compare-against and --read-back")
    if node is not None and compares:
        raise UsageFault("--node cannot be combined with a comparison")
    if not rows.given:
        return
    if node is not None or compares:
        raise UsageFault(f"{rows.given[0]} cannot be combined with {'--node' if node is not None else 'a comparison'}")
    if format == "html":
        hint = "the page shows op types and nodes, and has a search and filters"
        raise UsageFault(f"{rows.given[0]} cannot be combined with --format html", hint=hint)


def _require_written(format: str, judging: JudgeOptions, comparing: CompareOptions, node: str | None) -> None:
    """:raises UsageFault: if the model holds no dtypes of the engine, or an option needs a mode"""
    if format in FRAMEWORKS:
        said = f"--precision-mode is required: the dtypes of this {FRAMEWORKS[format]} model are not chosen yet"
        hint = "add --precision-mode MODE and --against TARGET; `opsinfo modes` lists modes"
        raise UsageFault(said, name="needs-mode", hint=hint)
    given = {f"--{name.replace('_', '-')}": value for name, value in judging._asdict().items()}
    needs = {
        **{word: value for word, value in given.items() if word not in ("--mode", "--columns")},
        "--node": node,
        **comparing.given,
    }
    for word, value in needs.items():
        if value is not None:
            hint = "add --precision-mode MODE; `opsinfo modes` lists modes"
            raise UsageFault(f"{word} requires --precision-mode", name="needs-mode", hint=hint)
