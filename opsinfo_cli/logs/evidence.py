"""What the log of a run proves about its mixed precision, independent of its format."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal

from .count import Overflows
from .losses import Losses
from .trajectory import Trajectory

Scaling = Literal["dynamic", "static"]
Precision = Literal["float16", "bfloat16", "hifloat8"]


@dataclass
class Evidence:
    """:param format: the name of the format that understood the log, or ``unknown``
    :param level: the opt level or precision mode, as printed
    :param scaling: None if the log does not show it
    :param floor: the lowest scale of this format's scaler
    :param fatal: the message with which the run aborted
    :param grows_each_step: whether this scaler grows by a little in each clean step, not after a number of them
    :param at_is_step: whether the places of the scale are steps, not numbers of messages
    :param losses: losses and gradient norms, of any format
    :param zeros: entries of Hugging Face's trainer with a loss of exactly 0.0
    :param silent: why a run of this format prints no overflow; None if it prints them
    :param unreadable: why no scale can be read, although the log prints it
    :param scale_key: the name of the value that is read as the loss scale; None if it is a framework's own
    :param engines: counters that take turns, each of another engine or run with a scale of its own
    :param lines: lines or messages that were understood
    :param known: whether any line of the log was understood, by any format
    """

    format: str
    level: str | None = None
    precision: Precision | None = None
    scaling: Scaling | None = None
    static_scale: float | None = None
    floor: float = 1.0
    fatal: str | None = None
    grows_each_step: bool = False
    at_is_step: bool = False
    count: Overflows = field(default_factory=lambda: Overflows(0, 0, None, 0, "no messages"))
    scale: Trajectory = field(default_factory=Trajectory)
    losses: Losses = field(default_factory=Losses)
    zeros: int = 0
    silent: str | None = None
    unreadable: str | None = None
    scale_key: str | None = None
    engines: int = 1
    lines: int = 0
    known: bool = False
