"""JSON values read by the standard library's scanner, and facts that it does not report."""

from __future__ import annotations

from collections.abc import Collection
from functools import cache
from itertools import chain
from json import JSONDecoder
from json.decoder import WHITESPACE, scanstring  # type: ignore[attr-defined]
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

    Judge = Callable[[Any], Any]
    Decode = Callable[[str, int], tuple[Any, int]]


class RawMember(NamedTuple):
    """``key`` spans ``key_start:key_end``, including quotes; the value spans ``start:end``."""

    key: str
    value: Any
    """None if it was judged and not kept; :func:`value_of` reads it again."""
    key_start: int
    key_end: int
    start: int
    end: int
    has_duplicates: bool
    """Whether a key appears twice in an object of the value; ``value`` has the last one, as in the engine."""
    is_sound: bool
    """Whether the value is an object of objects of strings."""
    judged: Any = None
    """The result of the reader's judge for a valid value, if it was called."""


MAX_DEPTH = 128
"""The deepest nesting that is read; the engine's files have three levels."""


class Members(NamedTuple):
    """``members`` is None if the root is not an object; ``start:end`` spans the root.

    ``names`` are the keys of the second and third level, if reading collected them.
    """

    members: list[RawMember] | None
    start: int
    end: int
    names: frozenset[str] | None = None


class NeedsExactReader(Exception):
    """The fast reader cannot read this text; the exact reader must read it."""


class _Number:
    """A number as written, because converting 5,000 digits takes too long. Valid files have none."""

    def __init__(self, text: str) -> None:
        if is_too_large(text):
            raise NeedsExactReader
        self.text = text

    def __repr__(self) -> str:
        return self.text


def is_too_large(number: str) -> bool:
    """Return whether the engine's reader throws at a JSON number beyond a double (nlohmann's out_of_range.406)."""
    return abs(float(number)) == float("inf")


def _constant(_: str) -> Any:
    raise NeedsExactReader


def decoder(**hooks: Any) -> Decode:
    """Return a function that reads the value at an offset of a text, and returns it with its end.

    Make one per text: it refers to itself, so without the garbage collector each stays in memory.
    """
    made = JSONDecoder(parse_int=_Number, parse_float=_Number, parse_constant=_constant, **hooks)
    return made.scan_once  # type: ignore[attr-defined, no-any-return]


def after_blanks(text: str, at: int) -> int:
    """Return the offset of the next character that is not blank."""
    end: int = WHITESPACE.match(text, at).end()
    return end


def value_of(text: str, member: RawMember) -> Any:
    """Return the value of a member of a text; one that was not kept is read again."""
    if member.judged is None or member.value is not None:
        return member.value
    return _decode()(text, member.start)[0]


_decode = cache(decoder)


def end_of_value(text: str, start: int) -> int:
    """Return the offset after the value that begins at ``start``.

    :raises ValueError: if there is no value
    """
    try:
        end: int = decoder()(text, start)[1]
    except (StopIteration, RecursionError, NeedsExactReader):
        raise ValueError("no value") from None
    return end


def key_at(text: str, at: int) -> tuple[str, int, int]:
    """Return a key, the offset after it, and the offset of its value.

    :raises NeedsExactReader: if no string with a colon after it begins at ``at``
    :raises ValueError: if the string is not valid JSON
    """
    if text[at : at + 1] != '"':
        raise NeedsExactReader
    key, end = scanstring(text, at + 1, True)
    colon = after_blanks(text, end)
    if text[colon : colon + 1] != ":":
        raise NeedsExactReader
    return key, end, after_blanks(text, colon + 1)


def quotes_of(entries: Collection[Any]) -> int:
    """Return the number of quotes in objects of objects of strings without repeated keys; -1 for anything else.

    A repeated key adds quotes to the text, so the counts differ.
    """
    try:
        sections = list(chain.from_iterable(map(dict.values, entries)))
        "".join(chain.from_iterable(map(dict.values, sections)))  # takes strings and nothing else
    except TypeError:
        return -1
    return 2 * sum(map(len, entries)) + 4 * sum(map(len, sections))


def has_unicode_escape(text: str) -> bool:
    """Return whether a text has escapes of surrogates; searched by the backslash, which is rare."""
    at = text.find("\\")
    while at >= 0 and text[at + 1 : at + 2] != "u":
        at = text.find("\\", at + 2)
    return at >= 0
