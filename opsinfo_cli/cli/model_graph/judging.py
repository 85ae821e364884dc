"""Judge a model by the options of the command line."""

from __future__ import annotations

from typing import NamedTuple

from ...errors import UsageFault
from ...graph.answer import Answer, GraphAnswer
from ...graph.graph import ModelGraph
from ...graph.judge.kernels import DEFAULT_SOURCES
from ...graph.judge.modes import FP16_OP_TYPES, judge_mode, mode_by_number
from ...graph.judging import Ready, prepare
from ...graph.options.atc import AtcOptions
from ...graph.options.customize_dtypes import CustomizeDtypes
from ...graph.options.fe_ini import fp16_op_types
from ...graph.options.keep_dtype import KeepDtype
from ...graph.readers import read_graph
from ...graph.readers.command import options as command_options
from ...model.mixlist import Mixlist
from ...model.precision_mode import MODES
from ...model.target import Target, TargetOptions
from ...report.formats.summary import counted
from ...report.terminal.output import Output
from ...report.terminal.progress import Progress, step
from ..line import declare
from ..shared.common_options import Option
from ..shared.doubts import report_doubts, report_unknown
from ..shared.mixlist_input import accepted_mixlist
from ..shared.targets import open_against


class JudgeOptions(NamedTuple):
    """How to judge a model.

    :param mode: a precision mode; None shows the dtypes of the file
    :param columns: sources of dtype columns, with commas
    """

    against: str | None
    mode: str | None
    mixlist: str | None
    keep_dtype: str | None
    customize_dtypes: str | None
    fe_ini: str | None
    columns: str
    output_type: str | None
    input_fp16_nodes: str | None
    is_weight_clip: str | None
    insert_op_conf: str | None

    @property
    def atc(self) -> AtcOptions:
        return AtcOptions(self.output_type, self.input_fp16_nodes, self.is_weight_clip, self.insert_op_conf)


JUDGING = declare.Group("judging", JudgeOptions)
FRAMEWORKS = {"onnx": "ONNX", "tensorflow": "TensorFlow", "saved-model": "TensorFlow"}
"""Formats without dtypes of the engine, and their names in messages."""

judge_options: Option = declare.stacked(
    declare.option(
        "--against", metavar="TARGET", help="Judge by the policies and dtypes of this target.", group=JUDGING
    ),
    declare.option("--precision-mode", "mode", metavar="MODE", help="Judge in this precision mode.", group=JUDGING),
    declare.option("--mixlist", metavar="FILE", help="Judge with this mixlist.", group=JUDGING),
    declare.option("--keep-dtype", metavar="FILE", help="Judge with this keep_dtype file.", group=JUDGING),
    declare.option("--customize-dtypes", metavar="FILE", help="Judge with this customize_dtypes file.", group=JUDGING),
    declare.option(
        "--fe-ini", metavar="FILE", help="Read fp16.op_type from this fe.ini.", group=JUDGING, advanced=True
    ),
    declare.option(
        "--columns",
        metavar="SOURCES",
        default="library,kernel,assumed",
        show_default=True,
        help="Where dtype columns come from, in this order.",
        group=JUDGING,
        advanced=True,
    ),
    declare.option(
        "--output-type",
        metavar="DTYPE",
        help="Dtype of the outputs, as atc --output_type.",
        group=JUDGING,
        advanced=True,
    ),
    declare.option(
        "--input-fp16-nodes",
        metavar="NAMES",
        help="Inputs in float16, separated by semicolons, as atc --input_fp16_nodes.",
        group=JUDGING,
        advanced=True,
    ),
    declare.option(
        "--is-weight-clip",
        type=declare.Choice(["0", "1"]),
        help="Whether constants are clipped, as atc --is_weight_clip.",
        group=JUDGING,
        advanced=True,
    ),
    declare.option(
        "--insert-op-conf",
        metavar="FILE",
        help="AIPP configuration, as atc --insert_op_conf.",
        group=JUDGING,
        advanced=True,
    ),
)


class JudgedModel(NamedTuple):
    """A model, its judge options, and the answer.

    :param ready: for judging it again
    """

    graph: ModelGraph
    options: JudgeOptions
    answer: Answer
    ready: Ready
    mixlist: Mixlist | None


def opened_model(path: str, output: Output) -> ModelGraph:
    """Return a model's graph, and report what the reader could not read.

    :raises Refused: if the file cannot be read or is not a model
    """
    progress = Progress(output, [path])
    try:
        graph = read_graph(path, progress)
    finally:
        progress.done()
    for note in graph.model.notes:
        output.say(f"{path}: {note.message}")
    if graph.model.atc_cmdline:
        said = command_options(graph.model.command)
        mode = said.get("precision_mode_v2") or said.get("precision_mode")
        output.say(f"compiled by: {graph.model.atc_cmdline}")
        output.say(f"precision mode of that command: {mode or 'not named, so its default'}")
        if said.get("modify_mixlist"):
            output.say(f"mixlist of that command: {said['modify_mixlist']}")
    elif (number := graph.model.graph_precision_mode) is not None:
        named = mode_by_number(number)
        output.say(f"precision mode in the file: {named.name if named else number}")
    return graph


