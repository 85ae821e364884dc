"""The points checked for one run: precision, scaling, the share of overflowed steps, and the scale.

The procedure is that of the Ascend porting guide (mixed-precision training, "loss scale"). With a static scale, bf16,
sampled lines or no overflow messages the share cannot be measured.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

from .count import Count
from .readers.reader import Evidence
from .scale import judge_scale
from .startup import level_kind

LIMIT = 0.005
LARGE_BATCH_LIMIT = 0.001
"""The guide's limits for the share of overflowed steps: 0.5 %, and 0.1 % for a large global batch."""


@dataclass(frozen=True)
class Asked:
    """Facts about the runs from the command line."""

    steps: int | None = None
    ranks: int | None = None
    large_batch: bool = False
    expect_dynamic: bool = False
    amp: str | None = None
    loss_scale: str | None = None
    spread: float = 0.01

    @property
    def limit(self) -> float:
        return LARGE_BATCH_LIMIT if self.large_batch else LIMIT


@dataclass(frozen=True)
class VerdictPoint:
    """One point of the procedure.

    :param status: ``holds``, ``fails``, ``cannot be told``, ``not measurable`` or ``missing``
    """

    name: str
    status: str
    says: str
    hint: str | None = None


class Share(NamedTuple):
    """Overflowed steps as a share of all steps (0 to 1), between ``low`` and ``high``; None if unknown.

    :param without: the share without the first descent of the scale
    """

    low: float | None
    high: float | None
    without: float | None


def share_of(found: Evidence) -> Share:
    """Return the share that the log proves: only ``low`` if the bounds are too wide, nothing if there is no proof."""
    count = found.count
    if not count or not count.steps or not count.proof:
        return Share(None, None, None)
    clean = count.steps - count.calibrating
    without = (count.low - count.calibrating) / clean if clean > 0 and count.low == count.high else None
    low = min(1.0, _least(found, count) / count.steps)
    if count.doubt or not count.is_narrow:
        return Share(low, None, None)
    return Share(low, min(1.0, count.high / count.steps), without)


def _least(found: Evidence, count: Count) -> int:
    """Return the certain overflows; for sampled lines at least those that falls of the scale prove."""
    return max(count.low, found.scale.halvings) if count.doubt else count.low


def run_points(found: Evidence, asked: Asked) -> list[VerdictPoint]:
    """Return points 1 to 4 for one run."""
    return [_precision(found, asked), _scaling(found, asked), _overflows(found, asked), _scale(found, asked)]


def _precision(found: Evidence, asked: Asked) -> VerdictPoint:
    name = "mixed-precision"
    level, by = (found.level, "the log") if found.level else (asked.amp, "--amp")
    if level is None:
        hint = "--amp LEVEL supplies it"
        return VerdictPoint(name, "cannot be told", f"the log ({found.format}) prints neither level nor mode", hint)
    kind = level_kind(level)
    if kind == "off":
        return VerdictPoint(name, "fails", f"{level} is not mixed precision ({by})")
    low = found.precision or kind or "float16"
    whole = "; everything is reduced, including batch norm" if level == "O3" else ""
    return VerdictPoint(name, "holds", f"{level} ({low}), from {by}{whole}")


def is_bfloat(found: Evidence, asked: Asked) -> bool:
    return (found.precision or level_kind(found.level or asked.amp or "")) == "bfloat16"


def scaling_of(found: Evidence, asked: Asked) -> str | None:
    """Return ``dynamic`` or ``static``, from the log, else from the user; None if unknown."""
    if found.scaling or asked.loss_scale is None:
        return found.scaling
    return "dynamic" if asked.loss_scale == "dynamic" else "static"


def _scaling(found: Evidence, asked: Asked) -> VerdictPoint:
    name = "dynamic-scaling"
    scaling = scaling_of(found, asked)
    by = "the log" if found.scaling else "--loss-scale"
    if scaling == "dynamic":
        return VerdictPoint(name, "holds", f"dynamic, from {by}")
    if is_bfloat(found, asked) and not asked.expect_dynamic:  # DeepSpeed prints a scale of 1.0 anyway
        return VerdictPoint(name, "holds", "bfloat16 has float32's range and needs no loss scaling")
    if scaling == "static":
        value = found.static_scale if found.scaling else float(asked.loss_scale or 0)
        said = f"static{f' ({value:g})' if value else ''}, from {by}"
        return VerdictPoint(
            name, "fails", said, "the guide requires dynamic scaling; with static scaling overflows are not detected"
        )
    if asked.expect_dynamic:
        return VerdictPoint(name, "fails", "the log shows no dynamic loss scaling, which --expect requires")
    hint = "--loss-scale dynamic or --loss-scale VALUE supplies it"
    return VerdictPoint(name, "cannot be told", f"the log ({found.format}) does not show how the loss is scaled", hint)


