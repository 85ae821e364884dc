"""MindSpore, mindformers and the models around them: a line per step with its overflow flag and scale."""

from __future__ import annotations

import re

from ..count import Flags, Occurrences
from .reader import NUMBER, Reader, number

__all__ = ["MindSpore"]

_FLAG = re.compile(rb"overflow(?: cond)?\s?(?::|is)?\s?[:=]?\s{0,2}\[?(True|False)\b")
_SCALE = re.compile(rb"(?:loss[ _]scale|\bscale(?: sense)?)\s?(?::|is)\s{0,2}\[?" + NUMBER)
_TENSORS = re.compile(
    rb"outputs are \(Tensor\(.{0,200}?dtype=Bool, (?:value=\s?)?(True|False)\s?\), "
    rb"Tensor\([^()]{0,100}?dtype=Float\d\d, (?:value=\s?)?" + NUMBER
)
_EPOCH = re.compile(rb"[Ee]poch\s?:?\s?\[?\s{0,8}(\d{1,9})")
_STEP = re.compile(rb"\b(?:step|iter)\s?:?\s?\[?\s{0,12}(\d{1,15})(?:\s?/\s{0,12}(\d{1,15}))?")
_MESSAGE = re.compile(rb"={5,}overflow={5,}|\boverflow!!!")


class MindSpore(Reader):
    """`... step:[ s/ S], ..., overflow cond: <flag>, loss_scale: <x>` (mindformers/core/callback/callback.py).

    The models repository has a dozen variants: `overflow: False, loss scale: 1024`, `overflow is False`, output
    tuples. The scale is the one used in that step. DBNet and PSENet print only a word per overflow.
    """

    name = "mindspore"
    marks = (b"overflow", b"outputs are (")
    window = 2000
    own_steps = True

    def __init__(self) -> None:
        super().__init__()
        self.flags = Flags()
        self.words = 0
        self._base: int | None = None

    def line(self, line: bytes) -> bool:
        flag = _FLAG.search(line)
        if flag:
            self._flagged(line, flag[1] == b"True", _SCALE.search(line))
            return True
        tensors = _TENSORS.search(line)
        if tensors:
            self._flagged(line, tensors[1] == b"True", None, tensors[2])
            return True
        words = len(_MESSAGE.findall(line))
        self.words += words
        return words > 0

    def _flagged(self, line: bytes, overflow: bool, scale: re.Match[bytes] | None, raw: bytes | None = None) -> None:
        step = self._step_of(line)
        if self.flags.add(step, overflow):
            at = step if step is not None else self.flags.printed
            self.found.at_is_step = step is not None
            text = scale[1] if scale else raw
            if text is not None:
                self.scale.add(at, number(text))

    def _step_of(self, line: bytes) -> int | None:
        step = _STEP.search(line)
        if not step:
            return None
        epoch = _EPOCH.search(line) if step[2] else None
        if not epoch:
            return int(step[1])
        if self._base is None:
            self._base = int(epoch[1])
        return (int(epoch[1]) - self._base) * int(step[2]) + int(step[1])

    def tally(self) -> Flags | Occurrences:
        if self.flags.printed or not self.words:
            return self.flags
        only_words = Occurrences()
        only_words.total = self.words
        return only_words
