"""The points checked for one run: precision, scaling, losses, the share of overflowed steps, and the scale.

The procedure is that of the Ascend porting guide (mixed-precision training, "loss scale"). What the log prints counts,
whatever is known of a dtype or a scaling: a bfloat16 run that prints skipped steps has a share of them. Without such
lines, and with sampled ones, the share cannot be measured.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, Literal

from ..core.document import Schema
from .count import Overflows
from .evidence import Evidence, Scaling
from .scale import judge_scale
from .startup import LEVELS
from .student_t import binomial_tail

LIMIT = 0.005
"""The guide's limit for the share of overflowed steps; for a large global batch it is 0.001."""

_BY_CHANCE = 0.001

Status = Literal["holds", "fails", "cannot be told", "not measurable", "missing"]


@dataclass(frozen=True)
class Facts:
    """What the user says of the runs.

    :param steps: optimizer steps of each run
    :param ranks: ranks that print to each log
    :param amp: the mixed-precision level, if the log does not show it
    :param loss_scale: ``dynamic`` or a number, if the log does not show it
    :param spread: the largest range of the metrics of runs, as a share of their mean
    :param limit: the share of overflowed steps from which a run is not sound (0 to 1)
    """

    steps: int | None = None
    ranks: int | None = None
    amp: str | None = None
    loss_scale: str | None = None
    spread: float = 0.01
    limit: float = LIMIT

    @property
    def scaling(self) -> Scaling | None:
        if self.loss_scale is None:
            return None
        return "dynamic" if self.loss_scale == "dynamic" else "static"


@dataclass(frozen=True)
class VerdictPoint:
    """One point of the procedure."""

    name: Annotated[
        str,
        Schema(
            examples=[
                "mixed-precision",
                "dynamic-scaling",
                "losses-are-numbers",
                "overflow-share",
                "loss-scale",
                "runs-agree",
                "reference",
            ]
        ),
    ]
    """The name of the point; more may be added."""
    status: Status
    """Whether the point holds, according to the logs."""
    says: str
    """The figures, as text."""
    hint: str | None = None
    """How to resolve it, or how to supply what the logs do not show; null if nothing is to be done."""


@dataclass(frozen=True)
class Share:
    """The number of overflowed steps divided by the number of all steps."""

    low: float | None
    """Lower bound, from 0 to 1; null if unknown."""
    high: float | None
    """Upper bound, from 0 to 1; null if unknown."""
    without_calibration: float | None
    """The share without the first descent of the scale; null if unknown."""


def share_of(evidence: Evidence) -> Share:
    """Return the share that the log proves: only ``low`` if the bounds are too wide, nothing if there is no proof."""
    count = evidence.count
    if not count.steps or not count.proof:
        return Share(None, None, None)
    clean = count.steps - count.calibrating
    without = (count.low - count.calibrating) / clean if clean > 0 and count.low == count.high else None
    low = min(1.0, _certain(evidence) / count.steps)
    if count.doubt or not count.is_narrow:
        return Share(low, None, None)
    return Share(low, min(1.0, count.high / count.steps), without)


def _certain(evidence: Evidence) -> int:
    """Return the certain overflows; for sampled lines at least those that falls of the scale prove."""
    count = evidence.count
    return max(count.low, evidence.scale.halvings) if count.doubt else count.low


def run_points(evidence: Evidence, facts: Facts) -> list[VerdictPoint]:
    """Return the points of one run."""
    return [
        _precision(evidence, facts),
        _scaling(evidence, facts),
        _losses(evidence, facts),
        _overflows(evidence, facts),
        _scale(evidence, facts),
    ]


def _precision(evidence: Evidence, facts: Facts) -> VerdictPoint:
    name = "mixed-precision"
    level, source = (evidence.level, "the log") if evidence.level else (facts.amp, "--amp")
    if level is None:
        hint = "--amp LEVEL supplies it"
        return VerdictPoint(name, "cannot be told", f"the log ({evidence.format}) prints neither level nor mode", hint)
    kind = LEVELS.get(level)
    if kind == "off":
        return VerdictPoint(name, "fails", f"{level} is not mixed precision ({source})")
    low = evidence.precision or kind or "float16"
    whole = "; everything is reduced, including batch norm" if level == "O3" else ""
    return VerdictPoint(name, "holds", f"{level} ({low}), from {source}{whole}")


def is_bfloat(evidence: Evidence, facts: Facts) -> bool:
    return (evidence.precision or LEVELS.get(evidence.level or facts.amp or "")) == "bfloat16"


