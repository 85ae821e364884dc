"""`opsinfo graph`: show the effect of a policy on a model, node by node."""

from __future__ import annotations

import os
from dataclasses import asdict, dataclass, replace
from functools import partial

import click

from ....core.cann.input_shapes import parse_shapes, stated_shapes
from ....core.cann.option_files import keep_dtype_text
from ....core.cann.targets.found import TargetOptions
from ....core.change.output_file import require_writable, write_file
from ....core.terminal.answer import CommandAnswer
from ....core.terminal.atc_option import OF_GRAPH, PROFILES, atc_in_use, tell_atc
from ....core.terminal.config import Targeted, given_or_configured
from ....core.terminal.console import Console
from ....core.terminal.open import report_no_match, require_against
from ....core.terminal.params import (
    FILE,
    GLOB,
    MODE,
    TABLE,
    TARGET,
    Choice,
    OutputFile,
    Word,
    advanced,
    bundle,
    install_options,
    option,
    prints,
    shape_option,
    strict_option,
)
from ....errors import NoVerdict, UsageFault, counted
from ....near_names import NearNames, did_you_mean, matches
from ...graph.api import open_model
from ...graph.constants import constant_faults
from ...graph.cost import Cost, cost_of, moved_nodes, read_prices
from ...graph.document import NodeAnswer
from ...graph.evidence import read_evidence
from ...graph.fusion_result import beside, is_fusion_result, read_fusion_result
from ...graph.graph import NOT_COMPUTED, ModelGraph
from ...graph.judge.modes import judge_mode
from ...graph.limits import limits_of
from ...graph.moves import moves_of
from ...graph.node_names import ending_with
from ...graph.read_back import read_back
from ...graph.readers import read_graph
from ...graph.result import Answer, GraphAnswer, WrittenAnswer, compare
from ...graph.shape_profiles import ShapeProfile, batch_profiles, dims_profiles
from ...graph.verdict import nothing_judged
from ..judge_options import (
    JudgedModel,
    JudgeOptions,
    judge_model,
    judge_options,
    model_argument,
    require_model,
    shapes_of,
)
from ..model_explorer import not_drawn, require_onnx
from .document import GraphView
from .suspects import evidence_answer, most_suspect, not_movable_hint
from .tables import comparison_answer, fusion_result_answer, path_answer, profiles_answer, read_back_answer, rows_answer

_MOST_NAMED = 5
_ON = ("low", "high", "cast", "first-column", "assumed")


@dataclass(frozen=True)
class RowOptions:
    """Which rows are shown."""

    by: str = "type"
    states: tuple[str, ...] = ()
    globs: tuple[str, ...] = ()

    @property
    def words(self) -> list[str]:
        words = (("--by node", self.by == "node"), ("--on", self.states), ("--match", self.globs))
        return [word for word, given in words if given]


@dataclass(frozen=True)
class CompareOptions:
    """A second judging, or a compiled model, to compare with; at most one."""

    compare_mixlist: str | None = None
    compare_precision_mode: str | None = None
    compare_against: str | None = None
    read_back: str | None = None

    @property
    def words(self) -> dict[str, str]:
        return {f"--{name.replace('_', '-')}": value for name, value in asdict(self).items() if value is not None}


