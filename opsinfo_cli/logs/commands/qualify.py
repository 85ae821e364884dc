"""`opsinfo qualify`: check whether a mixed-precision baseline is sound, from its logs."""

from __future__ import annotations

import math
import os
import stat
from collections.abc import Iterable
from contextlib import suppress
from typing import Any

import click

from ...core.cann.library import Operators
from ...core.cann.name_tables import name_table
from ...core.cann.policy import Policy
from ...core.cann.target import TargetOptions
from ...core.change.output_file import write_file
from ...core.terminal.answer import Answer
from ...core.terminal.console import Console
from ...core.terminal.open import open_given
from ...core.terminal.params import (
    TARGET,
    Choice,
    Command,
    Number,
    OutputFile,
    Word,
    advanced,
    bundle,
    option,
    prints,
    soc_option,
)
from ...core.terminal.plot import require_svg, svg_text
from ...core.text.source import standard_input
from ...errors import UsageFault
from ..formats import FORMATS
from ..metric import PICKS, compiled_metric
from ..points import Facts
from ..startup import LEVELS, level_kind
from ..training_run import RunEvidence, run_evidence, runs_of
from ..verdict import judge
from .scale_plot import scale_plot
from .soundness_view import PolicyOf, Soundness, soundness_answer


def _level(level: str) -> str:
    """Return a level or mode that a log may print."""
    if level_kind(level) is None:
        known = " ".join(LEVELS.values())
        raise UsageFault(f"`{level}` is not a known level or mode", name="unknown-level", hint=f"known: {known}")
    return level


def _scale(text: str) -> str:
    """Return `dynamic`, or a number above 0."""
    with suppress(ValueError):
        if text == "dynamic" or 0 < float(text) < math.inf:
            return text
    raise UsageFault("--loss-scale must be `dynamic` or a number above 0", name="bad-loss-scale")


class Percent(Number):
    """A percentage, as a share."""

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> float:
        return super().convert(value, param, ctx) / 100


LOG = Word("LOG", reads=True)

_facts = bundle(
    "facts",
    Facts,
    option("--steps", metavar="N", type=click.IntRange(min=1), help="Number of optimizer steps of each run."),
    option("--ranks", metavar="N", type=click.IntRange(min=1), help="Number of ranks that print to each log."),
    option(
        "--amp",
        type=Word("LEVEL", lambda *_: " ".join(LEVELS.values()).split(), parse=_level),
        help="Mixed-precision level, if the log lacks it.",
    ),
    option(
        "--loss-scale",
        type=Word("dynamic|VALUE", lambda *_: ["dynamic"], parse=_scale),
        help="Loss scaling, if missing in the log.",
    ),
    option("--large-batch", is_flag=True, help="Large global batch: the limit is 0.1 %, not 0.5 %."),
    advanced(
        "--spread",
        type=Percent("PERCENT"),
        default="1",
        show_default=True,
        help="Largest range of the metrics of runs, as a share of their mean.",
    ),
    advanced(
        "--expect",
        "expect_dynamic",
        type=Choice(["dynamic"]),
        callback=lambda ctx, param, value: value == "dynamic",
        help="Fail if the log does not show dynamic loss scaling.",
    ),
)


