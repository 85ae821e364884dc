"""`opsinfo qualify`: check whether a mixed-precision baseline is sound, from its logs."""

from __future__ import annotations

import math
import os
import re
import stat
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass
from typing import Any

import click

from ...core.cann.library import Operators
from ...core.cann.name_tables import name_table
from ...core.cann.policy import Policy
from ...core.cann.target import TargetOptions
from ...core.change.output_file import write_file
from ...core.terminal.answer import Answer, Block, Column, Either, Line, Lines, Place, Span, Style, Table, members
from ...core.terminal.config import Targeted
from ...core.terminal.console import Console
from ...core.terminal.open import open_given
from ...core.terminal.params import (
    TARGET,
    Choice,
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
from ...core.terminal.plot import picture, require_svg, svg_text
from ...core.text.source import standard_input
from ...errors import UsageFault
from ..formats import FORMATS
from ..losses import Losses
from ..metric import PICKS, compile_metric
from ..points import Facts, VerdictPoint, percent, share_of
from ..reduced import Reduced
from ..scale import Advice, advise, collapse_of
from ..startup import LEVELS, level_kind
from ..training_run import RunEvidence, run_evidence, runs_of
from ..verdict import Verdict, judge
from .scale_plot import scale_plot


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
)


@click.command("qualify", cls=Targeted)
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
@strict_option
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
    console: Console,
) -> Answer:
    """Check training logs for NaN, overflow and loss-scale trouble, by the procedure of the porting guide.

    Each LOG is a run; a folder is a run with a log per rank, unless its logs do not fit each other. Plain, gzipped, or
    - for standard input. Logs of APEX, FP16_Optimizer, torch_npu, DeepSpeed, Megatron and MindSpeed, fairseq, Paddle
    and PaddleNLP, MindSpore, mindformers, mindyolo, TensorFlow on the NPU, BMTrain, NVIDIA's BERT, Hugging Face's
    Trainer and LLaMA-Factory are read, and columns of the loss scale (Swin, BEiT, MMCV, DLLogger). Losses and gradient
    norms are read in the form of any framework.

    Exit status 1 if a run is not sound, 2 if no line has a known format. With --strict an incomplete verdict counts as
    a warning.

    Operators that MindSpore 1.x and 2.0 logged as reduced (GLOG_v=1) are listed with the number of records.

    \b
    Examples:
      opsinfo qualify train.log
      opsinfo qualify train.log --steps 50000 --ranks 2 --plot scale.svg
      opsinfo qualify train.log --metric 'Acc@1 ([0-9.]+)'
      cat train.log | opsinfo qualify - --format json
      opsinfo qualify mindspore.log --against ascend910b
    """
    pattern = compile_metric(metric) if metric else None
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
    status = {"sound": 0, "not sound": 1, "incomplete": int(console.strict)}[verdict.word]
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
            known = "; ".join(re.sub(r" \(`[^)]*\)", "", kind.reads) for kind in FORMATS)  # without their lines
            raise UsageFault(
                "not a training log: no line of a known format, and no mixed-precision option that a run printed",
                name="unknown-log",
                path=run.name,
                hint=f"known logs: {known}; and MindSpore's records of reduced precision, up to 2.0 with GLOG_v=1; "
                "`opsinfo modes --snippet NAME` prints code that makes a run log what is read",
            )


def _warn_of_doubts(runs: list[RunEvidence], facts: Facts, console: Console) -> None:
    """Warn if an option and the log differ."""
    for run in runs:
        level, scaling = run.evidence.level, run.evidence.scaling
        if facts.amp and level and level_kind(facts.amp) != level_kind(level):
            console.warn(f"{run.name}: the log shows {level}, --amp is {facts.amp}; the log is used")
        if facts.scaling and scaling and scaling != facts.scaling:
            console.warn(f"{run.name}: the log shows {scaling} scaling, not {facts.scaling}; the log is used")


PolicyOf = Callable[[str], Policy | None]
_STYLES: dict[str, Style] = {"holds": "note", "fails": "error", "sound": "note", "not sound": "error"}
_STATUS = 15
"""Cells for the status of a point."""


@dataclass(frozen=True)
class Soundness:
    """What `qualify` found.

    :param against: the target whose policies are shown for reduced op types
    """

    verdict: Verdict
    runs: Sequence[RunEvidence]
    reference: Sequence[RunEvidence]
    facts: Facts
    against: str | None = None
    policy_of: PolicyOf | None = None

    @property
    def reduced(self) -> Reduced:
        """The records of all runs together."""
        every = Reduced()
        for run in self.runs:
            every.include(run.reduced)
        return every

    def policy_word(self, name: str) -> str:
        policy = self.policy_of(name) if self.policy_of else None
        return str(policy) if policy else "-"


def soundness_answer(soundness: Soundness, status: int) -> Answer:
    reduced = soundness.reduced
    notes = [_reduced_text(reduced)] if reduced else []
    return Answer(
        lambda: _document(soundness, reduced),
        lambda: [Either(lambda: _drawn(soundness, reduced), lambda: [_fields(soundness, reduced)])],
        notes=notes,
        status=status,
    )


