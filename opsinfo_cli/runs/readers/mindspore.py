"""MindSpore, mindformers, mindyolo and related models: lines with an overflow flag and a scale."""

from __future__ import annotations

import re
from typing import cast

from ..columns import Table
from ..count import Count
from ..occurrences import Occurrences
from ..shapes import Shapes
from .flag_rows import FlagReader, FlagRow
from .reader import NUMBER, number

_FLAG = re.compile(rb"overflow(?: cond)?\s?(?::|is)?\s?[:=]?\s{0,2}\[?(True|False|[01](?:\.\d{0,12})?)(?![\w.])")
_SHARE = re.compile(rb"[01](?:\.\d{0,12})?")
_SCALE = re.compile(rb"(?:loss[ _]scale|scaling_sens|\bscale(?: sense)?)\s?(?::|is)\s{0,2}\[?" + NUMBER)
_TENSORS = re.compile(
    rb"outputs are \(Tensor\(.{0,200}?dtype=Bool, (?:value=\s?)?(True|False)\s?\), "
    rb"Tensor\([^()]{0,100}?dtype=Float\d\d, (?:value=\s?)?" + NUMBER
)
_EPOCH = re.compile(rb"[Ee]poch\s?:?\s?\[?\s{0,8}(\d{1,9})")
_STEP = re.compile(rb"\b(?:[Ss]tep|iter)\s?:?\s?\[?\s{0,12}(\d{1,15})(?:\s?/\s{0,12}(\d{1,15}))?")
_WORD = re.compile(rb"={5,}overflow={5,}|\boverflow!!!")
_MOST = 4096
_DROPPED = re.compile(rb"overflow, (?:still update|drop step|drop\.)[^\n]{0,20}?oss scale adjust to \[?" + NUMBER)


