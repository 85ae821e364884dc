"""The points that one run is held to: precision, scaling, the share of overflowed steps, the scale itself.

The procedure is the Ascend porting guide's (interop.md 5); a static scale, bf16 and sampled lines measure nothing.
"""

from __future__ import annotations

from dataclasses import dataclass

from .readers import Evidence
from .scale import judge_scale
from .startup import level_kind

__all__ = ["LARGE_BATCH_LIMIT", "LIMIT", "Asked", "Point", "Share", "run_points", "share_of"]

LIMIT = 0.005
LARGE_BATCH_LIMIT = 0.001
"""The guide's limits for the share of overflowed steps: 0.5 %, and 0.1 % for a large global batch."""


@dataclass(frozen=True)
class Asked:
    """What the command line says of the runs."""

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
class Point:
    """One point of the procedure.

    :param status: ``holds``, ``fails``, ``cannot be told``, ``not measurable`` or ``missing``
    """

    name: str
    status: str
    says: str
    hint: str | None = None


@dataclass(frozen=True)
class Share:
    """Overflowed steps by all steps, between ``low`` and ``high``; None where it is not known.

    :param without: the same without the first descent of the scale
    """

    low: float | None
    high: float | None
    without: float | None


def share_of(found: Evidence) -> Share:
    count = found.count
    if not count or not count.steps:
        return Share(None, None, None)
    clean = count.steps - count.calibrating
    without = (count.low - count.calibrating) / clean if clean > 0 and count.low == count.high else None
    return Share(min(1.0, _least(found) / count.steps), min(1.0, count.high / count.steps), without)


def _least(found: Evidence) -> int:
    """Overflows that are sure: of sampled lines those that the scale's falls prove, where they are more."""
    count = found.count
    if not count:
        return 0
    return max(count.low, found.scale.halvings) if count.doubt else count.low


def run_points(found: Evidence, asked: Asked) -> list[Point]:
    """Points 1 to 4 of one run."""
    return [_precision(found, asked), _scaling(found, asked), _overflows(found, asked), _scale(found, asked)]


def _precision(found: Evidence, asked: Asked) -> Point:
    name = "mixed-precision"
    level, by = (found.level, "the log") if found.level else (asked.amp, "--amp")
    if level is None:
        hint = "--amp LEVEL gives your word for it"
        return Point(name, "cannot be told", f"the log ({found.format}) prints neither level nor mode", hint)
    kind = level_kind(level)
    if kind == "off":
        return Point(name, "fails", f"{level} is no mixed precision, says {by}")
    low = found.precision or kind or "float16"
    whole = "; everything is reduced, batch norm too" if level == "O3" else ""
    return Point(name, "holds", f"{level} ({low}), says {by}{whole}")


def is_bfloat(found: Evidence, asked: Asked) -> bool:
    return (found.precision or level_kind(found.level or asked.amp or "")) == "bfloat16"


def scaling_of(found: Evidence, asked: Asked) -> str | None:
    """``dynamic`` or ``static``: the log's word before the user's."""
    if found.scaling or asked.loss_scale is None:
        return found.scaling
    return "dynamic" if asked.loss_scale == "dynamic" else "static"


def _scaling(found: Evidence, asked: Asked) -> Point:
    name = "dynamic-scaling"
    scaling = scaling_of(found, asked)
    by = "the log" if found.scaling else "--loss-scale"
    if scaling == "dynamic":
        return Point(name, "holds", f"dynamic, says {by}")
    if is_bfloat(found, asked) and not asked.expect_dynamic:  # DeepSpeed prints its scale of 1.0 all the same
        return Point(name, "holds", "bfloat16 has float32's range and needs no loss scaling")
    if scaling == "static":
        value = found.static_scale if found.scaling else float(asked.loss_scale or 0)
        said = f"static{f' ({value:g})' if value else ''}, says {by}"
        return Point(name, "fails", said, "the guide asks for dynamic scaling; with a static one overflows go unseen")
    if asked.expect_dynamic:
        return Point(name, "fails", "the log shows no dynamic loss scaling, and --expect asks for it")
    hint = "--loss-scale dynamic or --loss-scale VALUE gives your word for it"
    return Point(name, "cannot be told", f"the log ({found.format}) does not say how the loss is scaled", hint)


def _overflows(found: Evidence, asked: Asked) -> Point:
    name = "overflow-share"
    count, share, limit = found.count, share_of(found), asked.limit
    reason = _unmeasured(found, asked)
    if share.low is not None and share.low >= limit:
        return Point(name, "fails", _said(found, share, limit), _calibration_hint(share, limit))
    if reason:
        return Point(name, "not measurable", reason)
    if scaling_of(found, asked) is None:
        steps = f" of {count.steps}" if count and count.steps else ""
        said = f"{count.low if count else 0}{steps} steps overflowed; whether all are printed, the scaling decides"
        return Point(name, "cannot be told", said, "--loss-scale gives your word for it")
    if share.low is None or share.high is None or count is None:
        said = f"{count.low if count else 0} steps overflowed, of how many the log does not tell"
        return Point(name, "cannot be told", said, "--steps N gives the number of optimizer steps")
    if share.high >= limit:
        said = f"{count.low} to {count.high} of {count.steps} steps: copies by ranks cannot be told from repetitions"
        return Point(name, "cannot be told", said, "--ranks N says how many ranks print into the log")
    return Point(name, "holds", _said(found, share, limit))


def _unmeasured(found: Evidence, asked: Asked) -> str | None:
    if is_bfloat(found, asked):
        return "bfloat16 runs print no overflow"
    scaling = scaling_of(found, asked)
    if scaling == "static":
        return "with a static loss scale overflows are not printed"
    if found.count and found.count.doubt:
        bound = _least(found)
        least = f"; the scale's falls prove {bound} at the least" if bound > found.count.low else ""
        return f"{found.count.doubt}{least}"
    if found.format == "unknown" and found.scaling is None:
        return "no message of a known format is in the log; torch.amp, for one, prints no overflow"
    if scaling is None and not (found.count and found.count.low):
        return "without knowing the loss scaling, no overflow printed proves nothing"
    return None


def _said(found: Evidence, share: Share, limit: float) -> str:
    count = found.count
    assert count is not None
    assert share.low is not None
    many = str(count.low) if count.low == count.high else f"{_least(found)} or more"
    text = f"{percent(share.low)} ({many} of {count.steps} steps; {count.basis}), the limit is {percent(limit)}"
    if count.calibrating and share.without is not None:
        text += f"; {percent(share.without)} without the {count.calibrating} of the first calibration"
    return text


def _calibration_hint(share: Share, limit: float) -> str | None:
    if share.without is not None and share.without < limit:
        return "the first calibration alone makes the difference: start with a lower scale, or train longer"
    return None


def percent(share: float) -> str:
    """A share with three digits that count: ``0.125 %``."""
    return f"{share * 100:.3g} %"


def _scale(found: Evidence, asked: Asked) -> Point:
    name = "loss-scale"
    if is_bfloat(found, asked) and not found.scale.changes:
        return Point(name, "not measurable", "bfloat16 runs have no loss scale")
    if scaling_of(found, asked) == "static":
        return Point(name, "not measurable", "the loss scale is static")
    status, says, hint = judge_scale(found)
    return Point(name, status, says, hint)