def scaling_of(evidence: Evidence, facts: Facts) -> Scaling | None:
    """Return the scaling, from the log, else from the user; None if unknown."""
    return evidence.scaling or facts.scaling


def _scaling(evidence: Evidence, facts: Facts) -> VerdictPoint:
    name = "dynamic-scaling"
    scaling = scaling_of(evidence, facts)
    source = "the log" if evidence.scaling else "--loss-scale"
    if scaling == "dynamic":
        return VerdictPoint(name, "holds", f"dynamic, from {source}")
    if is_bfloat(evidence, facts):  # DeepSpeed prints a scale of 1.0 anyway
        return VerdictPoint(name, "holds", "bfloat16 has float32's range and needs no loss scaling")
    if scaling == "static":
        value = evidence.static_scale if evidence.scaling else float(facts.loss_scale or 0)
        text = f"static{f' ({value:g})' if value else ''}, from {source}"
        hint = "the guide requires dynamic scaling; with static scaling overflows are not detected"
        return VerdictPoint(name, "fails", text, hint)
    hint = "--loss-scale dynamic or --loss-scale VALUE supplies it"
    text = f"the log ({evidence.format}) does not show how the loss is scaled"
    return VerdictPoint(name, "cannot be told", text, hint)


def _losses(evidence: Evidence, facts: Facts) -> VerdictPoint:
    name = "losses-are-numbers"
    losses, norms = evidence.losses.losses, evidence.losses.norms
    parts = [(losses, "losses")] * (losses.entries > 0) + [(norms, "gradient norms")] * (norms.entries > 0)
    first = evidence.losses.first
    if first:
        place = f"at step {first.step}" if first.step is not None else f"in logged entry {first.entry}"
        bad = [f"{series.bad} of {series.entries} logged {what}" for series, what in parts if series.bad]
        bad += [f"{series.averages} running averages of {what}" for series, what in parts if series.averages]
        counted = evidence.losses.nan_iterations
        bad += [f"{counted} iterations by the log's own counter"] * (counted > 0)
        text = f"NaN or infinity in {', '.join(bad)}; the first {place}: {first.says}"
        scaling = scaling_of(evidence, facts)
        is_loss = losses.bad or losses.averages or counted
        if is_loss or not norms.recovered or scaling != "dynamic":
            hint = "dump that step and the one before it, and find the operator with `opsinfo numerics`"
            if not is_loss and norms.recovered and scaling is None and not is_bfloat(evidence, facts):
                hint += "; if the loss is scaled dynamically, which skips such steps: --loss-scale dynamic"
            return VerdictPoint(name, "fails", text, hint)
        return VerdictPoint(name, "holds", f"{text}; dynamic loss scaling skips such steps, and numbers follow")
    if evidence.zeros:
        text = f"the loss is exactly 0.0 in {evidence.zeros} of {losses.entries} entries, as the trainer prints NaN"
        return VerdictPoint(name, "cannot be told", text, "train with `logging_nan_inf_filter=False`")
    if not parts:
        return VerdictPoint(name, "cannot be told", "the log prints no loss and no gradient norm", "log the loss")
    all_of = " and ".join(f"{what} ({series.entries})" for series, what in parts)
    return VerdictPoint(name, "holds", f"all logged {all_of} are numbers")


def _overflows(evidence: Evidence, facts: Facts) -> VerdictPoint:
    name = "overflow-share"
    count, share, limit = evidence.count, share_of(evidence), facts.limit
    ranks_hint = "--ranks N supplies the number of ranks that print to the log"
    is_below = bool(count.doubt and count.logged) and count.high < limit * (count.steps or 0)  # whatever is not shown
    if count.doubt and count.logged and not is_below:
        return _sample(evidence, share, limit)
    if share.low is not None and share.low >= limit:
        hint = "only the initial calibration exceeds the limit: start with a lower scale, or train longer"
        is_calibration = share.without_calibration is not None and share.without_calibration < limit
        return VerdictPoint(name, "fails", _share_text(evidence, share, limit), hint if is_calibration else None)
    reason = _unmeasured(evidence, facts)
    if reason and not (is_below and count.doubt and reason.startswith(count.doubt)):
        return VerdictPoint(name, "not measurable", reason)
    if not count.proof:
        hint = (
            "log the loss scale or the skipped steps and train again; `docs/soundness.md` lists what each stack prints"
        )
        text = "the log has no overflow, and nothing shows that this run would print one"
        return VerdictPoint(name, "cannot be told", text, hint)
    of_steps = f" of {count.steps}" if count.steps else ""
    if not count.is_narrow and not is_below:
        text = f"{count.low} to {count.high}{of_steps} steps{_notes(count)}"
        return VerdictPoint(name, "cannot be told", text, ranks_hint)
    if scaling_of(evidence, facts) is None and not is_bfloat(evidence, facts):
        text = f"{count.low}{of_steps} steps overflowed; whether all are printed depends on the scaling"
        return VerdictPoint(name, "cannot be told", text, "--loss-scale supplies it")
    if is_below and count.steps:
        text = f"at most {percent(count.high / count.steps)} ({count.low} to {count.high} of {count.steps} steps; "
        return VerdictPoint(name, "holds", f"{text}{count.basis}), the limit is {percent(limit)}{_notes(count)}")
    if share.high is None:
        text = f"{count.low} steps overflowed; the log does not show of how many{_notes(count)}"
        return VerdictPoint(name, "cannot be told", text, "--steps N supplies the number of optimizer steps")
    if share.high >= limit:
        text = f"{count.low} to {count.high} of {count.steps} steps{_notes(count)}"
        return VerdictPoint(name, "cannot be told", text, ranks_hint)
    return VerdictPoint(name, "holds", _share_text(evidence, share, limit))


