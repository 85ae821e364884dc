"""`opsinfo simulate`: what a policy costs in accuracy, computed on a CPU."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Literal

import click

from ...core.cann.targets.found import TargetOptions
from ...core.change.output_file import write_file
from ...core.terminal.answer import Block, Cell, Column, CommandAnswer, Either, Lines, PathCell, Table
from ...core.terminal.atc_option import OF_GRAPH, tell_atc
from ...core.terminal.config import Targeted
from ...core.terminal.console import Console
from ...core.terminal.params import Choice, OutputFile, bundle, install_options, option, prints, strict_option
from ...core.terminal.plot import Curve, MarkKind, Plot, PlotMark, picture, require_svg, svg_text
from ...errors import UsageFault, counted, join_some
from ..graph.api import open_model
from ..graph.verdict import share_not_judged
from ..simulate.report import SimulationReport
from ..simulate.simulate_model import open_simulation, report_of
from ..simulate.simulation import onnx_model
from ..simulate.trace import JUMP, Trace, TracedNode
from .graph.document import coverage_text
from .judge_options import JudgeOptions, judge_model, judge_options, model_argument, require_model
from .model_explorer import simulation_node_data
from .simulation_options import SimulationOptions, simulate_options


@dataclass(frozen=True)
class PartOptions:
    """The parts of the report to create."""

    no_trace: bool = False
    no_rank: bool = False
    by: Literal["type", "node"] = "type"


@click.command("simulate", cls=Targeted)
@model_argument
@judge_options
@simulate_options
@bundle(
    "parts",
    PartOptions,
    option("--no-trace", is_flag=True, help="Leave out the error along the graph."),
    option("--no-rank", is_flag=True, help="Leave out op types: each takes two more computations."),
    option(
        "--by",
        type=Choice(["type", "node"]),
        default="type",
        show_default=True,
        help="node: rank low nodes too, by their error and their margin to overflow.",
    ),
)
@option("--plot", type=OutputFile(), help="Write a plot of the error along the graph as SVG.")
@strict_option
@install_options
@prints("html", "model-explorer", out=True)
def command(
    model: str | None,
    judging: JudgeOptions,
    simulating: SimulationOptions,
    parts: PartOptions,
    plot: str | None,
    options: TargetOptions,
    console: Console,
) -> CommandAnswer:
    """Compute MODEL, an ONNX file, in float32 and with its low tensors rounded, and compare the outputs.

    A tensor that runs in float16, bfloat16 or HiFloat8 is rounded where it enters an operator and where it leaves it;
    sums are in float32. Shown are the error of each output, the first node that yields Inf or NaN, the first whose
    error jumps, and what each op type costs: alone, and without it. Requires opsinfo[models].

    Exit status 1 if an output exceeds --max-error or --min-cosine, or if nothing was judged, or nothing rounded that a
    bound could be about; with --strict if there is a warning.

    \b
    Examples:
      opsinfo simulate model.onnx --against ascend910b
      opsinfo simulate model.onnx --against ascend910b --inputs random:7 --max-error 0.01
      opsinfo simulate model.onnx --against ascend910b --mixlist ops_info.json
      opsinfo simulate model.onnx --against ascend910b --no-trace
      opsinfo simulate model.onnx --against ascend910b --by node
    """
    if parts.no_rank and parts.by == "node":
        raise UsageFault("--no-rank and --by node cannot be combined")
    if parts.no_trace and plot:
        raise UsageFault("--no-trace and --plot cannot be combined")
    if parts.no_trace and console.format == "model-explorer":
        raise UsageFault("--no-trace and --format model-explorer cannot be combined")
    if plot:
        require_svg(plot)
    judging.require_mode()
    model = require_model(model)
    tell_atc(console, OF_GRAPH)
    graph = open_model(model, console, simulating.shapes_of)
    onnx_model(graph)  # another format is wrong usage
    judged = judge_model(graph, judging, options, console)
    mode, inputs = judged.answer.mode.name, simulating.inputs
    simulation = open_simulation(judged.prepared, mode, inputs, saturate=simulating.saturate, listener=console)
    report = report_of(
        simulation,
        judged.mixlist,
        traced=not parts.no_trace,
        ranked=not parts.no_rank,
        by_node=parts.by == "node",
        listener=console,
    )._replace(max_error=simulating.max_error, min_cosine=simulating.min_cosine)
    if plot and report.trace is not None:
        write_file(plot, svg_text(error_plot(report.trace)).encode("utf-8"))
    for doubt in report.doubts:
        console.warn(doubt)
    return simulation_answer(report)


_FIRST = {"first-not-finite": "first Inf or NaN", "first-jump": "first jump of the error"}


def simulation_answer(report: SimulationReport) -> CommandAnswer:
    """The status is 1 if an output exceeds a bound, or the numbers prove nothing."""
    fault = report.fault
    verdict = [] if fault or report.passes is None else [_passes(report)]
    return CommandAnswer(
        report.to_dict,
        lambda: [Either(lambda: _drawn(report), lambda: [Table((), _lines(report))])],
        formats={"html": lambda: _page(report), "model-explorer": lambda: simulation_node_data(report)},
        caveats=[f"not shown: {limit.message}" for limit in report.limits],
        notes=[_summary(report), *_coverage_lines(report), *verdict],
        status=int(fault is not None or report.passes is False),
        fault=fault,
    )


def number(value: float | None, digits: int = 3) -> str:
    """Return an error in few digits: ``0.0182``, ``inf``; ``-`` if it is unknown."""
    return "-" if value is None else f"{value:.{digits}g}"


def cosine(value: float | None) -> str:
    """Return a cosine as text; ``1`` only if it is exactly 1."""
    if value is None:
        return "-"
    return "1" if value == 1 else f"{min(value, 0.999999999):.9f}".rstrip("0") if value > 0.9999 else f"{value:.6f}"


def _outputs(report: SimulationReport) -> list[list[str]]:
    return [
        [
            output.name,
            number(output.max_abs_error),
            number(output.max_rel_error),
            cosine(output.cosine),
            str(output.inf),
            str(output.nan),
        ]
        for output in report.simulated.outputs
    ]


def _types(report: SimulationReport) -> list[list[str]]:
    return [
        [cost.type, str(len(cost.nodes)), number(cost.error_alone), number(cost.error_without)] for cost in report.types
    ]


def _nodes(report: SimulationReport) -> list[list[str]]:
    return [
        [node.name, node.type, number(node.error_alone), number(node.margin), dims(node.shape)]
        for node in report.nodes or ()
    ]


def _absorbed_nodes(report: SimulationReport) -> list[TracedNode]:
    return report.trace.absorbed if report.trace else []


def _coverage_lines(report: SimulationReport) -> list[str]:
    text = coverage_text(report.coverage)
    return [f"{text}; computed in float32"] if text else []


def dims(shape: Sequence[int] | None) -> str:
    """Return a shape as text: ``1x64x56x56``, ``scalar``; ``-`` if it is unknown."""
    return "-" if shape is None else "x".join(map(str, shape)) or "scalar"


def _first_nodes(report: SimulationReport) -> list[tuple[str, TracedNode | None, str]]:
    """Return the first node that yields Inf or NaN, and the first whose error jumps, each with the reason."""
    if report.trace is None:
        return []
    wrong, jump = report.trace.first_not_finite, report.trace.first_jump
    return [
        ("first-not-finite", wrong, wrong.why_not_finite if wrong else ""),
        ("first-jump", jump, jump.why_jump if jump else ""),
    ]


# text


def _lines(report: SimulationReport) -> Iterable[Sequence[str]]:
    yield from (["output", *fields] for fields in _outputs(report))
    for kind, node, why in _first_nodes(report):
        yield [kind, *((node.node, node.type, why) if node else ("-", "-", "-"))]
    yield from (["absorbed", node.node, node.type, node.absorbed_by] for node in _absorbed_nodes(report))
    yield from (["type", *fields] for fields in _types(report))
    yield from (["node", *fields] for fields in _nodes(report))


def _drawn(report: SimulationReport) -> list[Block]:
    blocks: list[Block] = [_output_table(report)]
    if report.trace is not None:
        first = [
            f"{_FIRST[kind]}: {f'{node.node} ({node.type}): {why}' if node else 'none'}"
            for kind, node, why in _first_nodes(report)
        ]
        if _absorbed_nodes(report):
            names = join_some([node.node for node in _absorbed_nodes(report)])
            first.append(f"Inf that a Softmax absorbs: {names}")
        blocks.append(Lines([*first, ""], indent=2))
    if report.types:
        blocks.append(_type_table(report))
    if report.nodes:
        blocks += [Lines([""]), _node_table(report)]
    if report.trace is not None:
        blocks.append(picture(error_plot(report.trace), "error along the graph"))
    return blocks


def _output_table(report: SimulationReport, whole: bool = False) -> Table:
    """:param whole: with the columns that only a page has"""
    titles = ("max abs error", "max rel error", "cosine", "Inf", "NaN")
    columns = [Column(title, number=True, spare=title == "max abs error") for title in titles]
    rows: list[list[Cell]] = [[PathCell(name), *rest] for name, *rest in _outputs(report)]
    if whole:
        columns += [Column("elements", number=True), Column("note")]
        rows = [
            [*row, str(output.elements), output.why or ""]
            for row, output in zip(rows, report.simulated.outputs, strict=True)
        ]
    return Table([Column("output"), *columns], rows, title="Outputs against the reference")


def _type_table(report: SimulationReport, whole: bool = False) -> Table:
    columns = [Column(title, number=True) for title in ("nodes", "error alone", "error without")]
    rows = _types(report)
    if whole:
        columns.append(Column("names"))
        rows = [[*row, join_some(cost.nodes, 20)] for row, cost in zip(rows, report.types, strict=True)]
    return Table([Column("op type"), *columns], rows, title="Op types, those that cost most first")


def _node_table(report: SimulationReport) -> Table:
    columns = [Column("node"), Column("op type"), Column("error alone", number=True)]
    columns += [Column("margin", number=True), Column("shape", spare=True)]
    rows: list[list[Cell]] = [[PathCell(name, is_node=True), *rest] for name, *rest in _nodes(report)]
    return Table(columns, rows, title="Low nodes, those that cost most first")


def _summary(report: SimulationReport) -> str:
    """Return how much was rounded and what the outputs were compared with."""
    sets = counted(len(report.simulation.inputs), "set")
    return (
        f"rounded in {counted(report.simulated.rounded, 'place')}; compared with float32, {sets} of inputs; "
        f"max rel error is max|a-b| / max|b|, a jump is {JUMP:g} times the inputs' error"
    )


def _passes(report: SimulationReport) -> str:
    given = (("--max-error", report.max_error), ("--min-cosine", report.min_cosine))
    bounds = " and ".join(f"{word} {repr(bound).removesuffix('.0')}" for word, bound in given if bound is not None)
    failing = [output for output in report.simulated.outputs if not output.passes(report.max_error, report.min_cosine)]
    if not failing:
        share = share_not_judged(report.coverage)
        return f"passes {bounds}{f'; {share}' if share else ''}"
    worst, least = report.simulated.max_rel_error, report.simulated.min_cosine
    largest = "not finite" if math.isinf(worst) else number(worst)
    smallest = "" if report.min_cosine is None else f", the smallest cosine {'unknown' if least is None else least!r}"
    return f"fails {bounds}: {counted(len(failing), 'output')}, the largest error is {largest}{smallest}"


_LOWEST = -8
"""The power of ten below which an error is drawn as zero."""


def error_plot(trace: Trace) -> Plot:
    """Return errors in powers of ten; a node without error is at the bottom, one with Inf or NaN at the top."""
    nodes, wrong = trace.nodes, trace.first_not_finite
    powers = [math.log10(node.error) for node in nodes if 0 < node.error < math.inf]
    low = max(_LOWEST, math.floor(min(powers, default=_LOWEST)))
    high = max(math.ceil(max(powers, default=0)), low + 1)
    points: list[tuple[float, float]] = []
    marks: list[PlotMark] = []
    for number, node in enumerate(nodes, 1):
        y = min(high, max(low, math.log10(node.error))) if node.error > 0 else low
        points.append((number, y))
        kind: MarkKind = "bad" if node is wrong else "jump" if node.jumps else "usual"
        marks.append(PlotMark(number, y, f"{node.node} ({node.type}): {node.error:.3g}", kind))
    return Plot(
        "Error along the graph",
        "1e",
        "node",
        [Curve("", points)],
        low,
        high,
        1,
        len(nodes),
        marks=marks,
        caption="max|a-b| / max|b| of each node's outputs",
        empty="No floating-point value in the main graph.",
    )


# page


def _page(report: SimulationReport) -> str:
    from ...core.terminal.page import escaped, section, table_page

    lead = ""
    if report.trace is not None:
        plot = f'<div class="plot">\n{svg_text(error_plot(report.trace), in_page=True)}</div>\n'
        lead = section("Error along the graph", plot, "trace")
    limits = "".join(f"<li>{escaped(limit.message)}</li>\n" for limit in report.limits)
    lead += section("Not shown", f"<ul>\n{limits}</ul>\n", "not-shown")
    tables = [_output_table(report, whole=True), *([_type_table(report, whole=True)] if report.types else [])]
    tables += [_node_table(report)] if report.nodes else []
    simulation = report.simulation
    facts = [("Precision mode", simulation.mode)]
    if report.mixlist:
        facts.append(("Mixlist", report.mixlist))
    facts.append(("Inputs", ", ".join(input_set.name for input_set in simulation.inputs)))
    facts.append(("Compared with", "float32"))
    facts.append(("Rounded", f"in {counted(report.simulated.rounded, 'place')}"))
    for kind, node, why in _first_nodes(report):
        title = _FIRST[kind][:1].upper() + _FIRST[kind][1:]
        facts.append((title, f"{node.node} ({node.type}): {why}" if node else "none"))
    facts += [("Not judged", text) for text in _coverage_lines(report)]
    if _absorbed_nodes(report):
        facts.append(("Inf that a Softmax absorbs", join_some([node.node for node in _absorbed_nodes(report)], 20)))
    if report.fault:
        facts.append(("Proves nothing", report.fault.message))
    elif report.passes is not None:
        facts.append(("Check", "passes" if report.passes else "fails"))
    return table_page(f"Simulation of {simulation.path}", facts, tables, lead=lead, styles=["plot.css"])
