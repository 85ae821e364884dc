"""`opsinfo qualify`: whether a mixed-precision baseline is sound, from its logs."""

from __future__ import annotations

import math
from typing import NamedTuple

from ...change.output_file import write_file
from ...errors import UsageFault
from ...report.terminal.output import Output
from ...report.terminal.progress import Progress
from ...report.views.scale_plot import require_svg, svg_text
from ...report.views.soundness import scale_lines, show_verdict, verdict_document
from ...runs.gather import gather
from ...runs.grouping import Run, runs_of
from ...runs.metric import PICKS, compiled_metric
from ...runs.points import Asked
from ...runs.startup import LEVELS, level_kind
from ...runs.verdict import RunFound, judge
from ...text.source import standard_input
from ..line import declare
from ..shared.common_options import OutputOptions, format_option, output_of
from ..shared.options import pager_option


class StatedFacts(NamedTuple):
    """What the user states about the runs.

    :param steps: optimizer steps of each run
    :param amp: the mixed-precision level, if the log does not show it
    :param loss_scale: ``dynamic`` or a number, if the log does not show it
    :param spread: how far the metrics of runs may lie apart, in percent
    """

    steps: int | None
    ranks: int | None
    large_batch: bool
    spread: float
    expect: str | None
    amp: str | None
    loss_scale: str | None


_STATED = declare.Group("stated", StatedFacts)


@declare.command("qualify")
@declare.argument("logs", nargs=-1, required=True, metavar="LOG...")
@declare.option(
    "--steps", metavar="N", type=declare.IntRange(min=1), help="Optimizer steps of each run.", group=_STATED
)
@declare.option(
    "--ranks",
    metavar="N",
    type=declare.IntRange(min=1),
    help="Number of ranks that print into each log.",
    group=_STATED,
)
@declare.option(
    "--large-batch",
    is_flag=True,
    help="Large global batch: at most 0.1 % of steps may overflow, not 0.5 %.",
    group=_STATED,
)
@declare.option(
    "--metric", metavar="REGEX", help="Regular expression for the validation metric; the first group is the number."
)
@declare.option(
    "--pick", type=declare.Choice(PICKS), default="last", show_default=True, help="Which value of the metric counts."
)
@declare.option(
    "--spread",
    metavar="PERCENT",
    type=declare.FloatRange(min=0),
    default=1.0,
    show_default=True,
    help="How far the metrics of runs may differ, relative to their mean.",
    group=_STATED,
)
@declare.option(
    "--expect", type=declare.Choice(["dynamic"]), help="Fail a log that shows no dynamic loss scaling.", group=_STATED
)
@declare.option("--amp", metavar="LEVEL", help="Mixed-precision level, if the log does not show it.", group=_STATED)
@declare.option(
    "--loss-scale",
    metavar="dynamic|VALUE",
    help="Loss scaling, if the log does not show it.",
    group=_STATED,
)
@declare.option("--reference", metavar="LOG", multiple=True, help="A high-precision run of the same model; repeatable.")
@declare.option("--plot", metavar="FILE", help="Plot the loss scale over the steps to an SVG file.")
@declare.option("--strict", is_flag=True, help="Exit 1 if the verdict is incomplete.")
@pager_option
@format_option()
def command(
    logs: tuple[str, ...],
    reference: tuple[str, ...],
    metric: str | None,
    pick: str,
    plot: str | None,
    strict: bool,
    stated: StatedFacts,
    printing: OutputOptions,
) -> int:
    """Check from training logs whether a mixed-precision baseline is sound, by the porting guide's procedure.

    Each LOG is a run; a directory is a run with one log for each rank. Logs may be gzipped; - is standard input.
    Exit status: sound 0, not sound 1, incomplete 0. Logs that are read: APEX, torch_npu, DeepSpeed, Megatron and
    MindSpeed, fairseq, Paddle, MindSpore and mindformers, TensorFlow on the NPU.

    \b
    Examples:
      opsinfo qualify train.log
      opsinfo qualify run?.log --metric 'Acc@1 ([0-9.]+)' --reference fp32.log
      opsinfo qualify train.log.gz --steps 50000 --ranks 8 --amp O2 --plot scale.svg
      ssh node cat train.log | opsinfo qualify - --loss-scale dynamic --format json
    """
    output = output_of("qualify", printing)
    asked = _asked(stated)
    pattern = compiled_metric(metric) if metric else None
    runs, others = runs_of(logs), runs_of(reference)
    if plot:
        require_svg(plot)
    _say_groups(runs + others, output)
    progress = Progress(output, [path for run in runs + others for path in run.paths])
    stdin = standard_input()
    try:
        found = [gather(run, asked, pattern, pick, stdin, progress) for run in runs]
        compared = [gather(run, asked, pattern, pick, stdin, progress) for run in others]
    finally:
        progress.done()
    _say_doubts(found, asked, output)
    if plot:
        drawn = svg_text(scale_lines(found), "step" if found[0].evidence.at_is_step else "message")
        write_file(plot, drawn.encode("utf-8"))
    verdict = judge(found, compared, asked, pattern is not None)
    if output.format == "json":
        output.document(verdict_document(verdict, found, compared, asked))
    else:
        show_verdict(output, verdict, found, asked)
    return {"sound": 0, "not sound": 1, "incomplete": int(strict)}[verdict.word]


def _asked(stated: StatedFacts) -> Asked:
    """:raises UsageFault: if a level or a loss scale is unknown"""
    amp, loss_scale = stated.amp, stated.loss_scale
    if amp is not None and level_kind(amp) is None:
        known = " ".join(LEVELS.values())
        raise UsageFault(f"unknown level or mode `{amp}`", name="unknown-level", hint=f"known: {known}")
    if loss_scale is not None and loss_scale != "dynamic" and not _is_scale(loss_scale):
        raise UsageFault("--loss-scale must be `dynamic` or a number above 0", name="bad-loss-scale")
    return Asked(
        steps=stated.steps,
        ranks=stated.ranks,
        large_batch=stated.large_batch,
        expect_dynamic=stated.expect == "dynamic",
        amp=amp,
        loss_scale=loss_scale,
        spread=stated.spread / 100,
    )


def _is_scale(text: str) -> bool:
    try:
        value = float(text)
    except ValueError:
        return False
    return math.isfinite(value) and value > 0


def _say_groups(runs: list[Run], output: Output) -> None:
    for run in runs:
        if len(run.paths) > 1:
            output.say(f"{run.name}: {len(run.paths)} logs are read as the ranks of one run")


def _say_doubts(found: list[RunFound], asked: Asked, output: Output) -> None:
    """Warn if the options contradict the log, or if the log is of no known format."""
    for run in found:
        evidence = run.evidence
        if evidence.format == "unknown" and not (evidence.level or evidence.scaling):
            output.say(f"{run.name}: no line of a known log format was found", "warning")
        if asked.amp and evidence.level and level_kind(asked.amp) != level_kind(evidence.level):
            output.say(f"{run.name}: the log says {evidence.level}, --amp says {asked.amp}; the log counts", "warning")
        said = "dynamic" if asked.loss_scale == "dynamic" else "static"
        if asked.loss_scale and evidence.scaling and evidence.scaling != said:
            output.say(f"{run.name}: the log says {evidence.scaling} scaling, not {said}; the log counts", "warning")
