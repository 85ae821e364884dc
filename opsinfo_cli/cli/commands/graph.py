"""`opsinfo graph`: what a policy does to a model, node by node."""

from __future__ import annotations

from collections.abc import Iterator

from ...errors import UsageFault
from ...graph.comparison import compared
from ...graph.constants import constant_faults
from ...graph.judge.modes import judge_mode
from ...graph.outcome import GraphOutcome, NodeOutcome, lowest_first, summarised, written_outcome
from ...graph.read_back import read_back
from ...model.near_names import did_you_mean
from ...model.target import TargetOptions
from ...report.terminal.output import Output
from ...report.views.graph import (
    say_constants,
    say_summary,
    show_comparison,
    show_nodes,
    show_path,
    show_read_back,
    show_types,
)
from ...report.views.graph_document import (
    comparison_document,
    constants_document,
    graph_document,
    path_document,
    read_back_document,
)
from ...typed import TYPE_CHECKING, NamedTuple
from ..line import declare
from ..model_graph.annotate import require_new, write_annotated
from ..model_graph.judging import (
    JudgedModel,
    JudgeOptions,
    judge_options,
    judged_model,
    opened_model,
    report_confidence,
    report_written,
)
from ..shared.common_options import OutputOptions, format_option, output_of
from ..shared.options import install_options, match_option, matches, out_option, pager_option

if TYPE_CHECKING:
    from typing import Any


class CompareOptions(NamedTuple):
    """A second judging, or a compiled model, to compare with; at most one."""

    compare_mixlist: str | None
    compare_mode: str | None
    compare_against: str | None
    read_back: str | None


_COMPARE = declare.Group("comparing", CompareOptions)
_ON = ("low", "high", "cast", "first-column", "assumed")