@click.command("graph", cls=Targeted)
@model_argument
@judge_options
@shape_option
@bundle(
    "rows",
    RowOptions,
    option("--by", type=Choice(["type", "node"]), default="type", help="Show op types or nodes."),
    option(
        "--on",
        "states",
        type=Choice(_ON),
        multiple=True,
        help="Only nodes in this state, cast: at an inserted Cast; repeatable.",
    ),
    option(
        "--match", "globs", type=GLOB, multiple=True, help="Only nodes whose name or op type matches GLOB; repeatable."
    ),
)
@option("--node", type=Word("NODE"), help="Show why this node has its dtypes.")
@bundle(
    "comparing",
    CompareOptions,
    option("--compare-mixlist", type=FILE, help="Show what this mixlist changes."),
    option("--compare-precision-mode", type=MODE, help="Show what this mode changes."),
    advanced("--compare-against", type=TARGET, help="Show what this target changes."),
    option("--read-back", type=FILE, help="Compare with this compiled model, dump or fusion_result.json."),
)
@option(
    "--evidence",
    type=TABLE,
    multiple=True,
    help="Show which nodes this evidence suspects: result_*.csv, JSON of simulate, dump.json; repeatable.",
)
@option("--profile", type=TABLE, multiple=True, help="Show what the mixlist moves to high, in the time of this table.")
@option(
    "--write-keep-dtype",
    type=OutputFile("OUT"),
    help="Write the names of the nodes that --match and --on choose to OUT, a keep_dtype file.",
)
@strict_option
@install_options
@prints("mixlist", "html", "model-explorer", out=True)
def command(
    model: str | None,
    shapes: tuple[str, ...],
    node: str | None,
    evidence: tuple[str, ...],
    profile: tuple[str, ...],
    write_keep_dtype: str | None,
    judging: JudgeOptions,
    rows: RowOptions,
    comparing: CompareOptions,
    options: TargetOptions,
    console: Console,
) -> CommandAnswer:
    """Show which nodes of MODEL run in low precision, why, and how many Casts that costs.

    MODEL is a compiled model (.om), a GE dump, ATC JSON, ONNX or TensorFlow. The dtypes of a compiled model or dump
    are shown as it has them, unless an option asks for a choice.

    Exit status 1 if a comparison finds a difference or nothing could be judged, and with --strict if there is a
    warning, as where atc refuses the model.

    \b
    Examples:
      opsinfo graph model.onnx --against ascend910b
      opsinfo graph --atc convert.sh --against ascend910b
      opsinfo graph model.onnx --against ascend910b --node softmax
      opsinfo graph model.onnx --against ascend910b --by node --on high
      opsinfo graph model.onnx --against ascend910b --compare-mixlist ops_info.json
      opsinfo graph model.onnx --against ascend910b --evidence result_20260101000000.csv
      opsinfo graph model.onnx --match 'fc*' --write-keep-dtype keep_dtype.cfg
      opsinfo graph model.onnx --against ascend910b --format html -o model.html
      opsinfo graph ge_proto_00020_FeTopoSortingAfter.txt --against ascend910b \
        --read-back ge_proto_00099_Build.txt
    """
    _require_one_answer(rows, node, comparing, console.format)
    if write_keep_dtype is not None:
        if not rows.globs and not rows.states:
            raise UsageFault("--write-keep-dtype requires --match or --on", name="needs-match")
        _require_new("--write-keep-dtype", write_keep_dtype)
    model = require_model(model)
    _require_evidence_alone(evidence, rows, node, comparing, profile, write_keep_dtype, console.format)
    judging.require_mode()
    _require_list(profile, judging, comparing, node)
    if comparing.compare_precision_mode is not None:
        judge_mode(comparing.compare_precision_mode)
    if console.out is not None:
        require_writable(console.out)
    tell_atc(console, (*OF_GRAPH, *PROFILES))
    graph = open_model(model, console, shapes_of(shapes))
    if console.format == "model-explorer":
        require_onnx(graph)
        if message := not_drawn(graph):
            console.note(message)
    alone = not (rows.words or comparing.words or node or evidence or profile or write_keep_dtype)
    if shape_profiles := _profiles(graph, shapes, alone and console.format in ("text", "json"), console):
        return _judge_profiles(judge_model(graph, judging, options, console), shape_profiles, console)
    given = replace(
        judging,
        against=given_or_configured("against", judging.against, False),
        mode=given_or_configured("mode", judging.mode, False),
    )
    asks = given != JudgeOptions() or node is not None or bool(evidence)
    is_written = not graph.model.predicted or (write_keep_dtype is not None and not rows.states)
    if is_written and not asks and not comparing.words:
        require_against(options)
        written = WrittenAnswer(graph)
        view = GraphView(written, _facts(written, None), _caveats(written, None))
        return _rows(view, rows, write_keep_dtype, console)
    judged = judge_model(graph, judging, options, console)
    for option_, why in judged.answer.considered.ignored.items():
        console.warn(f"not considered: {option_}: {why}")
    view = GraphView(judged.answer, _facts(judged.answer, judged), _caveats(judged.answer, judged))
    if evidence:
        shown = _evidence(view, judged, evidence, console)
    elif node is not None:
        shown = _path(view, judged, node)
    elif comparing.words:
        shown = _compare(view, judged, comparing, rows.by, profile, options, console)
    else:
        if profile:
            without_list = judged.prepared.judge(judged.answer.mode.name)
            view = replace(view, cost=_cost(without_list, judged.answer, profile, console))
        with console.progress("checking constants"):
            view = replace(view, constants=constant_faults(judged.answer))
        shown = _rows(view, rows, write_keep_dtype, console)
    return _with_verdict(shown, judged.answer)


def _with_verdict(shown: CommandAnswer, *answers: Answer) -> CommandAnswer:
    """Return what is shown, as a failure if it rests on an answer in which nothing was judged."""
    fault = next(filter(None, map(nothing_judged, answers)), None)
    return shown._replace(status=1, fault=fault) if fault else shown


