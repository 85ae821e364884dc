"""`opsinfo qualify`: check whether a mixed-precision baseline is sound, from its logs."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack
from itertools import takewhile
from typing import Any

import click

from ...core.cann.targets.found import TargetOptions
from ...core.change.output_file import write_file
from ...core.terminal.answer import Block, Column, CommandAnswer, Either, Line, Lines, PathCell, Span, Style, Table
from ...core.terminal.config import Targeted, too_many_configured
from ...core.terminal.console import Console
from ...core.terminal.open import open_against, require_against
from ...core.terminal.params import (
    TARGET,
    Number,
    OutputFile,
    Word,
    advanced,
    bundle,
    option,
    prints,
    soc_option,
    strict_option,
)
from ...core.terminal.plot import Curve, Plot, picture, require_svg, svg_text
from ...errors import counted
from ..points import LIMIT, Facts, VerdictPoint, percent, share_of
from ..reduced import Reduced
from ..scale import Advice, advise
from ..soundness import Soundness, known_level, known_scale, qualify
from ..startup import LEVELS
from ..training_run import RunEvidence
from ..verdict import Verdict


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
        type=Word("LEVEL", lambda *_: [*LEVELS], parse=known_level),
        help="Mixed-precision level, if the log lacks it.",
    ),
    option(
        "--loss-scale",
        type=Word("dynamic|VALUE", lambda *_: ["dynamic"], parse=known_scale),
        help="Loss scaling, if missing in the log.",
    ),
    option(
        "--limit",
        metavar="SHARE",
        type=click.FloatRange(0, 1, min_open=True),
        default=LIMIT,
        show_default=True,
        help="Share of overflowed steps from which a run is not sound; 0.001 for a large global batch.",
    ),
    advanced(
        "--spread",
        type=Percent("PERCENT"),
        default="1",
        show_default=True,
        help="Largest range of the metrics of runs, as a share of their mean.",
    ),
)


@click.command("qualify", cls=Targeted)
@click.argument("logs", nargs=-1, required=True, type=LOG)
@option(
    "--metric",
    type=Word("REGEX"),
    help="Regular expression of the validation metric; its first group is the number; the last one counts.",
)
@option("--reference", type=LOG, multiple=True, help="Log of a high-precision run of the same model; repeatable.")
@_facts
@option("--against", type=TARGET, help="Show the policies of reduced operators in this target.")
@soc_option
@option("--plot", type=OutputFile(), help="Write a plot of the loss scale over the steps as SVG.")
@strict_option
@prints()
def command(
    logs: tuple[str, ...],
    metric: str | None,
    reference: tuple[str, ...],
    facts: Facts,
    against: str | None,
    soc: str | None,
    plot: str | None,
    console: Console,
) -> CommandAnswer:
    """Check training logs for NaN, overflow and loss-scale trouble, by the procedure of the porting guide.

    Each LOG is a run; a folder is a run with a log per rank, unless its logs do not fit each other. Plain, gzipped, or
    - for standard input. Logs of APEX, FP16_Optimizer, torch_npu, DeepSpeed, Megatron and MindSpeed, fairseq, Paddle
    and PaddleNLP, MindSpore, mindformers, mindyolo, TensorFlow on the NPU, BMTrain, NVIDIA's BERT, Hugging Face's
    Trainer and LLaMA-Factory are read, and columns of the loss scale (Swin, BEiT, MMCV, DLLogger). Losses and gradient
    norms are read in the form of any framework.

    Exit status 1 if a run is not sound, 2 if the logs show no loss, overflow, scale or metric. With --strict an
    incomplete verdict counts as a warning.

    Operators that MindSpore 1.x and 2.0 logged as reduced (GLOG_v=1) are listed with the number of records.

    \b
    Examples:
      opsinfo qualify train.log
      opsinfo qualify train.log --steps 50000 --ranks 2 --plot scale.svg
      opsinfo qualify train.log --metric 'Acc@1 ([0-9.]+)'
      cat train.log | opsinfo qualify - --format json
      opsinfo qualify mindspore.log --against ascend910b
    """
    if plot:
        require_svg(plot)
    options = TargetOptions(soc=soc)
    if against is None:
        require_against(options)
    target = None if against is None else open_against(against, console, options)
    with ExitStack() as stack:
        advance: list[Callable[[float], None]] = []

        def seen(count: int, total: int | None) -> None:
            if not advance:
                advance.append(stack.enter_context(console.progress("reading logs", total)))
            advance[0](count)

        found = qualify(logs, metric=metric, reference=reference, against=target, seen=seen, **vars(facts))
    for note in found.notes:
        console.note(note)
    if found.reduced and (several := too_many_configured("against")):
        console.note(several)
    for warning in found.warnings:
        console.warn(warning)
    if plot:
        write_file(plot, svg_text(scale_plot(found.runs)).encode("utf-8"))
    return soundness_answer(found, console.strict)


_STYLES: dict[str, Style] = {"holds": "note", "fails": "error", "sound": "note", "not sound": "error"}
_SHORT = 18
"""A name of so many characters is whole in every column."""
_MOST_PLOTS = 8
"""So many runs are drawn on a terminal."""
_STATUS = 15
"""Cells for the status of a point."""


def soundness_answer(found: Soundness, strict: bool) -> CommandAnswer:
    """:param strict: whether an incomplete verdict fails"""
    reduced = found.reduced
    return CommandAnswer(
        found.to_dict,
        lambda: [Either(lambda: _drawn(found, reduced), lambda: [_fields(found, reduced)])],
        notes=[_reduced_text(reduced)] if reduced else [],
        status=_exit_status(found.verdict, strict),
    )


def _exit_status(verdict: Verdict, strict: bool) -> int:
    if verdict.word == "incomplete":
        return int(strict) if verdict.is_measured else 2
    return int(verdict.word == "not sound")


def _fields(soundness: Soundness, reduced: Reduced) -> Table:
    """Off a terminal: the verdict, a line a point, advice, and reduced op types."""
    verdict = soundness.verdict
    rows: list[tuple[str, ...]] = [("verdict", verdict.word, verdict.says)]
    rows += [(point.name, _status(point), point.says, point.hint or "-") for point in verdict.points]
    rows += [("advice", run.name, text) for run in soundness.runs for text in _advice(soundness, run)]
    policies = soundness.policies(reduced.counts)
    for name, count in reduced.ordered:
        rows.append(("reduced", name, str(count), str(policies[name] or "-"), _kernel(reduced, name)))
    return Table([], rows)


def _drawn(soundness: Soundness, reduced: Reduced) -> Iterator[Block]:
    verdict = soundness.verdict
    word = Span(verdict.word, _STYLES.get(verdict.word, "warning"))
    yield Lines([[word, Span(f": {verdict.says}")], ""])
    yield Lines([line for point in verdict.points for line in _point_lines(point)], indent=_STATUS)
    if len(soundness.runs) > 1:
        yield Lines([""])
        yield _run_table(soundness)
    left = -_MOST_PLOTS
    for run in soundness.runs:
        plot = scale_plot([run])
        left += plot.is_line
        if left <= 0:
            yield picture(plot, "loss scale of ", run.name)
        yield Lines([[Span("advice", "hint"), Span(f" for {run.name}: {text}")] for text in _advice(soundness, run)], 2)
    if left > 0:
        yield Lines(["", f"the loss scales of {counted(left, 'more run')} are not drawn; --plot FILE draws all"])
    if reduced.counts:
        policies = soundness.policies(reduced.counts)
        columns = [Column("reduced operator"), Column("records", number=True)]
        columns += [Column("policy", policy=True)] if soundness.target else []
        columns += [Column("kernel", dim=True, spare=True)]
        rows = [
            [name, str(count), *[str(policies[name] or "-")] * bool(soundness.target), _kernel(reduced, name)]
            for name, count in reduced.ordered
        ]
        yield Lines([""])
        yield Table(columns, rows)


def _point_lines(point: VerdictPoint) -> Iterator[Line]:
    status = _status(point)
    yield [Span(status.ljust(_STATUS), _STYLES.get(status, "warning")), Span(f"{point.name}: {point.says}")]
    if point.hint:
        yield [Span(" " * _STATUS), Span("hint:", "hint"), Span(f" {point.hint}")]


def _status(point: VerdictPoint) -> str:
    """Return the status for people; JSON has ``cannot be told``, a value of schema version 1."""
    return "unknown" if point.status == "cannot be told" else point.status


def _run_table(soundness: Soundness) -> Table:
    has_metric = any(run.metric is not None for run in soundness.runs)
    columns = [Column("run"), Column("format", spare=True)]
    columns += [Column(title, number=True) for title in ("steps", "overflows", "share", "last scale")]
    columns += [Column("metric", number=True)] * has_metric
    names = _distinct([run.name for run in soundness.runs])
    return Table(columns, [_run_cells(name, run, has_metric) for name, run in zip(names, soundness.runs, strict=True)])


def _distinct(names: list[str]) -> list[str]:
    """Return names without the words that all begin or end with, so that a narrow column tells them apart."""
    if max(map(len, names)) <= _SHORT:
        return names
    words = [re.split(r"(?<=[/_.-])", name) for name in names]
    head = _shared(words)
    tail = _shared([[*reversed(each[head:])] for each in words])
    shown = ["".join(each[head : len(each) - tail]) for each in words]
    return [f"{'...' * (head > 0)}{name}{'...' * (tail > 0)}" for name in shown] if all(shown) else names


def _shared(words: list[list[str]]) -> int:
    """Return how many words all begin with; 0 if dots in their place are no shorter."""
    same = [each[0] for each in takewhile(lambda same: len(set(same)) == 1, zip(*words, strict=False))]
    return len(same) if len("".join(same)) > len("...") else 0


def _run_cells(name: str, run: RunEvidence, has_metric: bool) -> list[str | PathCell]:
    evidence, count, share = run.evidence, run.evidence.count, share_of(run.evidence)
    overflows = str(count.low) if count.low == count.high else f"{count.low}-{count.high}"
    final = evidence.scale.final
    return [
        PathCell(name),
        evidence.format,
        str(count.steps) if count.steps else "-",
        overflows if count.proof else "-",
        percent(share.high) if share.high is not None else "-",
        f"{final:g}" if final is not None else "-",
        *[f"{run.metric:g}" if run.metric is not None else "-"] * has_metric,
    ]


def _advice(soundness: Soundness, run: RunEvidence) -> list[str]:
    advice = advise(run.evidence, soundness.facts.limit)
    values = _advised(advice)
    return [f"{', '.join(values)}: {'; '.join(advice.reasons)}"] if values else list(advice.reasons)


def _advised(advice: Advice) -> list[str]:
    values = []
    if advice.initial:
        values.append(f"initial scale {advice.initial:g} (2^{int(math.log2(advice.initial))})")
    if advice.window:
        values.append(f"growth factor {advice.growth_factor:g}, growth window {advice.window}")
    return values


def _kernel(reduced: Reduced, name: str) -> str:
    return reduced.kernels.get(name, ["-"])[0]


def _reduced_text(reduced: Reduced) -> str:
    text = f"MindSpore logged {reduced.counts.total()} records of reduced precision, {len(reduced.counts)} operators"
    text += f"; {reduced.raised} of raised precision" if reduced.raised else ""
    return text + (f"; {reduced.unnamed} without an operator's name" if reduced.unnamed else "")


def scale_plot(runs: Sequence[RunEvidence]) -> Plot:
    """Return the plot; scales of zero or below, which no power of two is, are left out."""
    curves = [
        Curve(run.name, [(at, math.log2(scale)) for at, scale in run.evidence.scale.drawn if scale > 0]) for run in runs
    ]
    every = [point for curve in curves for point in curve.points] or [(0, 0)]
    ats, powers = [int(at) for at, _ in every], [power for _, power in every]
    low, high = math.floor(min(powers)), math.ceil(max(powers))
    return Plot(
        "Loss scale",
        "2^",
        "step" if runs and runs[0].evidence.at_is_step else "message",
        curves,
        low,
        max(high, low + 1),
        min(ats),
        max(ats),
        holds=True,
        empty="The logs print no loss scale.",
    )