@declare.command("graph")
@declare.argument("model")
@judge_options
@declare.option("--by", type=declare.Choice(["type", "node"]), default="type", help="Show op types or nodes.")
@declare.option("--node", metavar="NODE", help="Show why this node has its dtypes.")
@declare.option("--on", "states", type=declare.Choice(_ON), multiple=True, help="Only nodes in this state; repeatable.")
@match_option
@declare.option("--compare-mixlist", metavar="FILE", help="Show what this mixlist changes.", group=_COMPARE)
@declare.option(
    "--compare-precision-mode", "compare_mode", metavar="MODE", help="Show what this mode changes.", group=_COMPARE
)
@declare.option("--compare-against", metavar="TARGET", help="Show what this target changes.", group=_COMPARE)
@declare.option("--read-back", metavar="FILE", help="Compare with this compiled model or dump.", group=_COMPARE)
@declare.option("--annotate", metavar="OUT", help="Write the ONNX model to OUT, dtype and reason in every node.")
@install_options
@out_option
@pager_option
@format_option()
def command(
    model: str,
    by: str,
    node: str | None,
    states: tuple[str, ...],
    globs: tuple[str, ...],
    annotate: str | None,
    judging: JudgeOptions,
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
      opsinfo graph m.om --against ascend910b --precision-mode mixed_float16 --compare-mixlist a.json
      opsinfo graph model.onnx --against ascend310 --precision-mode force_fp16 --read-back model.om
    """
    output = output_of("graph", printing)
    _require_one(comparing)
    _require_whole(by == "node", states, globs, node, comparing)
    for mode in (judging.mode, comparing.compare_mode):
        if mode is not None:
            judge_mode(mode)
    if annotate is not None:
        if judging.mode is None:
            raise UsageFault("--annotate requires --precision-mode", name="needs-mode")
        require_new(annotate)
    graph = opened_model(model, output)
    if judging.mode is None:
        _require_written(graph.model.format, judging, comparing, node)
        report_written(graph, output)
        return _show(output, written_outcome(graph), by, states, globs, None)
    judged = judged_model(graph, judging, options, output)
    report_confidence(judged, output)
    if annotate is not None:
        write_annotated(model, judged, annotate, output)
    if node is not None:
        return _show_path(output, judged, node)
    if any(value is not None for value in comparing):
        return _compare(output, judged, comparing, options)
    return _show(output, judged.outcome, by, states, globs, judged)


def _require_one(comparing: CompareOptions) -> None:
    given = [value for value in comparing if value is not None]
    if len(given) > 1:
        raise UsageFault("only one of --compare-mixlist, --compare-precision-mode, --compare-against and --read-back")


def _require_whole(
    by_node: bool, states: tuple[str, ...], globs: tuple[str, ...], node: str | None, comparing: CompareOptions
) -> None:
    """:raises UsageFault: if an option chooses rows of a table that another option replaces"""
    compares = any(value is not None for value in comparing)
    if node is not None and compares:
        raise UsageFault("--node cannot be combined with a comparison")
    rows = [word for word, given in (("--by node", by_node), ("--on", states), ("--match", globs)) if given]
    if rows and (node is not None or compares):
        raise UsageFault(f"{rows[0]} cannot be combined with {'--node' if node is not None else 'a comparison'}")


_FRAMEWORKS = {"onnx": "ONNX", "tensorflow": "TensorFlow", "saved-model": "TensorFlow"}


def _require_written(format: str, judging: JudgeOptions, comparing: CompareOptions, node: str | None) -> None:
    """:raises UsageFault: if the model holds no dtypes of the engine, or an option needs a mode"""
    if format in _FRAMEWORKS:
        said = f"--precision-mode is required: the dtypes of this {_FRAMEWORKS[format]} model are not chosen yet"
        hint = "add --precision-mode MODE and --against TARGET; `opsinfo modes` lists modes"
        raise UsageFault(said, name="needs-mode", hint=hint)
    compare_mixlist, compare_mode, compare_against, back = comparing
    needs = {
        "--against": judging.against,
        "--mixlist": judging.mixlist,
        "--keep-dtype": judging.keep_dtype,
        "--customize-dtypes": judging.customize_dtypes,
        "--fe-ini": judging.fe_ini,
        "--node": node,
        "--compare-mixlist": compare_mixlist,
        "--compare-precision-mode": compare_mode,
        "--compare-against": compare_against,
        "--read-back": back,
    }
    for word, given in needs.items():
        if given is not None:
            raise UsageFault(f"{word} requires --precision-mode", name="needs-mode")


def _show(
    output: Output,
    outcome: GraphOutcome,
    by: str,
    states: tuple[str, ...],
    globs: tuple[str, ...],
    judged: JudgedModel | None,
) -> int:
    if judged and by == "type" and output.format != "json" and not states and not globs:
        rows, types = [], lowest_first(judged.answer.types)  # the reasons of 100,000 nodes take seconds
    else:
        rows = list(_chosen(outcome, states, globs))
        types = summarised(rows)
    check = constant_faults(judged.answer) if judged else None
    if output.format == "json":
        constants = constants_document(check) if check else {}
        output.document({**graph_document(outcome, rows, types), **constants})
        return 0
    if by == "node":
        show_nodes(output, rows)
    else:
        show_types(output, types)
    if check:
        say_constants(output, check)
    say_summary(output, outcome, types)
    return 0


def _chosen(outcome: GraphOutcome, states: tuple[str, ...], globs: tuple[str, ...]) -> Iterator[NodeOutcome]:
    with_casts = {name for cast in outcome.casts for name in (cast.producer, cast.consumer)} if "cast" in states else ()
    for row in outcome:
        if globs and not (matches(row.name, globs) or matches(row.type, globs)):
            continue
        found = {row.runs, row.code, row.confidence, "cast" if row.name in with_casts else None}
        if not states or found & {*states}:
            yield row


def _show_path(output: Output, judged: JudgedModel, name: str) -> int:
    columns = judged.answer.graph.columns
    try:
        steps = judged.answer.path_of(name)
    except KeyError:
        hint = did_you_mean(name, columns.names) or "--by node lists the nodes"
        raise UsageFault(f"unknown node `{name}`", name="unknown-node", hint=hint) from None
    if output.format == "json":
        row = judged.outcome.row(steps[0].node)
        document = graph_document(judged.outcome, [row], summarised([row]))
        output.document({**document, **path_document(steps, columns.names, columns.types)})
    else:
        show_path(output, steps, columns.names, columns.types)
    return 0


def _compare(output: Output, judged: JudgedModel, comparing: CompareOptions, options: TargetOptions) -> int:
    document: dict[str, Any]
    if comparing.read_back is not None:
        back = read_back(judged.outcome, _compiled(comparing.read_back, output))
        differs, document = bool(back.differs), read_back_document(back)
        if output.format == "text":
            show_read_back(output, back)
    else:
        found = compared(judged.outcome, _other(judged, comparing, options, output).outcome)
        differs, document = bool(found), comparison_document(found)
        if output.format == "text":
            show_comparison(output, found)
    if output.format == "json":
        rows = list(judged.outcome)
        output.document({**graph_document(judged.outcome, rows, summarised(rows)), **document})
    return int(differs)


def _compiled(path: str, output: Output) -> GraphOutcome:
    """:raises UsageFault: if the model holds no dtypes of the engine"""
    graph = opened_model(path, output)
    if graph.model.format in _FRAMEWORKS or graph.model.judged is False:
        said = f"{path}: no compiled model, and no dump made after the engine chose dtypes"
        raise UsageFault(said, name="not-compiled")
    return written_outcome(graph)


def _other(judged: JudgedModel, comparing: CompareOptions, options: TargetOptions, output: Output) -> JudgedModel:
    own = judged.options
    return judged_model(
        judged.graph,
        own._replace(
            mixlist=comparing.compare_mixlist or own.mixlist,
            mode=comparing.compare_mode or own.mode,
            against=comparing.compare_against or own.against,
        ),
        options,
        output,
    )
