"""The verdict on a baseline, as text and JSON."""

from __future__ import annotations

import math
import sys
from collections.abc import Iterator
from dataclasses import asdict
from typing import Any

from ...runs.points import Facts, Share, share_of
from ...runs.scale import Advice, advise, collapsed
from ...runs.training_run import RunEvidence
from ...runs.verdict import Verdict
from ..escape import row, visible
from ..terminal.output import Output
from ..terminal.places import shortened
from .scale_plot import ScaleLine, text_plot

_COLORS = {"holds": "note", "fails": "error", "sound": "note", "not sound": "error"}


def verdict_said(verdict: Verdict) -> str:
    """Return one sentence: the verdict and its reason."""
    if verdict.word == "sound":
        said = f"all {len(verdict.points)} points hold"
    elif verdict.word == "not sound":
        said = f"{', '.join(verdict.failing)} {'fails' if len(verdict.failing) == 1 else 'fail'}"
    else:
        said = f"nothing fails, but {', '.join(verdict.missing)} {_is_are(verdict.missing)} not shown"
    if verdict.without_reference:
        said += "; without a high-precision reference, which the guide allows only if memory or hardware rule one out"
    return said


def _status(status: str) -> str:
    """Return the status for people; JSON has ``cannot be told``, a value of schema version 1."""
    return "unknown" if status == "cannot be told" else status


def _is_are(names: list[str]) -> str:
    return "is" if len(names) == 1 else "are"


def show_verdict(output: Output, verdict: Verdict, runs: list[RunEvidence], facts: Facts) -> None:
    """Print the verdict, a line per point, then advice and plots on a terminal."""
    if not output.on_terminal:
        lines = [row("verdict", verdict.word, verdict_said(verdict))]
        lines += [row(point.name, _status(point.status), point.says, point.hint or "-") for point in verdict.points]
        lines += [row("advice", run.name, text) for run in runs for text in _advice(advise(run.evidence, facts.limit))]
        output.lines(lines)
        return
    word = output.paint(verdict.word, _COLORS.get(verdict.word, "warning"))
    first, *rest = output.wrapped(f"{verdict.word}: {verdict_said(verdict)}")
    with output.paged():
        output.lines([word + first.removeprefix(verdict.word), *rest, ""])
        output.lines(_point_lines(output, verdict))
        output.lines(line for run in runs for line in _run_lines(output, run, facts))


def _point_lines(output: Output, verdict: Verdict) -> Iterator[str]:
    for point in verdict.points:
        status = output.paint(f"{_status(point.status):<14}", _COLORS.get(point.status, "warning"))
        first, *rest = output.wrapped(f"{point.name}: {visible(point.says)}", before=15)
        yield from (f"{status} {first}", *(f"{'':15}{line}" for line in rest))
        if point.hint:
            first, *rest = output.wrapped(f"hint: {visible(point.hint)}", before=15)
            yield f"{'':15}{output.paint('hint:', 'hint')}{first.removeprefix('hint:')}"
            yield from (f"{'':15}{line}" for line in rest)


def _run_lines(output: Output, run: RunEvidence, facts: Facts) -> Iterator[str]:
    texts = _advice(advise(run.evidence, facts.limit))
    unicode = (sys.stdout.encoding or "ascii").lower().replace("-", "") in ("utf8", "utf16")
    width = min(100, output.columns)
    what = "step" if run.evidence.at_is_step else "message"
    plot = list(text_plot(ScaleLine(run.name, run.evidence.scale.drawn), what, width, unicode))
    if plot:
        yield from ("", f"loss scale of {shortened(visible(run.name), width - len('loss scale of '))}", *plot)
    for text in texts:
        name = shortened(visible(run.name), width - len("advice for :"))
        yield from output.wrapped(f"advice for {name}: {text}", 2)


def _advice(advice: Advice) -> list[str]:
    values = []
    if advice.initial:
        values.append(f"initial scale {advice.initial:g} (2^{int(math.log2(advice.initial))})")
    if advice.window:
        values.append(f"growth factor {advice.growth_factor:g}, growth window {advice.window}")
    if not values:
        return list(advice.reasons)
    return [f"{', '.join(values)}: {'; '.join(advice.reasons)}"]


def scale_lines(runs: list[RunEvidence]) -> list[ScaleLine]:
    return [ScaleLine(run.name, run.evidence.scale.drawn) for run in runs]


def verdict_document(
    verdict: Verdict, runs: list[RunEvidence], reference: list[RunEvidence], facts: Facts
) -> dict[str, Any]:
    return {
        "verdict": verdict.word,
        "says": verdict_said(verdict),
        "points": [asdict(point) for point in verdict.points],
        "missing": verdict.missing,
        "limit": facts.limit,
        "runs": [_run(run, facts) for run in runs],
        "reference": [_run(run, facts) for run in reference],
        "agreement": _finite(verdict.agreement._asdict()) if verdict.agreement else None,
        "comparison": _finite(verdict.comparison._asdict()) if verdict.comparison else None,
    }


def _run(run: RunEvidence, facts: Facts) -> dict[str, Any]:
    found = run.evidence
    return {
        "name": run.name,
        "logs": list(run.run.paths),
        "format": found.format,
        "level": found.level,
        "precision": found.precision,
        "scaling": found.scaling,
        "static_scale": _number(found.static_scale),
        "metric": _number(run.metric),
        "overflows": asdict(found.count),
        "share": _share(share_of(found)),
        "loss_scale": {
            "start": _number(found.scale.start),
            "final": _number(found.scale.final),
            "lowest": _number(found.scale.lowest),
            "highest": _number(found.scale.highest),
            "rises": found.scale.rises,
            "falls": found.scale.falls,
            "collapsed": collapsed(found),
            "at": "step" if found.at_is_step else "message",
            "trajectory": [list(point) for point in found.scale.drawn],
        },
        "advice": {**asdict(advice := advise(found, facts.limit)), "reasons": list(advice.reasons)},
    }


def _share(share: Share) -> dict[str, float | None]:
    return {"low": share.low, "high": share.high, "without_calibration": share.without}


def _number(value: float | None) -> float | None:
    """Return None for infinities and NaN, which JSON lacks."""
    return value if value is not None and math.isfinite(value) else None


def _finite(values: dict[str, Any]) -> dict[str, Any]:
    return {key: _number(value) if isinstance(value, float) else value for key, value in values.items()}