@click.command("qualify", cls=Command)
@click.argument("logs", nargs=-1, required=True, type=LOG)
@option(
    "--metric", type=Word("REGEX"), help="Regular expression of the validation metric; its first group is the number."
)
@option("--pick", type=Choice(PICKS), default="last", show_default=True, help="Value of the metric to use.")
@option("--reference", type=LOG, multiple=True, help="Log of a high-precision run of the same model; repeatable.")
@_facts
@option("--against", type=TARGET, help="Show the policies of reduced operators in this target.")
@soc_option
@option("--plot", type=OutputFile(), help="Write a plot of the loss scale over the steps as SVG.")
@option("--strict", is_flag=True, help="Exit 1 if the verdict is incomplete.")
@prints()
def command(
    logs: tuple[str, ...],
    metric: str | None,
    pick: str,
    reference: tuple[str, ...],
    facts: Facts,
    against: str | None,
    soc: str | None,
    plot: str | None,
    strict: bool,
    console: Console,
) -> Answer:
    """Check training logs for NaN, overflow and loss-scale trouble, by the procedure of the porting guide.

    Each LOG is a run; a folder is a run with a log per rank, unless its logs do not fit each other. Plain, gzipped, or
    - for standard input. Logs of APEX, FP16_Optimizer, torch_npu, DeepSpeed, Megatron and MindSpeed, fairseq, Paddle
    and PaddleNLP, MindSpore, mindformers, mindyolo, TensorFlow on the NPU, BMTrain, NVIDIA's BERT, Hugging Face's
    Trainer and LLaMA-Factory are read, and columns of the loss scale (Swin, BEiT, MMCV, DLLogger). Losses and gradient
    norms are read in the form of any framework.

    Exit status 1 if a run is not sound, 2 if no line has a known format.

    Operators that MindSpore 1.x and 2.0 logged as reduced (GLOG_v=1) are listed with the number of records.

    \b
    Examples:
      opsinfo qualify train.log
      opsinfo qualify train.log --steps 50000 --ranks 2 --plot scale.svg
      opsinfo qualify train.log --metric 'Acc@1 ([0-9.]+)'
      cat train.log | opsinfo qualify - --format json
      opsinfo qualify mindspore.log --against ascend910b
    """
    pattern = compiled_metric(metric) if metric else None
    runs, others = runs_of(logs), runs_of(reference)
    if plot:
        require_svg(plot)
    target = open_given(against, console, TargetOptions(soc=soc))
    policy_of = _policies(target.operators) if target else None
    stdin = standard_input()
    with console.progress("reading logs", _size(path for run in runs + others for path in run.paths)) as advance:
        judged, against_them = (
            [run_evidence(run, facts.steps, facts.ranks, pattern, pick, stdin, advance) for run in some]
            for some in (runs, others)
        )
    for note in (note for each in judged + against_them for note in each.notes):
        console.note(note)
    evidence, compared = ([run for each in some for run in each.runs] for some in (judged, against_them))
    _require_known(evidence)
    _warn_of_doubts(evidence, facts, console)
    if plot:
        write_file(plot, svg_text(scale_plot(evidence)).encode("utf-8"))
    verdict = judge(evidence, compared, facts, pattern is not None)
    status = {"sound": 0, "not sound": 1, "incomplete": int(strict)}[verdict.word]
    return soundness_answer(Soundness(verdict, evidence, compared, facts, against, policy_of), status)


def _policies(operators: Operators) -> PolicyOf:
    """Return what gives the policy of the op types that a MindSpore primitive maps to; None if they differ."""
    table = name_table("mindspore").ops

    def policy_of(name: str) -> Policy | None:
        names = [op for op in table.get(name, ()) if op in operators] or [name] * (name in operators)
        policies = {operators[op].entry.policy for op in names}
        return policies.pop() if len(policies) == 1 else None

    return policy_of


def _size(paths: Iterable[str]) -> int | None:
    """Return the bytes of all logs; None if one is a stream."""
    total = 0
    for path in paths:
        try:
            status = os.stat(path)
        except (OSError, ValueError):  # "-", or reported when it is read
            return None
        if not stat.S_ISREG(status.st_mode):
            return None
        total += status.st_size
    return total


def _require_known(runs: list[RunEvidence]) -> None:
    """:raises UsageFault: if no format understood a line of a run"""
    for run in runs:
        if not run.evidence.known:
            known = "; ".join(kind.reads for kind in FORMATS)
            raise UsageFault(
                "no line of a known log format, and no mixed-precision option",
                name="unknown-log",
                path=run.name,
                hint=f"known formats: {known}; and MindSpore's records of reduced precision, up to 2.0 with GLOG_v=1",
            )


def _warn_of_doubts(runs: list[RunEvidence], facts: Facts, console: Console) -> None:
    """Warn if an option and the log differ."""
    for run in runs:
        level, scaling = run.evidence.level, run.evidence.scaling
        if facts.amp and level and level_kind(facts.amp) != level_kind(level):
            console.warn(f"{run.name}: the log shows {level}, --amp is {facts.amp}; the log is used")
        if facts.scaling and scaling and scaling != facts.scaling:
            console.warn(f"{run.name}: the log shows {scaling} scaling, not {facts.scaling}; the log is used")
