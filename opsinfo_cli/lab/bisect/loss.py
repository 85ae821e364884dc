"""The loss that a check prints."""

from __future__ import annotations

import re

_NUMBER = re.compile(
    r"(?<![\w.-])[-+]?(?:(?:\d+\.?\d*|\.\d+)(?:e[-+]?\d+)?|inf(?:inity)?|nan)(?![\w]|\.\d)", re.IGNORECASE
)


def loss_of(output: str) -> float | None:
    """Return the last number that stands by itself; None: there is none.

    >>> loss_of("top1 0.761\\nloss: 3.2e-04 (float16)"), loss_of("done"), loss_of("-0.76")
    (0.00032, None, -0.76)
    """
    found = _NUMBER.findall(output)
    return float(found[-1]) if found else None