class MindSpore(FlagReader):
    """`... step:[ s/ S], ..., overflow cond: <flag>, loss_scale: <x>`.

    Source: mindspore-lab/mindformers, mindformers/core/callback/callback.py. mindspore-ai/models has a dozen
    variants: `overflow: False, loss scale: 1024`, `overflow is False`, output tuples, and `overflow: 0.11,
    scaling_sens: 100024.32` (research/cv/faster_rcnn_ssod/train.py), an average over the steps since the previous line,
    with dynamic scaling. The scale is the one used in that step. DBNet and PSENet print only one word per overflow;
    mindyolo prints `overflow, drop step, loss scale adjust to <x>` for the steps that it logs
    (mindspore-lab/mindyolo, mindyolo/utils/trainer_factory.py, train_step), so that others go unseen; with
    `overflow_still_update` the step is made all the same.
    """

    name = "mindspore"
    reads = "MindSpore, mindformers, mindyolo (`overflow cond: <flag>, loss_scale: <x>` and variants)"
    marks = (
        b"overflow:",
        b"overflow cond",
        b"overflow is",
        b"overflow, ",
        b"overflow=",
        b"overflow!!!",
        b"outputs are (",
    )
    words = (b"overflow", b"outputs are (")
    window_default = 2000

    def __init__(self) -> None:
        self._shares = _Shares()
        super().__init__(self._shares.__getitem__)
        self.messages = Occurrences()
        self.dropped = 0
        self._drops: Shapes[slice | None] = Shapes(_scale_of_drop)

    def row(self, shape: bytes) -> FlagRow | None:
        flag = _FLAG.search(shape)
        if flag:
            scale, group = _SCALE.search(shape, max(0, shape.find(b"scal") - 5)), 1
        else:
            flag = scale = _TENSORS.search(shape)
            group = 2
        if not flag:
            return None
        step = _STEP.search(shape, _before(shape, b"tep", b"iter"))
        epoch = _EPOCH.search(shape, _before(shape, b"poch")) if step and step[2] else None
        return FlagRow(
            flag[1] == b"True",
            None if flag[1] in (b"True", b"False") else slice(*flag.span(1)),
            slice(*step.span(1)) if step else None,
            slice(*epoch.span(1)) if epoch else None,
            slice(*step.span(2)) if step and epoch else None,
            slice(*scale.span(group)) if scale else None,
            b"scaling_sens" in shape and flag[1] not in (b"True", b"False"),
        )

    def _take(self, table: Table[FlagRow], overs: list[bool]) -> None:
        super()._take(table, overs)
        self.flags.averaged |= self._shares.averaged
        if any(row.dynamic for row in table.kinds):
            self.found.scaling, self.found.level = "dynamic", "float16"

    def several(self, lines: list[bytes]) -> int:
        places = self._drops.of_all(lines)
        if None in places:
            return super().several(lines)
        begin = self.dropped + 1
        self.dropped += len(lines)
        scales = list(map(bytes.__getitem__, lines, cast("list[slice]", places)))
        self.scale.add_rows(range(begin, begin + len(lines)), scales)
        self.found.level = "float16"
        return len(lines)

    def line(self, line: bytes) -> bool:
        flag = _FLAG.search(line)
        if flag:
            self._flagged(line, flag[1], _SCALE.search(line, max(0, line.find(b"scal") - 5)))
            return True
        tensors = _TENSORS.search(line)
        if tensors:
            self._flagged(line, tensors[1], None, tensors[2])
            return True
        dropped = _DROPPED.search(line)
        if dropped:
            self._dropped(line, number(dropped[1]))
            return True
        words = len(_WORD.findall(line))
        self.messages.total += words
        return words > 0

    def _flagged(self, line: bytes, flag: bytes, scale: re.Match[bytes] | None, raw: bytes | None = None) -> None:
        step = self._step_of(line)
        overflow = flag == b"True"
        if flag not in (b"True", b"False"):
            share = float(flag)
            overflow = share > 0
            self.flags.averaged |= 0 < share < 1
            if b"scaling_sens" in line:
                self.found.scaling, self.found.level = "dynamic", "float16"
        if self.flags.add(step, overflow):
            at = step if step is not None else self.flags.printed
            self.found.at_is_step = step is not None
            text = scale[1] if scale else raw
            if text is not None:
                self.scale.add(at, number(text))

    def _dropped(self, line: bytes, scale: float) -> None:
        self.dropped += 1
        step = self._step_of(line)
        self.scale.add(step if step is not None else self.dropped, scale)  # a static scale stays in every message
        self.found.level = "float16"

    def _step_of(self, line: bytes) -> int | None:
        step = _STEP.search(line, _before(line, b"tep", b"iter"))
        if not step:
            return None
        epoch = _EPOCH.search(line, _before(line, b"poch")) if step[2] else None
        if not epoch:
            return int(step[1])
        if self._base is None:
            self._base = int(epoch[1])
        return (int(epoch[1]) - self._base) * int(step[2]) + int(step[1])

    def tally(self, steps: int | None, ranks: int | None) -> Count:
        if self.flags.printed:
            return self.flags.count(steps, ranks)
        if self.dropped:
            doubt = "sampled: mindyolo prints an overflow only in the steps that it logs"
            basis = f"{self.dropped} messages"
            return Count(self.dropped, steps or self.dropped, steps, 0, basis, doubt=doubt, proof="messages")
        return self.messages.count(steps, ranks)


def _scale_of_drop(shape: bytes) -> slice | None:
    """Return where a message of mindyolo without a step shows the scale; None if the line must be read alone."""
    dropped = None if _FLAG.search(shape) or _TENSORS.search(shape) else _DROPPED.search(shape)
    if not dropped or _STEP.search(shape, _before(shape, b"tep", b"iter")):
        return None
    return slice(*dropped.span(1))


class _Shares(dict[bytes, "bool | None"]):
    """Whether a flag, which may be an average over several steps, means an overflow; None if it is no flag."""

    averaged = False
    """Whether one of those asked for was an average."""

    def __missing__(self, text: bytes) -> bool | None:
        if not _SHARE.fullmatch(text):
            return None
        share = float(text)
        self.averaged |= 0 < share < 1
        if len(self) < _MOST:
            self[text] = share > 0
        return share > 0


def _before(line: bytes, *words: bytes) -> int:
    """Return where to search for a pattern whose matches have one of these words after at most one letter."""
    return max(0, min((at for at in map(line.find, words) if at >= 0), default=1) - 1)
