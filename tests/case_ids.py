"""Names of test cases: the words of a list instead of ``words0``, ``SIGTERM`` instead of ``15``."""

from __future__ import annotations

import signal
from collections.abc import Iterator
from fractions import Fraction

_LONGEST = 40


def case_id(value: object, parameter: str) -> str | None:
    """Return the text for a value in the name of a case; None to use pytest's own.

    A case with long or quoted text needs its own id.
    """
    if isinstance(value, signal.Signals):
        return value.name
    if isinstance(value, Fraction):
        return str(value)
    if isinstance(value, str | bytes):
        return "empty" if not value else _shortened(value) if isinstance(value, str) and len(value) > _LONGEST else None
    if not isinstance(value, tuple | list | set | frozenset | dict) or hasattr(value, "_fields"):
        return None
    if not value:
        return f"no {parameter}"
    words = [f"{key}={each}" for key, each in value.items()] if isinstance(value, dict) else [*map(str, _leaves(value))]
    return _shortened(" ".join(sorted(words) if isinstance(value, set | frozenset) else words))


def _shortened(text: str) -> str:
    return text if len(text) <= _LONGEST else text[: _LONGEST - 3] + "..."


def _leaves(value: object) -> Iterator[object]:
    """The values in nested lists, in order."""
    if isinstance(value, tuple | list | set | frozenset):
        for each in value:
            yield from _leaves(each)
    else:
        yield value