def _profiles(graph: ModelGraph, shapes: tuple[str, ...], alone: bool, console: Console) -> list[ShapeProfile]:
    """Return the shapes for which the command of ``--atc`` compiles the model; none if another answer is asked for.

    :raises UsageFault: if they do not fit the model
    """
    command = atc_in_use()
    given = [(name, value) for name in PROFILES if command and (value := command.value(name))]
    if not given:
        return []
    name, value = given[0]
    if not alone or len(given) > 1 or not graph.model.predicted:
        why = "this answer has one profile" if not alone else "the model has its shapes, or several options set them"
        console.note(f"not considered: --{name} of the command: {why}")
        return []
    if name == "dynamic_batch_size":
        return batch_profiles(value, graph.model.inputs)
    stated = list(parse_shapes(shapes))  # their order is that of the sizes, as in atc
    order = {name: number for number, name in enumerate(stated)}
    inputs = sorted(graph.model.inputs, key=lambda model_input: order.get(model_input.name, len(order)))
    return dims_profiles(value, inputs, f"--{name}")


def _judge_profiles(judged: JudgedModel, profiles: list[ShapeProfile], console: Console) -> CommandAnswer:
    model = judged.graph.model
    answers = []
    with console.progress("judging profiles", len(profiles)) as advance:
        for profile in profiles:
            shapes = {**model.shapes, **profile.shapes}
            graph = read_graph(model.path or "", shapes_of=partial(stated_shapes, shapes)).compiled_by(model.command)
            answers.append(judged.prepared.preparation.of(graph).judge(judged.answer.mode.name, judged.mixlist))
            advance(1)
    judged = judged._replace(answer=answers[0])
    view = GraphView(answers[0], _facts(answers[0], judged), _caveats(answers[0], judged))
    return _with_verdict(profiles_answer(view, profiles, answers), *answers)


def _require_one_answer(rows: RowOptions, node: str | None, comparing: CompareOptions, format: str) -> None:
    """:raises UsageFault: if options ask for two answers, or choose rows of a table that is not shown"""
    compares = list(comparing.words)
    if len(compares) > 1:
        raise UsageFault("only one of --compare-mixlist, --compare-precision-mode, --compare-against and --read-back")
    if node is not None and compares:
        raise UsageFault("--node cannot be combined with a comparison")
    if format == "model-explorer" and (node is not None or compares):
        other = "--node" if node is not None else compares[0]
        raise UsageFault(f"{other} cannot be combined with --format model-explorer", hint="--format html has both")
    if not rows.words:
        return
    given = [word for word in rows.words if word != "--by node" or comparing.read_back or not compares]
    if given and (node is not None or compares):
        raise UsageFault(f"{given[0]} cannot be combined with {'--node' if node is not None else 'a comparison'}")
    if format == "html":
        hint = "the page shows op types and nodes, and has a search and filters"
        raise UsageFault(f"{rows.words[0]} cannot be combined with --format html", hint=hint)


def _require_evidence_alone(
    evidence: tuple[str, ...],
    rows: RowOptions,
    node: str | None,
    comparing: CompareOptions,
    profile: tuple[str, ...],
    keep_dtype: str | None,
    format: str,
) -> None:
    """:raises UsageFault: if evidence is given with an option of another answer, or a mixlist without evidence"""
    if not evidence and format == "mixlist":
        raise UsageFault(
            "--format mixlist requires --evidence", hint="--match GLOB --write-keep-dtype OUT writes names"
        )
    others = {"--node": node, "--profile": profile, "--write-keep-dtype": keep_dtype}
    given = [*(word for word, value in others.items() if value), *rows.words, *comparing.words]
    if format in ("html", "model-explorer"):
        given.append(f"--format {format}")
    if evidence and given:
        raise UsageFault(f"--evidence cannot be combined with {given[0]}")


def _require_list(profile: tuple[str, ...], judging: JudgeOptions, comparing: CompareOptions, node: str | None) -> None:
    """:raises UsageFault: if a profile is given, and nothing that it prices"""
    lists = comparing.compare_mixlist or (judging.mixlist and not comparing.words and node is None)
    if profile and not lists:
        hint = "`opsinfo profile TABLE` shows the time of all op types"
        raise UsageFault("--profile requires --mixlist or --compare-mixlist", name="needs-mixlist", hint=hint)