def _overflows(found: Evidence, asked: Asked) -> VerdictPoint:
    name = "overflow-share"
    count, share, limit = found.count, share_of(found), asked.limit
    reason = _unmeasured(found, asked)
    if share.low is not None and share.low >= limit and not is_bfloat(found, asked):
        return VerdictPoint(name, "fails", _said(found, share, limit), _calibration_hint(share, limit))
    if reason:
        return VerdictPoint(name, "not measurable", reason)
    if count is None or not count.proof:
        hint = (
            "log the loss scale or the skipped steps and train again; `docs/soundness.md` lists what each stack prints"
        )
        said = "the log has no overflow, and nothing shows that this run would print one"
        return VerdictPoint(name, "cannot be told", said, hint)
    if scaling_of(found, asked) is None:
        steps = f" of {count.steps}" if count.steps else ""
        said = f"{count.low}{steps} steps overflowed; whether all are printed depends on the scaling"
        return VerdictPoint(name, "cannot be told", said, "--loss-scale supplies it")
    if not count.is_narrow:
        said = f"{count.low} to {count.high}{f' of {count.steps}' if count.steps else ''} steps{_noted(count)}"
        return VerdictPoint(
            name, "cannot be told", said, "--ranks N supplies the number of ranks that print to the log"
        )
    if share.high is None:
        said = f"{count.low} steps overflowed; the log does not show of how many{_noted(count)}"
        return VerdictPoint(name, "cannot be told", said, "--steps N supplies the number of optimizer steps")
    if share.high >= limit:
        said = f"{count.low} to {count.high} of {count.steps} steps{_noted(count)}"
        return VerdictPoint(
            name, "cannot be told", said, "--ranks N supplies the number of ranks that print to the log"
        )
    return VerdictPoint(name, "holds", _said(found, share, limit))


def _noted(count: Count) -> str:
    return "".join(f"; {note}" for note in count.notes)


def _unmeasured(found: Evidence, asked: Asked) -> str | None:
    if is_bfloat(found, asked):
        return "bfloat16 runs print no overflow"
    scaling = scaling_of(found, asked)
    if scaling == "static":
        return "with a static loss scale overflows are not printed"
    if found.count and found.count.doubt:
        bound = _least(found, found.count)
        least = f"; falls of the scale prove at least {bound}" if bound > found.count.low else ""
        return f"{found.count.doubt}{least}"
    if found.format == "unknown" and found.scaling is None:
        return "the log has no message of a known format; torch.amp, for example, prints no overflow"
    return None


def _said(found: Evidence, share: Share, limit: float) -> str:
    count = found.count
    assert count is not None
    assert share.low is not None
    many = str(count.low) if count.low == count.high else f"{_least(found, count)} or more"
    text = f"{percent(share.low)} ({many} of {count.steps} steps; {count.basis}), the limit is {percent(limit)}"
    if count.calibrating and share.without is not None:
        text += f"; {percent(share.without)} without the {count.calibrating} of the initial calibration"
    return text + _noted(count)


def _calibration_hint(share: Share, limit: float) -> str | None:
    if share.without is not None and share.without < limit:
        return "only the initial calibration exceeds the limit: start with a lower scale, or train longer"
    return None


def percent(share: float) -> str:
    """Return a share as a percentage with three significant digits, such as ``0.125 %``."""
    return f"{share * 100:.3g} %"


def _scale(found: Evidence, asked: Asked) -> VerdictPoint:
    name = "loss-scale"
    if is_bfloat(found, asked) and not found.scale.changes:
        return VerdictPoint(name, "not measurable", "bfloat16 runs have no loss scale")
    if scaling_of(found, asked) == "static":
        return VerdictPoint(name, "not measurable", "the loss scale is static")
    status, says, hint = judge_scale(found)
    return VerdictPoint(name, status, says, hint)
