"""`opsinfo qualify`: check whether a mixed-precision baseline is sound, from its logs."""

from __future__ import annotations

import math
from typing import NamedTuple

from ...change.output_file import write_file
from ...errors import UsageFault
from ...report.terminal.output import Output
from ...report.terminal.progress import Progress
from ...report.views.scale_plot import require_svg, svg_text
from ...report.views.soundness import scale_lines, show_verdict, verdict_document
from ...runs.formats import FORMATS
from ...runs.metric import PICKS, compiled_metric
from ...runs.points import Facts
from ...runs.startup import LEVELS, level_kind
from ...runs.training_run import RunEvidence, TrainingRun, run_evidence, runs_of
from ...runs.verdict import judge
from ...text.source import standard_input
from ..line import declare
from ..shared.common_options import OutputOptions, format_option, output_of
from ..shared.options import pager_option


class StatedFacts(NamedTuple):
    """Facts about the runs from the user.

    :param steps: optimizer steps of each run
    :param amp: the mixed-precision level, if the log does not show it
    :param loss_scale: ``dynamic`` or a number, if the log does not show it
    :param spread: the largest range of the metrics of runs, in percent of their mean
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
    "--steps", metavar="N", type=declare.IntRange(min=1), help="Number of optimizer steps of each run.", group=_STATED
)
@declare.option(
    "--ranks",
    metavar="N",
    type=declare.IntRange(min=1),
    help="Number of ranks that print to each log.",
    group=_STATED,
)
@declare.option("--large-batch", is_flag=True, help="Large global batch: the limit is 0.1 %, not 0.5 %.", group=_STATED)
@declare.option(
    "--metric", metavar="REGEX", help="Regular expression of the validation metric; its first group is the number."
)
@declare.option(
    "--pick", type=declare.Choice(PICKS), default="last", show_default=True, help="Value of the metric to use."
)
@declare.option(
    "--spread",
    metavar="PERCENT",
    type=declare.FloatRange(min=0),
    default=1.0,
    show_default=True,
    help="Largest range of the metrics of runs, as a share of their mean.",
    group=_STATED,
)
@declare.option(
    "--expect",
    type=declare.Choice(["dynamic"]),
    help="Fail if the log does not show dynamic loss scaling.",
    group=_STATED,
)
@declare.option("--amp", metavar="LEVEL", help="Mixed-precision level, if the log does not show it.", group=_STATED)
@declare.option(
    "--loss-scale", metavar="dynamic|VALUE", help="Loss scaling, if the log does not show it.", group=_STATED
)
@declare.option(
    "--reference", metavar="LOG", multiple=True, help="Log of a high-precision run of the same model; repeatable."
)
@declare.option("--plot", metavar="FILE", help="Write a plot of the loss scale over the steps as SVG.", writes=())
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
    """Check whether a mixed-precision baseline is sound, by the procedure of the porting guide.

    Each LOG is a run; a folder is a run with a log per rank. Plain, gzipped, or - for standard input. Exit status:
    sound 0, not sound 1, incomplete 0, no line of a known format 2. Read: APEX, FP16_Optimizer, torch_npu, DeepSpeed,
    Megatron and MindSpeed, fairseq, Paddle and PaddleNLP, MindSpore, mindformers, mindyolo, TensorFlow on the NPU,
    BMTrain, NVIDIA's BERT, and columns of the loss scale (Swin, BEiT, MMCV).

    \b
    Examples:
      opsinfo qualify train.log
      opsinfo qualify run?.log --metric 'Acc@1 ([0-9.]+)' --reference fp32.log
      opsinfo qualify train.log.gz --steps 50000 --ranks 8 --amp O2 --plot scale.svg
      ssh node cat train.log | opsinfo qualify - --loss-scale dynamic --format json
    """
    output = output_of("qualify", printing)
    facts = _facts(stated)
    pattern = compiled_metric(metric) if metric else None
    runs, others = runs_of(logs), runs_of(reference)
    if plot:
        require_svg(plot)
    _say_groups(runs + others, output)
    progress = Progress(output, [path for run in runs + others for path in run.paths])
    stdin = standard_input()
    try:
        found = [run_evidence(run, facts.steps, facts.ranks, pattern, pick, stdin, progress) for run in runs]
        compared = [run_evidence(run, facts.steps, facts.ranks, pattern, pick, stdin, progress) for run in others]
    finally:
        progress.done()
    _refuse_unknown(found)
    _say_doubts(found, facts, output)
    if plot:
        _draw(found, plot)
    verdict = judge(found, compared, facts, pattern is not None)
    if output.format == "json":
        output.document(verdict_document(verdict, found, compared, facts))
    else:
        show_verdict(output, verdict, found, facts)
    return {"sound": 0, "not sound": 1, "incomplete": int(strict)}[verdict.word]


def _draw(found: list[RunEvidence], path: str) -> None:
    drawn = svg_text(scale_lines(found), "step" if found[0].evidence.at_is_step else "message")
    write_file(path, drawn.encode("utf-8"))


def _refuse_unknown(found: list[RunEvidence]) -> None:
    """:raises UsageFault: if no reader understood a line of a run"""
    for run in found:
        if not run.evidence.known:
            read = "; ".join(reader.reads for reader in FORMATS)
            raise UsageFault(
                "no line of a known log format, and no mixed-precision option",
                name="unknown-log",
                path=run.name,
                hint=f"known formats: {read}",
            )


def _facts(stated: StatedFacts) -> Facts:
    """:raises UsageFault: if a level or a loss scale is unknown"""
    amp, loss_scale = stated.amp, stated.loss_scale
    if amp is not None and level_kind(amp) is None:
        known = " ".join(LEVELS.values())
        raise UsageFault(f"`{amp}` is not a known level or mode", name="unknown-level", hint=f"known: {known}")
    if loss_scale is not None and loss_scale != "dynamic" and not _is_scale(loss_scale):
        raise UsageFault("--loss-scale must be `dynamic` or a number above 0", name="bad-loss-scale")
    return Facts(
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


def _say_groups(runs: list[TrainingRun], output: Output) -> None:
    for run in runs:
        if len(run.paths) > 1:
            output.say(f"{run.name}: {len(run.paths)} logs are read as the ranks of one run")


def _say_doubts(found: list[RunEvidence], facts: Facts, output: Output) -> None:
    """Warn if an option and the log differ."""
    for run in found:
        evidence = run.evidence
        if facts.amp and evidence.level and level_kind(facts.amp) != level_kind(evidence.level):
            output.say(f"{run.name}: the log shows {evidence.level}, --amp is {facts.amp}; the log is used", "warning")
        said = "dynamic" if facts.loss_scale == "dynamic" else "static"
        if facts.loss_scale and evidence.scaling and evidence.scaling != said:
            output.say(f"{run.name}: the log shows {evidence.scaling} scaling, not {said}; the log is used", "warning")