def judged_model(
    graph: ModelGraph, options: JudgeOptions, target_options: TargetOptions, output: Output
) -> JudgedModel:
    """Judge a graph.

    :raises UsageFault: if an option is wrong or a target is missing
    :raises Refused: if a file cannot be read, or the engine refuses it
    """
    assert options.mode is not None
    sources = [word for word in options.columns.split(",") if word]
    if not sources:
        known = ", ".join(DEFAULT_SOURCES)
        raise UsageFault("--columns names no source", name="needs-columns", hint=f"known sources: {known}")
    target = _target(options, sources, target_options, output)
    mode = judge_mode(options.mode)
    mixlist = accepted_mixlist(options.mixlist, output) if options.mixlist else None
    if mixlist and target:
        report_unknown(mixlist, target.operators, output)
    if mixlist and not mode.is_mixed:
        output.say(f"the engine refuses a mixlist with {mode.name} (E10001); it is ignored here", "warning")
    if target and target.soc and mode.name in MODES and not MODES[mode.name].is_on(target.soc):
        output.say(f"{target.soc} does not have the mode {mode.name}", "warning")
    keep_dtype = KeepDtype.read(options.keep_dtype) if options.keep_dtype else None
    customize_dtypes = CustomizeDtypes.read(options.customize_dtypes) if options.customize_dtypes else None
    fp16_types = fp16_op_types(options.fe_ini) if options.fe_ini else FP16_OP_TYPES
    with step(output, "judging", len(graph)):
        ready = prepare(
            graph,
            target,
            columns=sources,
            keep_dtype=keep_dtype,
            customize_dtypes=customize_dtypes,
            fp16_types=fp16_types,
            atc=options.atc,
        )
        answer = ready.judge(options.mode, mixlist)
    _report_option_files(answer.graph, keep_dtype, customize_dtypes, output)
    with step(output, "finding the Casts of", len(graph)):
        _ = answer.counts
    return JudgedModel(graph, options, answer, ready, mixlist)


_MOST_LINES = 5


def _report_option_files(
    graph: ModelGraph, keep_dtype: KeepDtype | None, customize_dtypes: CustomizeDtypes | None, output: Output
) -> None:
    """Warn of lines that the compiler ignores, and of those that name nothing in the graph."""
    files = [(keep_dtype.path, keep_dtype.faults(graph))] if keep_dtype else []
    if customize_dtypes:
        files.append((customize_dtypes.path, [*customize_dtypes.faults, *customize_dtypes.unmatched(graph)]))
    for path, faults in files:
        for fault in faults[:_MOST_LINES]:
            output.say(f"{path}:{fault.line}:{fault.column}: {fault.message}", "warning")
        if len(faults) > _MOST_LINES:
            output.say(f"{path}: {len(faults) - _MOST_LINES} more lines are ignored or name nothing", "warning")


def _target(options: JudgeOptions, sources: list[str], chosen: TargetOptions, output: Output) -> Target | None:
    if options.against is None:
        if sources != ["assumed"]:
            raise UsageFault(
                "--precision-mode requires --against TARGET",
                name="needs-target",
                hint="--columns assumed judges without a target; every operator is then gray",
            )
        return None
    target = open_against(options.against, output, chosen)
    report_doubts(target, output)
    return target


def report_notes(outcome: GraphAnswer, judged: JudgedModel | None, output: Output) -> None:
    """Report the assumptions of an answer, and what it does not consider."""
    for text in _written(outcome.graph) if judged is None else _confidence(judged):
        output.say(text)
    for text in _ignored(judged):
        output.say(text, "warning")


def notes(outcome: GraphAnswer, judged: JudgedModel | None) -> list[str]:
    """Return the same as sentences, with what the reader could not do."""
    found = [note.message for note in outcome.graph.model.notes]
    found += _written(outcome.graph) if judged is None else _confidence(judged)
    return [*found, *_ignored(judged)]


def _written(graph: ModelGraph) -> list[str]:
    """Return whether the dtypes of a file were chosen by the engine."""
    judged, has_casts = graph.model.judged, graph.model.has_casts
    if judged is None:
        return ["unknown whether the engine has chosen these dtypes"]
    if not judged:
        return ["the engine has not chosen dtypes yet: these are the original ones"]
    if has_casts is None:
        return ["the engine has chosen these dtypes"]
    casts = "its Casts are in the graph" if has_casts else "it has not inserted its Casts yet"
    return [f"the engine has chosen these dtypes; {casts}"]


def _confidence(judged: JudgedModel) -> list[str]:
    counts = judged.answer.counts
    found = []
    if counts.assumed:
        found.append(f"dtypes assumed for {counted(counts.assumed, 'node')}: the kernels choose them at compile time")
    if counts.first_column:
        nodes = counted(counts.first_column, "node")
        found.append(f"the first column for {nodes}, because none fits; --on first-column shows them")
    if judged.graph.model.predicted:
        found.append("a prediction: op types and nodes may change when the compiler fuses operators")
    considered = judged.answer.considered
    found += [f"considered: {option}" for option in considered.applied]
    if considered.unknown:
        found.append(f"not considered: {', '.join(f'--{name}' for name in considered.unknown)} of atc")
    return found


def _ignored(judged: JudgedModel | None) -> list[str]:
    """Return the options of the model's command that were not applied, with the reasons."""
    if judged is None:
        return []
    return [f"not considered: {option}: {why}" for option, why in judged.answer.considered.ignored.items()]


def facts(outcome: GraphAnswer, judged: JudgedModel | None) -> list[tuple[str, str]]:
    """Return facts about a model and how it was judged: (name, value)."""
    model = outcome.graph.model
    found: list[tuple[str, str | None]] = [("Format", model.format), ("Compiled for", model.soc_version)]
    if judged is not None:
        given = judged.options
        found += [("Mode", given.mode), ("Target", given.against), ("Mixlist", given.mixlist)]
        found += [("keep_dtype", given.keep_dtype), ("customize_dtypes", given.customize_dtypes)]
        found += [("fe.ini", given.fe_ini), ("Columns", given.columns)]
    found.append(("Compiled by", model.atc_cmdline))
    return [(name, value) for name, value in found if value]