def _cost(before: Answer, after: Answer, profile: tuple[str, ...], console: Console) -> Cost:
    return cost_of(before, after, moved_nodes(before, after), read_prices(after.graph, profile, console))


def _require_new(word: str, out: str) -> None:
    """:raises UsageFault: if ``out`` exists
    :raises Refused: if no file can be written there
    """
    if os.path.lexists(out):
        raise UsageFault(f"{word}: {out} exists already", name="exists", hint="choose another name, or remove it")
    require_writable(out)


def _rows(view: GraphView, rows: RowOptions, keep_dtype: str | None, console: Console) -> CommandAnswer:
    chosen = _choose(view.answer, rows, console)
    if keep_dtype is not None:
        _write_keep_dtype(view.answer, chosen or [], keep_dtype, console)
    return rows_answer(view, rows.by, chosen)


def _choose(answer: GraphAnswer, rows: RowOptions, console: Console) -> list[NodeAnswer] | None:
    """Return the rows that the options choose; None for all."""
    if not rows.states and not rows.globs:
        return None
    states, globs = rows.states, rows.globs
    at_casts = {index for cast in answer.casts for index in (cast.producer, cast.consumer)} if "cast" in states else ()

    def states_of(row: NodeAnswer) -> set[str | None]:
        first_column = row.code == "first-column"  # no other code: the one of the user's own Casts is `cast`
        own = ("first-column", first_column), ("cast", row.index in at_casts)
        return {row.runs, row.confidence, *(word for word, holds in own if holds)}

    chosen = [
        row
        for row in answer
        if (not globs or matches(row.name, globs) or matches(row.type, globs))
        and (not states or not states_of(row).isdisjoint(states))
    ]
    if not chosen and len(answer):
        report_no_match(console, len(answer), {"--on": states, "--match": globs}, "nodes")
    return chosen


def _write_keep_dtype(answer: GraphAnswer, rows: list[NodeAnswer], out: str, console: Console) -> None:
    """Write a keep_dtype file of the nodes that compute; of a fused one, those that it was made of.

    :raises UsageFault: if none of the rows computes
    :raises Refused: if the file cannot be written
    """
    computing = [answer.graph[row.index] for row in rows if row.type not in NOT_COMPUTED]
    names = list(dict.fromkeys(name for node in computing for name in node.part_names))
    if not names:
        hint = "--by node without it lists the nodes that --match and --on choose"
        raise UsageFault(f"no node that computes was chosen; {out} was not written", name="no-match", hint=hint)
    write_file(out, keep_dtype_text(names).encode())
    console.note(f"wrote {out}: {counted(len(names), 'node')}")


def _path(view: GraphView, judged: JudgedModel, name: str) -> CommandAnswer:
    """:param name: of a node, or its end behind a slash; `...` stands for what was left out, as `--by node` prints it
    :raises UsageFault: if the graph has no node of this name, or several end so
    """
    names = judged.answer.graph.names
    whole = [name] if judged.answer.find(name) else ending_with(name, names)
    if len(whole) > 1:
        listed = ", ".join(f"`{end}`" for end in whole[:_MOST_NAMED])
        hint = f"give more of the name: {listed}{' ...' if len(whole) > _MOST_NAMED else ''}"
        raise UsageFault(f"{len(whole)} nodes end with `{name}`", name="ambiguous-node", hint=hint)
    if not whole:
        hint = did_you_mean(name, NearNames(names)) or "--by node lists the nodes"
        raise UsageFault(f"unknown node `{name}`", name="unknown-node", hint=hint)
    steps = judged.answer.path_of(whole[0])
    return path_answer(replace(view, constants=constant_faults(judged.answer)), steps)


def _evidence(view: GraphView, judged: JudgedModel, paths: tuple[str, ...], console: Console) -> CommandAnswer:
    """:raises Refused: if evidence cannot be read, or a mixlist is asked for and moves no suspect"""
    with console.progress("reading evidence") as advance:
        evidence = read_evidence(paths, judged.answer.graph, advance)
    suspects, listed = most_suspect(evidence)
    with console.progress("asking what moves the suspects"):
        groups = [suspect.nodes for suspect in suspects]
        moves = moves_of(judged.prepared, judged.answer, judged.mixlist, groups, listed)
    if console.format == "mixlist" and not moves.added:
        raise NoVerdict(
            "no suspect is moved by a mixlist",
            name="not-movable",
            hint=not_movable_hint(judged.answer, suspects, moves),
        )
    return evidence_answer(view, judged.answer, evidence, moves)


