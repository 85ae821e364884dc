"""Numbers in strings as the engine's C++ reads them: a numeric prefix is enough, an out-of-range number throws."""

from __future__ import annotations

import re

LONGEST = (1 << 63) - 1
_OVERFLOW = 2.0**128 - 2.0**103
"""The smallest magnitude that overflows a float."""
_NORMAL = 2.0**-126 - 2.0**-151
"""The smallest number that rounds to a normal float; glibc on x86-64 detects tininess after rounding."""

_BLANKS = r"[ \t-\r]*"
_LONG = _BLANKS + r"([+-]?)0*([0-9]+)"
_HEX = r"0x(?P<hex>[0-9a-f]+\.?[0-9a-f]*|\.[0-9a-f]+)(?:p[+-]?[0-9]+)?"
_DECIMAL = r"(?P<decimal>[0-9]+\.?[0-9]*|\.[0-9]+)(?:e[+-]?[0-9]+)?"
_FLOAT = rf"{_BLANKS}[+-]?(?:inf|nan|(?P<number>{_HEX}|{_DECIMAL}))"


def long_or_none(text: str) -> int | None:
    """Return the result of ``std::stol`` for a text; None if it throws."""
    match = re.match(_LONG, text)
    if not match or len(match[2]) > 19:
        return None
    number = int(match[1] + match[2])
    return number if -LONGEST - 1 <= number <= LONGEST else None


def saturated(digits: str) -> int:
    """Return the result of ``strtol`` for digits; 0 without digits."""
    digits = digits.lstrip("0")
    return min(int(digits or 0), LONGEST) if len(digits) < 20 else LONGEST


def is_float(text: str) -> bool:
    """Return whether ``std::stof`` accepts a text. glibc also throws for numbers so small that digits are lost."""
    match = re.match(_FLOAT, text, re.IGNORECASE | re.ASCII)
    if not match or not match["number"]:
        return bool(match)
    try:
        size = float.fromhex(match["number"]) if match["hex"] else float(match["number"])
    except OverflowError:
        return False
    is_nought = not (match["hex"] or match["decimal"]).strip("0.")
    fits = size >= _NORMAL or (size * 2.0**149).is_integer()
    return size < _OVERFLOW and (is_nought or (fits and size > 0))
