"""Losses and gradient norms that a log prints, in the form of any framework, and those that are not numbers."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass, field, replace

from ..core.document import Count

_VALUE = rb"(?i:[-+]?(?:nan|inf(?:inity)?)(?![\w-])|[-+]?(?:\d{1,40}\.?\d{0,40}|\.\d{1,40})(?:e[-+]?\d{1,4})?)"
_WRAPPED = rb"(?:\{[\"']\w{1,40}[\"']: ?)?(?:[Tt]ensor\((?:[^()\n]{0,80}value=)?\s?)?[\[\"'(]{0,2}\s{0,4}"
_AVERAGE = rb"(?:\s{1,4}\((?:avg:? )?(?P<average>[-+]?(?i:nan|inf)(?=\))))?"
"""The running average behind a value, if it is not a number: a value before was none."""
_NAMED = rb"[\"']?\s{0,8}(?:[:=]|is\s)\s{0,8}" + _WRAPPED + rb"(?P<value>" + _VALUE + rb")"
_COLUMN = (
    rb"[ \t]{1,4}(?:\[\s{0,8})?(?P<column>"
    rb"(?i:[-+]?(?:nan|inf)(?=\s{0,8}[(|/,\t\n\d\]n]|\s{2})|\d{1,20}\.\d{1,20}(?![\w.])))"
)
"""Without a sign between name and value, as in `Loss 2.1 (2.3)`, only a value that is clearly one."""

_LOSS = re.compile(rb"oss(?<=[Ll]oss)(?:" + _NAMED + rb"|" + _COLUMN + rb")" + _AVERAGE)
_OUTPUTS = re.compile(
    rb"outputs are \(Tensor\([^()\n]{0,120}?value=\s?(?P<value>" + _VALUE + rb")(?P<column>)(?P<average>)"
)
"""MindSpore's callbacks print the loss as the first of the outputs (mindspore-ai/models)."""
_NORM = re.compile(
    rb"norm(?:(?<=[Gg]rad[ _-]norm)|(?<=[Gg]radient[ _-]norm)|(?<=(?<![A-Za-z])gnorm)|(?<=gradnorm)|"
    rb"(?<=[Tt]otal[ _-]norm)|(?<=[Gg]lobal[ _-]norm))"
    rb"(?<!max[ _-]grad[ _-]norm)(?<!clip[ _-]grad[ _-]norm)(?:_total)?(?:"
    + _NAMED
    + rb"|"
    + _COLUMN
    + rb")"
    + _AVERAGE
)
_COUNTER = re.compile(rb"nan iterations:\s{0,20}([1-9]\d{0,14})")
"""NVIDIA/Megatron-LM, megatron/training/training.py, training_log: iterations with a loss that is NaN, reset at each
line."""

_OWN_LOSS = re.compile(rb"(?<![\w.-])(?:train(?:ing)?[_/ ])?[Ll]oss" + _NAMED)


def shows_loss(line: bytes) -> bool:
    """Whether a line prints the loss of the training, so that values beside it are of a step, not options."""
    return _OWN_LOSS.search(line) is not None


_NAME = re.compile(rb"[A-Za-z_][\w/.-]{0,60}(?: \w{1,20})?$")
_NAMES = re.compile(rb"(?:[A-Za-z_][\w/.-]{0,60} ){0,3}[A-Za-z_][\w/.-]{0,60}$")
_BEST = re.compile(rb"(?i)(?<![a-z])(?:best|lowest)(?![a-z])")
"""Also further before a loss, as in `best validation loss inf`."""
_NO_LOSS = re.compile(rb"(?i)best|(?<![a-z])min(?:imum|imal)?(?![a-z])|lowest|prev|early|target|thresh|skip|check")
"""Words of a name that is no loss of a step: the best loss so far, for one, begins at infinity."""
_EVALUATED = re.compile(rb"(?i)eval|valid|\bval|test")
_OWN_STEP = re.compile(rb"[\"']step[\"']: ?(\d{1,15})")
_FAR = 2000
"""A dictionary of several lines has its step within so many bytes of its loss."""
_MOST_SHOWN = 3
_NINE = ord("9")

StepAt = Callable[[int, bool], "int | None"]
"""The step at a place of a block; the second argument: whether a loss of the evaluation stands there."""


@dataclass(frozen=True)
class NotNumber:
    """Where it stands."""

    step: int | None
    """The step; null if the log prints none."""
    entry: Count
    """The number of the logged entry, from 1."""
    says: str
    """The losses and gradient norms of its line."""


@dataclass(frozen=True)
class LossCounts:
    """Losses and gradient norms that the log prints. A line counts once."""

    logged: Count
    """Number of logged losses."""
    not_numbers: Count
    """Those of them that are NaN or infinite."""
    norms_logged: Count
    """Number of logged gradient norms."""
    norms_not_numbers: Count
    """Those of them that are NaN or infinite."""
    nan_iterations: Count
    """The sum of Megatron's counter of NaN iterations."""
    first: NotNumber | None
    """The first loss or gradient norm that is not a number; null if all are."""


