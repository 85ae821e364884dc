"""The answer of `qualify`: the verdict on a baseline, point by point, and what MindSpore logged as reduced."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict, dataclass
from typing import Any

from ...core.cann.policy import Policy
from ...core.terminal.answer import Answer, Block, Column, Either, Line, Lines, Place, Span, Style, Table, members
from ...core.terminal.plot import picture
from ..losses import Losses
from ..points import Facts, VerdictPoint, percent, share_of
from ..reduced import Reduced
from ..scale import Advice, advise, collapsed
from ..training_run import RunEvidence
from ..verdict import Verdict
from .scale_plot import scale_plot

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
            "collapsed": collapsed(evidence),
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