def verdict_text(verdict: Verdict) -> str:
    """Return the reason of the verdict in one sentence."""
    hint = ""
    if verdict.word == "sound":
        text = f"all {len(verdict.points)} points hold"
    elif verdict.word == "not sound":
        text = f"{', '.join(verdict.failing)} {'fails' if len(verdict.failing) == 1 else 'fail'}"
    else:
        unknown = [
            point.name for point in verdict.points if point.name in verdict.missing and point.status != "missing"
        ]
        verb = "is" if len(unknown) == 1 else "are"
        begin = "nothing fails, but" if verdict.is_measured else "nothing that could fail is shown:"
        text = f"{begin} {', '.join(unknown)} {verb} unknown" if unknown else "nothing fails"
        if len(unknown) < len(verdict.missing):
            text += "; too few runs to compare"
            hint = ": add more, or --reference" if verdict.without_reference else ": add more"
    if verdict.without_reference and not hint:
        hint = "; not compared with high precision (--reference)"
    return text + hint


def _fields(soundness: Soundness, reduced: Reduced) -> Table:
    """Off a terminal: the verdict, a line a point, advice, and reduced op types."""
    verdict = soundness.verdict
    rows: list[tuple[str, ...]] = [("verdict", verdict.word, verdict_text(verdict))]
    rows += [(point.name, _status(point), point.says, point.hint or "-") for point in verdict.points]
    rows += [("advice", run.name, text) for run in soundness.runs for text in _advice(soundness, run)]
    for name, count in reduced.ordered:
        rows.append(("reduced", name, str(count), soundness.policy_word(name), _kernel(reduced, name)))
    return Table([], rows)


def _drawn(soundness: Soundness, reduced: Reduced) -> Iterator[Block]:
    verdict = soundness.verdict
    word = Span(verdict.word, _STYLES.get(verdict.word, "warning"))
    yield Lines([[word, Span(f": {verdict_text(verdict)}")], ""])
    yield Lines([line for point in verdict.points for line in _point_lines(point)], indent=_STATUS)
    if len(soundness.runs) > 1:
        yield Lines([""])
        yield _run_table(soundness)
    for run in soundness.runs:
        yield picture(scale_plot([run]), "loss scale of ", run.name)
        yield Lines([[Span("advice", "hint"), Span(f" for {run.name}: {text}")] for text in _advice(soundness, run)], 2)
    if reduced.counts:
        columns = [Column("reduced operator"), Column("records", number=True)]
        columns += [Column("policy", policy=True)] if soundness.policy_of else []
        columns += [Column("kernel", dim=True, spare=True)]
        rows = [
            [name, str(count), *[soundness.policy_word(name)] * bool(soundness.policy_of), _kernel(reduced, name)]
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
    return Table(columns, [_run_cells(run, has_metric) for run in soundness.runs])


def _run_cells(run: RunEvidence, has_metric: bool) -> list[str | Place]:
    evidence, count, share = run.evidence, run.evidence.count, share_of(run.evidence)
    overflows = str(count.low) if count.low == count.high else f"{count.low}-{count.high}"
    final = evidence.scale.final
    return [
        Place(run.name),
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


def _document(soundness: Soundness, reduced: Reduced) -> dict[str, Any]:
    verdict, facts = soundness.verdict, soundness.facts
    return {
        "verdict": verdict.word,
        "says": verdict_text(verdict),
        "points": [asdict(point) for point in verdict.points],
        "missing": verdict.missing,
        "limit": facts.limit,
        "runs": [_run(run, facts) for run in soundness.runs],
        "reference": [_run(run, facts) for run in soundness.reference],
        "agreement": _finite(verdict.agreement._asdict()) if verdict.agreement else None,
        "comparison": _finite(verdict.comparison._asdict()) if verdict.comparison else None,
        "reduced": {
            "against": soundness.against,
            "operators": [
                {
                    "name": name,
                    "count": count,
                    "policy": soundness.policy_of and soundness.policy_of(name),
                    "kernels": reduced.kernels.get(name, []),
                }
                for name, count in reduced.ordered
            ],
            "total": reduced.counts.total(),
            "raised": reduced.raised,
            "unnamed": reduced.unnamed,
        },
    }


def _run(run: RunEvidence, facts: Facts) -> dict[str, Any]:
    evidence, share = run.evidence, share_of(run.evidence)
    advice = advise(evidence, facts.limit)
    return {
        "name": run.name,
        "logs": run.run.paths,
        **members(evidence, "format", "level", "precision", "scaling"),
        "static_scale": _number(evidence.static_scale),
        "metric": _number(run.metric),
        "overflows": asdict(evidence.count),
        "share": {"low": share.low, "high": share.high, "without_calibration": share.without},
        "loss_scale": {
            **_finite(members(evidence.scale, "start", "final", "lowest", "highest", "rises", "falls")),
            "collapsed": collapse_of(evidence),
            "at": "step" if evidence.at_is_step else "message",
            "trajectory": evidence.scale.drawn,
        },
        "losses": _losses(evidence.losses),
        "advice": asdict(advice),
    }


def _losses(losses: Losses) -> dict[str, Any]:
    first = losses.first
    return {
        "logged": losses.losses.entries,
        "not_numbers": losses.losses.bad,
        "norms_logged": losses.norms.entries,
        "norms_not_numbers": losses.norms.bad,
        "nan_iterations": losses.nan_iterations,
        "first": first._asdict() if first else None,
    }


def _number(value: float | None) -> float | None:
    """Return None for infinities and NaN, which JSON lacks."""
    return value if value is not None and math.isfinite(value) else None


def _finite(values: dict[str, Any]) -> dict[str, Any]:
    return {key: _number(value) if isinstance(value, float) else value for key, value in values.items()}