@dataclass
class Series:
    """The losses, or the gradient norms, of a log. ``entries``: lines that print one; ``bad``: those of them that are
    not numbers; ``averages``: those of which only the running average is none; ``recovered``: whether a number follows
    the last of all these.
    """

    entries: int = 0
    bad: int = 0
    averages: int = 0
    first: NotNumber | None = None
    recovered: bool = False

    def worse(self, other: Series) -> Series:
        """Return the worse of the series of two ranks."""
        return max(self, other, key=lambda series: (series.bad, series.averages, series.entries))


@dataclass
class Losses:
    """``nan_iterations``: the sum of Megatron's counter; ``counted``: where it is above 0 for the first time."""

    losses: Series = field(default_factory=Series)
    norms: Series = field(default_factory=Series)
    nan_iterations: int = 0
    counted: NotNumber | None = None
    _cut: Series | None = None
    """The series whose first value stands in a dictionary that the end of a block cut, before its step."""

    @property
    def first(self) -> NotNumber | None:
        """The earliest of all."""
        found = [entry for entry in (self.losses.first, self.norms.first, self.counted) if entry]
        return min(found, key=lambda first: (first.step is None, first.step or 0, first.entry), default=None)

    @property
    def counts(self) -> LossCounts:
        losses, norms = self.losses, self.norms
        return LossCounts(losses.entries, losses.bad, norms.entries, norms.bad, self.nan_iterations, self.first)

    def worse(self, other: Losses) -> Losses:
        """Return the worse of each of two ranks of one run."""
        counter = max(self, other, key=lambda losses: losses.nan_iterations)
        losses, norms = self.losses.worse(other.losses), self.norms.worse(other.norms)
        return Losses(losses, norms, counter.nan_iterations, counter.counted)

    def take(self, data: bytes, step_at: StepAt) -> None:
        """Read a block of whole lines."""
        if self._cut and self._cut.first:
            rest, closing, _ = data[:_FAR].partition(b"}")
            own = _OWN_STEP.search(rest) if b"{" not in rest else None
            self._cut.first = replace(self._cut.first, step=int(own[1])) if own else self._cut.first
            self._cut = None if own or closing or b"{" in rest or len(data) >= _FAR else self._cut
        if b"oss" in data:
            self._take(data, _LOSS, self.losses, step_at)
        if b"outputs are (Tensor(" in data:
            self._take(data, _OUTPUTS, self.losses, step_at)
        if b"norm" in data:
            self._take(data, _NORM, self.norms, step_at)
        for match in _COUNTER.finditer(data) if b"nan iterations:" in data else ():
            self.nan_iterations += int(match[1])
            if self.counted is None:
                says = f"number of nan iterations: {int(match[1])}"
                self.counted = NotNumber(step_at(match.start(), False), self.losses.entries, says)

    def _take(self, data: bytes, pattern: re.Pattern[bytes], series: Series, step_at: StepAt) -> None:
        end = bad_end = -1  # of the lines of the newest entry, and of the newest that is not a number
        for match in pattern.finditer(data):
            if match.start() > end:
                end = data.find(b"\n", match.end())
                end = len(data) if end < 0 else end
                series.entries += 1
                series.recovered = series.bad + series.averages > 0
            if data[match.end() - 1] <= _NINE:  # a digit or a dot
                continue
            name = _NAME.search(data, max(0, match.start() - 80), match.start())
            words = _NAMES.search(data, max(0, match.start() - 80), match.start())
            if (name and _NO_LOSS.search(name[0])) or (words and _BEST.search(words[0])):
                continue
            number = match["value"] or match["column"]
            is_average = number[-1] <= _NINE
            if is_average:
                series.averages += end > bad_end
                series.recovered = end > bad_end
            else:
                series.bad += end > bad_end
                series.recovered = False
            bad_end = end
            if series.first is None:
                closing = data.find(b"}", match.end(), match.end() + _FAR)
                if closing < 0 and len(data) - match.end() < _FAR:
                    self._cut = series
                own = _OWN_STEP.search(data, match.end(), max(closing, match.end()))
                evaluated = bool(name and _EVALUATED.search(name[0]))
                step = int(own[1]) if own else step_at(match.start(), evaluated)
                series.first = NotNumber(step, series.entries, _says(data[: end + 1], match))


def _says(data: bytes, match: re.Match[bytes]) -> str:
    """Return the losses and gradient norms of the line of a match, such as ``loss 0.0, grad_norm nan``: those that are
    not numbers, and the first others.
    """
    line = data[data.rfind(b"\n", 0, match.start()) + 1 :]
    found = sorted([*_LOSS.finditer(line), *_OUTPUTS.finditer(line), *_NORM.finditer(line)], key=re.Match.start)
    bad = [value_match for value_match in found if line[value_match.end() - 1] > _NINE][:_MOST_SHOWN]
    good = [value_match for value_match in found if line[value_match.end() - 1] <= _NINE]
    shown = []
    for value_match in sorted([*good[: _MOST_SHOWN - len(bad)], *bad], key=re.Match.start):
        word = line[value_match.start() : value_match.start() + (4 if value_match.re is _NORM else 3)]
        name = _NAME.search(line[: value_match.start()] + word) if value_match.re is not _OUTPUTS else None
        value = value_match["value"] or value_match["column"]
        average = b" (average " + value_match["average"] + b")" if value_match["average"] else b""
        shown.append(f"{name[0].decode('ascii', 'replace') if name else 'loss'} {(value + average).decode('ascii')}")
    return ", ".join(shown)
