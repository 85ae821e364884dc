"""JSON values as the standard library's scanner has them, and what it cannot say of them."""

from __future__ import annotations

from collections.abc import Collection
from itertools import chain
from json import JSONDecoder
from json.decoder import WHITESPACE, scanstring  # type: ignore[attr-defined]

from ..typed import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

    Judge = Callable[[Any], Any]
    Decode = Callable[[str, int], tuple[Any, int]]


class RawMember(NamedTuple):
    """``key`` spans ``key_start:key_end`` quotes included; the value spans ``start:end``."""

    key: str
    value: Any
    key_start: int
    key_end: int
    start: int
    end: int
    has_duplicates: bool
    """Some object inside holds a key twice; ``value`` has the last of each, as the engine has."""
    is_sound: bool
    """The value is an object of objects of strings."""
    judged: Any = None
    """What the reader's judge said of a sound value, where it was asked while the value was at hand."""


MAX_DEPTH = 128
"""Deeper nesting is refused; the files of the engine have three levels."""


class Members(NamedTuple):
    """``members`` is None if the root is no object; ``start:end`` spans the root.

    ``names`` are the keys of the second and third level, where they came with the reading.
    """

    members: list[RawMember] | None
    start: int
    end: int
    names: frozenset[str] | None = None


class Unusual(Exception):
    """Something the fast path leaves to the exact one."""


class _Number:
    """A number, as it is written: 5,000 digits are no attack. No file of ours may hold one."""

    def __init__(self, text: str) -> None:
        if is_too_large(text):
            raise Unusual
        self.text = text

    def __repr__(self) -> str:
        return self.text


def is_too_large(number: str) -> bool:
    """Whether the engine's reader throws at a JSON number: it has none beyond doubles (nlohmann's out_of_range.406)."""
    return abs(float(number)) == float("inf")


def _constant(_: str) -> Any:
    raise Unusual


def decoder(**hooks: Any) -> Decode:
    """What reads the value at a place of a text, and tells where it ends. One does for a text: it refers to itself, and
    without the garbage collector each would stay.
    """
    made = JSONDecoder(parse_int=_Number, parse_float=_Number, parse_constant=_constant, **hooks)
    return made.scan_once  # type: ignore[attr-defined, no-any-return]


def after_blanks(text: str, at: int) -> int:
    """Where what is no blank begins."""
    end: int = WHITESPACE.match(text, at).end()
    return end


def end_of_value(text: str, start: int) -> int:
    """The offset behind the value that begins at ``start``.

    :raises ValueError: if there is none
    """
    try:
        end: int = decoder()(text, start)[1]
    except (StopIteration, RecursionError, Unusual):
        raise ValueError("no value") from None
    return end


def key_at(text: str, at: int) -> tuple[str, int, int]:
    """A key, where it ends, and where its value begins.

    :raises Unusual: if there is none
    :raises ValueError: if it is no string
    """
    if text[at : at + 1] != '"':
        raise Unusual
    key, end = scanstring(text, at + 1, True)
    colon = after_blanks(text, end)
    if text[colon : colon + 1] != ":":
        raise Unusual
    return key, end, after_blanks(text, colon + 1)


def quotes_of(entries: Collection[Any]) -> int:
    """How many quotes objects of objects of strings have where no key stands twice; -1 if one is anything else.

    A key that stands twice adds quotes, and nothing takes any away: no other value than a string may stand there.
    """
    try:
        sections = list(chain.from_iterable(map(dict.values, entries)))
        "".join(chain.from_iterable(map(dict.values, sections)))  # takes strings and nothing else
    except TypeError:
        return -1
    return 2 * sum(map(len, entries)) + 4 * sum(map(len, sections))


def has_unicode_escape(text: str) -> bool:
    """Asked of each backslash: they are rarer than whatever follows them."""
    at = text.find("\\")
    while at >= 0 and text[at + 1 : at + 2] != "u":
        at = text.find("\\", at + 2)
    return at >= 0
