"""The validation metric of a run, found by the user's regular expression."""

from __future__ import annotations

import math
import re

from ..errors import UsageFault

PICKS = ("last", "max", "min")


def compiled_metric(text: str) -> re.Pattern[bytes]:
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
    """The last, highest or lowest value that the first group of an expression finds."""

    def __init__(self, pattern: re.Pattern[bytes], pick: str = "last") -> None:
        self._pattern = pattern
        self._pick = pick
        self.value: float | None = None

    def window(self, data: bytes, limit: int) -> None:
        for match in self._pattern.finditer(data):
            if match.start() >= limit:
                break
            if match[1] is not None:
                self._take(match[1])

    def _take(self, text: bytes) -> None:
        try:
            value = float(text)
        except ValueError:  # the group is not a number
            return
        better = {"max": max, "min": min}.get(self._pick)
        if self.value is None or better is None or math.isnan(value):
            self.value = value
        else:
            self.value = better(self.value, value)
