"""The validation metric of a run, found by the user's regular expression."""

from __future__ import annotations

import re

from ..errors import UsageFault

_TAIL = 1 << 13
"""Bytes of a block that are searched again with the next one, so that an expression may span lines."""


def compile_metric(text: str) -> re.Pattern[bytes]:
    """Compile the expression of ``--metric``.

    :raises UsageFault: if it is not a regular expression, or has no group for the number
    """
    try:
        pattern = re.compile(text.encode("utf-8", "surrogateescape"))
    except (re.error, OverflowError, RecursionError) as error:
        raise UsageFault(f"--metric is not a regular expression: {error}", name="bad-metric") from None
    if not pattern.groups:
        hint = "for example --metric 'Acc@1 ([0-9.]+)'"
        raise UsageFault("--metric needs a group around the number", name="bad-metric", hint=hint)
    return pattern


class Metric:
    """The last value that the first group of an expression finds."""

    def __init__(self, pattern: re.Pattern[bytes]) -> None:
        self._pattern = pattern
        self._tail = b""
        self.value: float | None = None

    def take(self, block: bytes) -> None:
        """Search a block of whole lines, and the matches that begin in the block before it and end here."""
        begun, text = len(self._tail), self._tail + block
        for match in self._pattern.finditer(text):
            if match.end() <= begun or match[1] is None:
                continue
            try:
                self.value = float(match[1])
            except ValueError:  # the group is not a number
                continue
        self._tail = text[text.rfind(b"\n", 0, max(0, len(text) - _TAIL)) + 1 :] if len(text) > _TAIL else text
