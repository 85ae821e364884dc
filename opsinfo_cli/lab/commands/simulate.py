"""`opsinfo simulate`: what a policy costs in accuracy, computed on a CPU."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import click

from ...core.cann.target import TargetOptions
from ...core.change.output_file import write_file
from ...core.terminal.answer import Answer
from ...core.terminal.console import Console
from ...core.terminal.open import open_model
from ...core.terminal.params import Choice, Command, OutputFile, bundle, install_options, option, prints, strict_option
from ...core.terminal.plot import require_svg, svg_text
from ...errors import UsageFault
from ..simulate.simulate import report_of
from ..simulate.simulation import onnx_model
from .error_plot import error_plot
from .judge_options import MODEL, JudgeOptions, judge_options, judged_model
from .simulation_options import SimulationOptions, opened_simulation, simulate_options
from .simulation_view import doubts, simulation_answer


@dataclass(frozen=True)
class PartOptions:
    """The parts of the report to create.

    :param rank_only: outputs and op types, without the error along the graph
    :param no_rank: without op types
    :param by: ``node`` ranks low nodes too
    """

    rank_only: bool = False
    no_rank: bool = False
    by: Literal["type", "node"] = "type"


@click.command("simulate", cls=Command)
@click.argument("model", type=MODEL)
@judge_options
@simulate_options
@bundle(
    "parts",
    PartOptions,
    option("--rank-only", is_flag=True, help="Rank op types; leave out the error along the graph."),
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
    model: str,
    strict: bool,
    judging: JudgeOptions,
    simulating: SimulationOptions,
    parts: PartOptions,
    plot: str | None,
    options: TargetOptions,
    console: Console,
) -> Answer:
    """Compute MODEL, an ONNX file, in float32 and with its low tensors rounded, and compare the outputs.

    A tensor that runs in float16, bfloat16 or HiFloat8 is rounded where it enters an operator and where it leaves it;
    sums are in float32. Shown are the error of each output, the first node that yields Inf or NaN, the first whose
    error jumps, and what each op type costs: alone, and without it. Requires opsinfo[models].

    Exit status 1 if an output exceeds --max-error or --min-cosine, and with --strict if atc refuses the model.

    \b
    Examples:
      opsinfo simulate model.onnx --against ascend910b
      opsinfo simulate model.onnx --against ascend910b --inputs random:7 --max-error 0.01
      opsinfo simulate model.onnx --against ascend910b --mixlist ops_info.json
      opsinfo simulate model.onnx --against ascend910b --rank-only
      opsinfo simulate model.onnx --against ascend910b --by node
    """
    _require_whole(parts, plot, console.format)
    judging.require_mode()
    graph = open_model(model, console, simulating.shapes_of)
    onnx_model(graph)  # another format is wrong usage
    judged = judged_model(graph, judging, options, console)
    with console.progress("computing in float32"):
        simulation = opened_simulation(judged.ready, judged.answer.mode.name, simulating)
    report = report_of(
        simulation,
        judged.mixlist,
        traced=not parts.rank_only,
        ranked=not parts.no_rank,
        by_node=parts.by == "node",
        progress=console.progress,
    )._replace(
        mixlist=judged.options.mixlist,
        reference=simulating.reference,
        max_error=simulating.max_error,
        min_cosine=simulating.min_cosine,
    )
    if plot and report.trace is not None:
        write_file(plot, svg_text(error_plot(report.trace.nodes)).encode("utf-8"))
    for doubt in doubts(report):
        console.warn(doubt)
    answer = simulation_answer(report)
    return answer._replace(status=answer.status or int(strict and bool(graph.model.refused)))


def _require_whole(parts: PartOptions, plot: str | None, format: str) -> None:
    if parts.rank_only and parts.no_rank:
        raise UsageFault("--rank-only and --no-rank cannot be combined")
    if parts.no_rank and parts.by == "node":
        raise UsageFault("--no-rank and --by node cannot be combined")
    if parts.rank_only and plot:
        raise UsageFault("--rank-only and --plot cannot be combined")
    if parts.rank_only and format == "model-explorer":
        raise UsageFault("--rank-only and --format model-explorer cannot be combined")
    if plot:
        require_svg(plot)
