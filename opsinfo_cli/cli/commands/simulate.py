"""`opsinfo simulate`: what a policy costs in accuracy, computed on a CPU."""

from __future__ import annotations

from typing import NamedTuple

from ...change.output_file import write_file
from ...errors import UsageFault
from ...graph.graph import ModelGraph
from ...graph.judge.modes import judge_mode
from ...model.target import TargetOptions
from ...report.plot import require_svg
from ...report.terminal.output import Output
from ...report.terminal.progress import Steps
from ...simulate.report import SimulationReport, not_shown
from ...simulate.simulation import Simulation
from ...simulate.trace import trace
from ..line import declare
from ..model_graph.judging import JudgedModel, JudgeOptions, judge_options, judged_model, opened_model
from ..shared.common_options import OutputOptions, format_option, output_of
from ..shared.options import install_options, out_option, pager_option
from ..simulating.options import SimulateOptions, opened_simulation, simulate_options


class PartOptions(NamedTuple):
    """The parts of the report to create.

    :param rank_only: outputs and op types, without the error along the graph
    :param no_rank: without op types
    """

    rank_only: bool
    no_rank: bool


_PARTS = declare.Group("parts", PartOptions)


@declare.command("simulate")
@declare.argument("model")
@judge_options
@simulate_options
@declare.option("--rank-only", is_flag=True, help="Rank op types; leave out the error along the graph.", group=_PARTS)
@declare.option("--no-rank", is_flag=True, help="Leave out op types: each takes two more computations.", group=_PARTS)
@declare.option("--plot", metavar="FILE", help="Write a plot of the error along the graph as SVG.", writes=())
@install_options
@out_option
@pager_option
@format_option("html")
def command(
    model: str,
    judging: JudgeOptions,
    simulating: SimulateOptions,
    parts: PartOptions,
    plot: str | None,
    options: TargetOptions,
    printing: OutputOptions,
) -> int:
    """Compute MODEL, an ONNX file, in float32 and with its low tensors rounded, and compare the outputs.

    A tensor that runs in float16, bfloat16 or HiFloat8 is rounded where it enters an operator and where it leaves it;
    sums are in float32. Shown are the error of each output, the first node that yields Inf or NaN, the first whose
    error jumps, and what each op type costs: alone, and without it. Requires opsinfo[simulate].

    Exit status 1 if an output exceeds --max-error or --min-cosine.

    \b
    Examples:
      opsinfo simulate model.onnx --against ascend910b --precision-mode mixed_float16
      opsinfo simulate m.onnx --against ascend910b --precision-mode mixed_bfloat16 --inputs calib.npz
      opsinfo simulate m.onnx --against 910b.json --precision-mode mixed_float16 --max-error 0.01
      opsinfo simulate m.onnx --against 910b.json --precision-mode mixed_float16 --rank-only
    """
    output = output_of("simulate", printing)
    if judging.mode is None:
        hint = "`opsinfo modes` lists modes"
        raise UsageFault("simulate requires --precision-mode MODE", name="needs-mode", hint=hint)
    judge_mode(judging.mode)
    _require_whole(parts, plot)
    judged = judged_model(_opened(model, output), judging, options, output)
    simulation = opened_simulation(model, judged.ready, judged.answer.mode.name, simulating)
    report = _report(simulation, judged, simulating, parts, output)
    if plot:
        from ...report.views.error_plot import svg_text

        assert report.trace is not None
        write_file(plot, svg_text(report.trace.nodes).encode("utf-8"))
    _show(report, output)
    return 0 if report.passes is not False else 1


def _require_whole(parts: PartOptions, plot: str | None) -> None:
    if parts.rank_only and parts.no_rank:
        raise UsageFault("--rank-only and --no-rank cannot be combined")
    if parts.rank_only and plot:
        raise UsageFault("--rank-only and --plot cannot be combined")
    if plot:
        require_svg(plot)


def _opened(model: str, output: Output) -> ModelGraph:
    graph = opened_model(model, output)
    if graph.model.format != "onnx":
        said = f"simulate requires an ONNX model; this is {graph.model.format}"
        hint = "give the ONNX file that the model was compiled from"
        raise UsageFault(said, name="not-onnx", path=model, hint=hint)
    return graph


def _report(
    simulation: Simulation, judged: JudgedModel, simulating: SimulateOptions, parts: PartOptions, output: Output
) -> SimulationReport:
    plan = simulation.plan(judged.mixlist)
    simulated = simulation.computed(plan)
    progress = Steps(output, "computing")
    try:
        traced = None if parts.rank_only else trace(simulation, plan, progress)
        types = [] if parts.no_rank else simulation.rank(judged.mixlist, progress)
    finally:
        progress.done()
    return SimulationReport(
        simulation,
        simulated,
        traced,
        types,
        not_shown(simulation, plan, judged.answer),
        judged.options.mixlist,
        simulating.reference,
        simulating.max_error,
        simulating.min_cosine,
    )


def _show(report: SimulationReport, output: Output) -> None:
    from ...report.views.simulation import say_doubts, say_limits, say_passes, say_simulated, show_simulation

    say_doubts(output, report)
    if output.format == "json":
        from ...report.views.simulation_document import simulation_document

        output.document(simulation_document(report))
    elif output.format == "html":
        from ...report.views.simulation_page import simulation_page

        output.data(simulation_page(report), exact=True)
    else:
        show_simulation(output, report)
        say_simulated(output, report)
        say_limits(output, report)
        say_passes(output, report)