def _compare(
    view: GraphView,
    judged: JudgedModel,
    comparing: CompareOptions,
    by: str,
    profile: tuple[str, ...],
    options: TargetOptions,
    console: Console,
) -> CommandAnswer:
    """Compare with a second judging or a compiled model; the exit status is 1 if anything differs."""
    ((word, value),) = comparing.words.items()
    label = f"{word.removeprefix('--compare-').replace('-', ' ').lstrip()} {value}"
    view = replace(view, compared_with=label, constants=constant_faults(judged.answer))
    if comparing.read_back is not None and is_fusion_result(comparing.read_back):
        if not judged.graph.model.predicted:
            hint = "give the ONNX or TensorFlow model that it was compiled from"
            message = "the model was fused already: a fusion_result.json cannot be compared with it"
            raise UsageFault(message, name="already-fused", path=judged.graph.model.path, hint=hint)
        result = beside(judged.answer.fused, read_fusion_result(comparing.read_back))
        return fusion_result_answer(view, result, console.verbose > 0)
    if comparing.read_back is not None:
        compiled = open_model(comparing.read_back, console)
        if compiled.model.predicted or not compiled.model.judged:
            message = "neither a compiled model nor a dump made after the engine chose dtypes"
            forms = "a .om file, a GE dump of a later stage than FeTopoSortingAfter, or fusion_result.json"
            hint = f"--read-back takes {forms}"
            raise UsageFault(message, name="not-compiled", path=comparing.read_back, hint=hint)
        with console.progress("comparing"):
            return read_back_answer(view, read_back(judged.answer, WrittenAnswer(compiled)), console.verbose > 0)
    own = judged.options
    other = replace(
        own,
        mixlist=comparing.compare_mixlist or own.mixlist,
        mode=comparing.compare_precision_mode or own.mode,
        against=comparing.compare_against or own.against,
    )
    changed = judge_model(judged.graph, other, options, console)
    if profile:
        view = replace(view, cost=_cost(judged.answer, changed.answer, profile, console))
    with console.progress("comparing"):
        return _with_verdict(comparison_answer(view, compare(judged.answer, changed.answer), by), changed.answer)


def _caveats(answer: GraphAnswer, judged: JudgedModel | None) -> list[str]:
    """Return what the answer assumes, and what it does not consider."""
    model = answer.graph.model
    if judged is None:
        if not model.judged:
            return ["the engine has not chosen dtypes yet: these are the original ones"]
        casts = "" if model.format == "om" else "; it has not inserted its Casts yet"
        casts = "; its Casts are in the graph" if answer.inserted else casts
        return [f"the engine has chosen these dtypes{casts}"]
    counts, considered = judged.answer.counts, judged.answer.considered
    caveats = []
    if counts.assumed:
        caveats.append(f"dtypes assumed for {counted(counts.assumed, 'node')}: the kernels choose them at compile time")
    if counts.first_column:
        nodes = counted(counts.first_column, "node")
        caveats.append(f"the first column for {nodes}, because none fits; --on first-column shows them")
    if model.predicted:
        caveats.append("a prediction: op types and nodes may change when the compiler fuses operators")
    caveats += [limit.message for limit in limits_of(judged.answer)]
    modes = judged.answer.modes
    if modes.has_hf32 is None and judged.answer.may_be_in_hf32:
        nodes = counted(len(judged.answer.may_be_in_hf32), "high node")
        caveats.append(f"unknown whether this chip computes {nodes} in HF32 or in float32")
    caveats += [*modes.caveats, *(f"considered: {option_text}" for option_text in considered.applied)]
    if "--enable_autofuse=true" in os.environ.get("AUTOFUSE_FLAGS", ""):
        caveats.append(
            "AUTOFUSE_FLAGS: what AutoFuse fuses runs in float32, but for its list; see `opsinfo explain autofuse`"
        )
    if considered.unknown:
        caveats.append(f"not considered: {', '.join(f'--{name}' for name in considered.unknown)} of atc")
    return caveats


def _facts(answer: GraphAnswer, judged: JudgedModel | None) -> list[tuple[str, str]]:
    """Return facts about a model and how it was judged: (name, value)."""
    model = answer.graph.model
    facts: list[tuple[str, str | None]] = [("Format", model.format), ("Compiled for", model.soc_version)]
    if judged is not None:
        given = judged.options
        facts += [("Mode", given.mode), ("Target", given.against), ("Mixlist", given.mixlist)]
        facts += [("keep_dtype", given.keep_dtype), ("customize_dtypes", given.customize_dtypes)]
    facts.append(("Compiled by", model.atc_cmdline))
    return [(name, value) for name, value in facts if value]
