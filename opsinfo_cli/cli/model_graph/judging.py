"""A model judged as the command line asks."""

from __future__ import annotations

from ...errors import UsageFault
from ...graph.answer import Answer
from ...graph.customize_dtypes import CustomizeDtypes
from ...graph.fe_ini import fp16_op_types
from ...graph.graph import ModelGraph
from ...graph.judge.modes import FP16_OP_TYPES, judge_mode, mode_by_number
from ...graph.judging import Ready, prepare
from ...graph.keep_dtype import KeepDtype
from ...graph.outcome import GraphOutcome, judged_outcome
from ...graph.readers import read_graph
from ...graph.readers.command import options as command_options
from ...model.mixlist import Mixlist
from ...model.precision_mode import MODES
from ...model.target import Target, TargetOptions
from ...report.formats.summary import counted
from ...report.terminal.output import Output
from ...report.terminal.progress import Progress
from ...typed import NamedTuple
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


JUDGING = declare.Group("judging", JudgeOptions)

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
)


class JudgedModel(NamedTuple):
    """A model, how it was judged, and the answer.

    :param ready: for judging it again
    """

    graph: ModelGraph
    options: JudgeOptions
    answer: Answer
    outcome: GraphOutcome
    ready: Ready
    mixlist: Mixlist | None


_NOT_CONSIDERED = ("output_type", "input_fp16_nodes", "is_weight_clip", "insert_op_conf")
"""Options of atc that change dtypes and that the judge does not read."""


def opened_model(path: str, output: Output) -> ModelGraph:
    """A model's graph; what the reader could not do is reported.

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


def report_written(graph: ModelGraph, output: Output) -> None:
    """Report whether the dtypes that are shown are the engine's answer."""
    judged, has_casts = graph.model.judged, graph.model.has_casts
    if judged is None:
        output.say("unknown whether the engine has chosen these dtypes")
    elif not judged:
        output.say("the engine has not chosen dtypes yet: these are the original ones")
    elif has_casts is None:
        output.say("the engine has chosen these dtypes")
    else:
        casts = "its Casts are in the graph" if has_casts else "it has not inserted its Casts yet"
        output.say(f"the engine has chosen these dtypes; {casts}")


def judged_model(
    graph: ModelGraph, options: JudgeOptions, target_options: TargetOptions, output: Output
) -> JudgedModel:
    """Judge a graph.

    :raises UsageFault: if an option is wrong or a target is missing
    :raises Refused: if a file cannot be read, or the engine refuses it
    """
    assert options.mode is not None
    sources = [word for word in options.columns.split(",") if word]
    target = _target(options, sources, target_options, output)
    mode = judge_mode(options.mode)
    mixlist = accepted_mixlist(options.mixlist, output) if options.mixlist else None
    if mixlist and target:
        report_unknown(mixlist, target.operators, output)
    if mixlist and not mode.is_mixed:
        output.say(f"the engine refuses a mixlist with {mode.name} (E10001); it is ignored here", "warning")
    if target and target.soc and mode.name in MODES and not MODES[mode.name].is_on(target.soc):
        output.say(f"{target.soc} does not have the mode {mode.name}", "warning")
    ready = prepare(
        graph,
        target,
        columns=sources,
        keep_dtype=KeepDtype.read(options.keep_dtype) if options.keep_dtype else None,
        customize_dtypes=CustomizeDtypes.read(options.customize_dtypes) if options.customize_dtypes else None,
        fp16_types=fp16_op_types(options.fe_ini) if options.fe_ini else FP16_OP_TYPES,
    )
    answer = ready.judge(options.mode, mixlist)
    return JudgedModel(graph, options, answer, judged_outcome(answer), ready, mixlist)


def _target(options: JudgeOptions, sources: list[str], chosen: TargetOptions, output: Output) -> Target | None:
    if options.against is None:
        if sources != ["assumed"]:
            raise UsageFault(
                "--precision-mode requires --against TARGET",
                name="needs-target",
                hint="--columns assumed judges without a target, every operator gray",
            )
        return None
    target = open_against(options.against, output, chosen)
    report_doubts(target, output)
    return target


def report_confidence(judged: JudgedModel, output: Output) -> None:
    """Report what the answer rests on, and what it leaves out."""
    counts = judged.answer.counts
    if counts.assumed:
        output.say(f"dtypes assumed for {counted(counts.assumed, 'node')}: the kernels choose them at compile time")
    if counts.first_column:
        nodes = counted(counts.first_column, "node")
        output.say(f"the first column for {nodes}, because none fits; --on first-column shows them")
    if judged.graph.model.predicted:
        output.say("a prediction: op types and nodes may change when the compiler fuses operators")
    given = command_options(judged.graph.model.command)
    ignored = [f"--{name}={given[name]}" for name in _NOT_CONSIDERED if given.get(name)]
    if ignored:
        output.say(f"not considered: {', '.join(ignored)}", "warning")
    else:
        output.say(f"not considered: {', '.join(f'--{name}' for name in _NOT_CONSIDERED)} of atc")
