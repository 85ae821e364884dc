"""The verdict on the loss scale's trajectory, and advice on its start value and growth window."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from ..core.document import Count
from .evidence import Evidence


@dataclass(frozen=True)
class Advice:
    """Suggested values; null if the log gives no reason to change a value."""

    initial: float | None
    """The initial scale."""
    growth_factor: float | None
    """The growth factor."""
    window: int | None
    """Number of steps without overflow before the scale grows."""
    reasons: tuple[str, ...]
    """The reasons, as text."""


@dataclass(frozen=True)
class LossScale:
    """The history of the loss scale."""

    start: float | None
    """The first scale; APEX, torch_npu and fairseq print half of it, after the first overflow."""
    final: float | None
    """The last scale."""
    lowest: float | None
    """The lowest scale."""
    highest: float | None
    """The highest scale."""
    rises: Count
    """Number of rises."""
    falls: Count
    """Number of falls."""
    collapsed: str | None
    """Why the scale has collapsed; null if it has not."""
    at: Literal["step", "message"]
    """The unit of the trajectory's positions: steps, or messages if the log does not show steps."""
    trajectory: Sequence[tuple[int, float]]
    """Changes of the scale as [at, scale]; long trajectories are thinned."""

    @classmethod
    def of(cls, evidence: Evidence) -> LossScale:
        scale = evidence.scale
        at: Literal["step", "message"] = "step" if evidence.at_is_step else "message"
        ends = (scale.start, scale.final, scale.lowest, scale.highest)
        return cls(*ends, scale.rises, scale.falls, collapse_of(evidence), at, scale.drawn)


def collapse_of(evidence: Evidence) -> str | None:
    """Return why the scale collapsed; None if it did not."""
    scale, floor = evidence.scale, evidence.floor
    if evidence.fatal:
        return f"the run aborted: {evidence.fatal}"
    if scale.not_numbers:
        return f"the scale was not a number {scale.not_numbers} times"
    if scale.final is None:
        return None
    is_in_use = scale.seen > 1 or evidence.count.proof is not None
    if not scale.falls and scale.highest < 1.0 and is_in_use and evidence.scaling != "static":
        return f"the scale is below 1 throughout, {scale.highest:.10g}"
    if not scale.falls:  # the log may begin after the scale collapsed
        overflows = evidence.scaling == "dynamic" and evidence.count.low > 0
        at_floor = overflows and 0 < scale.highest <= floor
        return f"steps overflow at the scale's floor of {floor:.10g}" if at_floor else None
    if scale.lowest < 1.0:
        return f"the scale fell below 1, to {scale.lowest:.10g}"
    if floor and scale.lowest <= floor:
        stuck = "and stayed there" if scale.final <= floor else "once"
        return f"the scale fell to its floor of {floor:.10g} {stuck}"
    return None


def judge_scale(evidence: Evidence) -> tuple[Literal["holds", "fails", "cannot be told"], str, str | None]:
    """Return (status, text, hint) for the scale's trajectory."""
    scale = evidence.scale
    reason = collapse_of(evidence)
    if reason:
        reason += f" (printed as `{evidence.scale_key}`)" if evidence.scale_key else ""
        hint = "an operator overflows at every scale: find it with a dump and `opsinfo numerics`"
        return "fails", reason, hint
    if scale.start is None or scale.final is None:
        count = evidence.count
        if evidence.scaling == "dynamic" and count.low == 0 and count.proof and not count.doubt:
            return "holds", "no overflow lowered it; the log prints no values", None
        if evidence.unreadable:
            return "cannot be told", evidence.unreadable, "write a log for each rank, or let one rank print"
        return "cannot be told", "the log prints no loss scale", None
    if scale.seen == 1 and (evidence.count.doubt or not evidence.count.proof):
        rest = "that of most steps is unknown" if evidence.count.proof else "nothing shows that it is in use"
        return "cannot be told", f"the log prints one scale, {scale.start:.10g}, and {rest}", None
    if evidence.engines > 1:
        text = f"lowest {scale.lowest:.10g}, highest {scale.highest:.10g}, of {evidence.engines} engines together"
        return "holds", text, None
    text = (
        f"start {scale.start:.10g}, final {scale.final:.10g}, lowest {scale.lowest:.10g}, highest {scale.highest:.10g}"
        f"; {scale.falls} falls, {scale.rises} rises"
    )
    text += f"; printed as `{evidence.scale_key}`" if evidence.scale_key else ""
    return "holds", text, None


def advise(evidence: Evidence, limit: float) -> Advice:
    """Advise a start near the value at which the scale settles, and a window that keeps overflows below the limit."""
    count, start = evidence.count, evidence.scale.start
    if collapse_of(evidence):
        return Advice(None, None, None, ("an operator overflows at every scale; no start value or window helps",))
    initial, window, reasons = None, None, []
    if evidence.engines > 1:  # their scales are mixed
        return Advice(None, None, None, ())
    calibrating = count.calibrating
    stable = evidence.scale.stable(calibrating, (count.steps or 0) if evidence.at_is_step else 0)
    if stable and start and calibrating > 1 and stable < start:
        initial = 2.0 ** math.floor(math.log2(stable))
        reasons.append(
            f"the first {calibrating} overflows only lower the scale; the median after them is {stable:.10g}"
        )
    later = count.low - calibrating
    if count.steps and later > 1:
        apart = (count.steps - calibrating) / later
        if evidence.scale.rises and not evidence.grows_each_step and apart <= 2 / limit:
            window = _round_up(max(2 * apart, 2 / limit))
            reasons.append(f"after calibration one step in {apart:.0f} overflows; a longer growth window reduces that")
    return Advice(initial, 2.0 if window or initial else None, window, tuple(reasons))


def _round_up(value: float) -> int:
    """Round up to 1, 2 or 5 times a power of ten."""
    power = 10.0 ** math.floor(math.log10(value))
    return int(next(step * power for step in (1, 2, 5, 10) if step * power >= value))