def _sample(evidence: Evidence, share: Share, limit: float) -> VerdictPoint:
    """Return the point for a log that shows a part of the steps. It fails if the overflows that are certain exceed the
    limit among all steps, or if the logged steps have equal distances and a run at the limit would show as many after
    its calibration by chance less than once in a thousand times.
    """
    count, name = evidence.count, "overflow-share"
    assert count.logged
    text = f"{percent(count.low / count.logged)} of the logged steps ({count.low} of {count.logged}), a sample"
    text += f" of {count.steps} steps" if count.steps else " of an unknown number of steps"
    certain = _certain(evidence)
    if certain > count.low:
        text += f"; falls of the scale prove at least {certain}"
    text += f"; the limit is {percent(limit)}{_notes(count)}"
    exceeds = share.low is not None and share.low >= limit
    later = count.low - count.calibrating if count.calibrating < count.logged else count.low
    if exceeds or (count.even and binomial_tail(later, count.logged, limit) < _BY_CHANCE):
        return VerdictPoint(name, "fails", text)
    return VerdictPoint(name, "not measurable", text, "print the flag or the scale in each step")


def _notes(count: Overflows) -> str:
    return "".join(f"; {note}" for note in count.notes)


def _unmeasured(evidence: Evidence, facts: Facts) -> str | None:
    count = evidence.count
    if is_bfloat(evidence, facts) and not count.low:
        printed = "the log prints no skipped step, and " if count.proof else ""
        return f"{printed}bfloat16 runs look for overflows only if asked to"
    if scaling_of(evidence, facts) == "static" and not count.low:
        return "with a static loss scale overflows are not printed"
    if evidence.count.doubt:
        certain = _certain(evidence)
        least = f"; falls of the scale prove at least {certain}" if certain > evidence.count.low else ""
        return f"{evidence.count.doubt}{least}"
    if evidence.silent:
        return evidence.silent
    if evidence.format == "unknown" and evidence.scaling is None:
        return "the log has no message of a known format; torch.amp, for example, prints no overflow"
    return None


def _share_text(evidence: Evidence, share: Share, limit: float) -> str:
    count = evidence.count
    assert share.low is not None
    many = str(count.low) if count.low == count.high else f"{_certain(evidence)} or more"
    text = f"{percent(share.low)} ({many} of {count.steps} steps; {count.basis}), the limit is {percent(limit)}"
    if count.calibrating and share.without_calibration is not None:
        text += f"; {percent(share.without_calibration)} without the {count.calibrating} of the initial calibration"
    return text + _notes(count)


def percent(share: float) -> str:
    """Return a share as a percentage with three significant digits, such as ``0.125 %``."""
    return f"{share * 100:.3g} %"


def _scale(evidence: Evidence, facts: Facts) -> VerdictPoint:
    name = "loss-scale"
    scale = evidence.scale
    if is_bfloat(evidence, facts) and not scale.changes and not scale.not_numbers and scale.start in (None, 1.0):
        return VerdictPoint(name, "not measurable", "bfloat16 runs have no loss scale")
    if scaling_of(evidence, facts) == "static" and not scale.changes and not scale.not_numbers and not evidence.fatal:
        return VerdictPoint(name, "not measurable", "the loss scale is static")
    if scaling_of(evidence, facts) is None and scale.lowest == scale.highest == 1.0 and not evidence.count.low:
        return VerdictPoint(name, "not measurable", "the printed scale is 1 throughout: the loss is not scaled")
    status, text, hint = judge_scale(evidence)
    return VerdictPoint(name, status, text, hint)
