"""The members of a large object with their spans, as fast as a plain load.

The walk over the top level is ours, the values are read by the standard library's scanner. Whatever that scanner
does not say exactly (places of errors, NaN, half surrogates, depth) is said by :mod:`.scanner`.
"""

from __future__ import annotations

import re
from itertools import chain
from json import JSONDecoder
from json.decoder import scanstring  # type: ignore[attr-defined]
from typing import TYPE_CHECKING, Any, NamedTuple

from .source import Source

if TYPE_CHECKING:
    from .scanner import Document

__all__ = ["MAX_DEPTH", "Members", "RawMember", "end_of_value", "read_members"]

MAX_DEPTH = 128
"""Deeper nesting is refused; the files of the engine have three levels."""

_BLANK = re.compile(r"[ \t\n\r]*")
_HALF = re.compile(r"\\u[dD][89a-fA-F]")
_WHOLE = r"(?:\\(?:[^u]|u(?![dD][89a-fA-F])|u[dD][89abAB][0-9a-fA-F]{2}\\u[dD][c-fC-F][0-9a-fA-F]{2})){1,999}"
"""Escapes one after the other, halves of pairs in twos; no more of them than a match remembers cheaply."""


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


class Members(NamedTuple):
    """``members`` is None where the root is no object; ``start:end`` spans the root.

    ``names`` are the keys of the second and third level, where they came with the reading.
    """

    members: list[RawMember] | None
    start: int
    end: int
    names: frozenset[str] | None = None


class _Number:
    """A number: never rounded, never converted, and 5,000 digits are no attack. No file of ours may hold one."""

    def __init__(self, text: str) -> None:
        self.text = text

    def __repr__(self) -> str:
        return self.text


class _Unusual(Exception):
    """Something the fast path leaves to the exact one."""


def _constant(_: str) -> Any:
    raise _Unusual


def read_members(source: Source) -> Members | Document:
    """The members of the root object, or, where the text has faults, the exact scan that names them."""
    if source.members is None:
        source.members = _read(source)
    return source.members


def _read(source: Source) -> Members | Document:
    try:
        members = _walk(source.text)
        _refuse_half_pairs(source.text, members)
        return members
    except (_Unusual, ValueError, StopIteration, RecursionError):
        from .scanner import scan

        return scan(source)


def _walk(text: str) -> Members:
    decode = _decoder().scan_once  # type: ignore[attr-defined]
    blank = _BLANK.match
    start = at = blank(text, 0).end()  # type: ignore[union-attr]
    if text[at : at + 1] != "{":
        value, end = decode(text, at)
        _refuse_depth(value)
        return Members(None, start, end)
    members: list[RawMember] = []
    at = blank(text, at + 1).end()  # type: ignore[union-attr]
    if text[at : at + 1] == "}":
        return Members(members, start, at + 1)
    regular = _regular(text, start, at)
    if regular:
        return regular
    while True:
        head = _KEY.match(text, at)
        key, value_start = (head[1], head.end()) if head else _odd_key(text, at)
        value, end = decode(text, value_start)
        quotes = _quotes(value)
        if quotes < 0:
            _refuse_depth(value, 1)
        duplicates = text.count('"', value_start, end) != quotes and _has_duplicates(text, value_start)
        members.append(
            RawMember(
                key,
                value,
                at,
                head.end(1) + 1 if head else _key_end(text, at),
                value_start,
                end,
                duplicates,
                quotes >= 0,
            )
        )
        separator = _SEPARATOR.match(text, end)
        if not separator:
            raise _Unusual
        if separator[1] == "}":
            return Members(members, start, separator.end(1))
        at = separator.end()


def end_of_value(text: str, start: int) -> int:
    """Where a value that begins at ``start`` ends.

    :raises ValueError: where there is none
    """
    try:
        end: int = _decoder().scan_once(text, start)[1]  # type: ignore[attr-defined]
    except (StopIteration, RecursionError, _Unusual):
        raise ValueError("no value") from None
    return end


def _regular(text: str, start: int, first: int) -> Members | None:
    """The members of an object of objects of objects of strings that is laid out alike throughout, as vendors write it.

    It is loaded as a whole, which is faster than member by member, and its keys are looked for where they must be. The
    quotes prove the places: a member has as many as its value asks for, and would have more if a key stood twice.
    None where anything is unusual.
    """
    decode = _decoder().scan_once  # type: ignore[attr-defined]
    head = _KEY.match(text, first)
    if not head:
        return None
    one, end = decode(text, head.end())
    separator = _SEPARATOR.match(text, end)
    if _quotes(one) < 0 or not separator or separator[1] != ",":
        return None
    if "\\u0022" in text:
        return None
    content, end = decode(text, start)
    placed = _placed(text, content, first, end - 1, "}" + separator[0])
    return placed and Members(placed[0], start, end, placed[1])


def _placed(
    text: str, content: dict[str, Any], at: int, last: int, gap: str
) -> tuple[list[RawMember], frozenset[str]] | None:
    """The members of ``content`` from the first at ``at`` on, each ``gap`` behind the one before; and their names."""
    members: list[RawMember] = []
    names: set[str] = set()
    coming = iter([*content, None])
    next(coming)
    for (key, value), following in zip(content.items(), coming, strict=True):
        quotes = _quotes(value)
        if quotes < 0:
            return None
        found = last if following is None else text.find(f'{gap}"{following}"', at)
        if found < 0:  # written with escapes, or behind another gap
            return None
        after = last if following is None else found + len(gap)
        excess = text.count('"', at, after) - 2 - quotes
        if excess and excess != _quotes_inside(value):
            return None
        names.update(value, *value.values())
        key_end = at + len(key) + 2
        begin = text.find("{", key_end)
        members.append(RawMember(key, value, at, key_end, begin, text.rfind("}", begin, after) + 1, False, True))
        at = after
    return members, frozenset(names)


_KEY = re.compile(r'"([^"\\\x00-\x1f]*)"[ \t\n\r]*:[ \t\n\r]*')
"""A key without escapes, and what stands between it and its value."""
_SEPARATOR = re.compile(r"[ \t\n\r]*([,}])[ \t\n\r]*")


def _odd_key(text: str, at: int) -> tuple[str, int]:
    """A key with escapes, and where its value begins."""
    if text[at : at + 1] != '"':
        raise _Unusual
    key, end = scanstring(text, at + 1, True)
    colon = re.compile(r"[ \t\n\r]*:[ \t\n\r]*").match(text, end)
    if not colon:
        raise _Unusual
    return key, colon.end()


def _key_end(text: str, at: int) -> int:
    end: int = scanstring(text, at + 1, True)[1]
    return end


def _decoder(**hooks: Any) -> JSONDecoder:
    return JSONDecoder(parse_int=_Number, parse_float=_Number, parse_constant=_constant, **hooks)


def _quotes(value: Any) -> int:
    """How many quotes an object of objects of strings has where no key stands twice; -1 for anything else.

    A key that stands twice adds quotes, and nothing takes any away: no other value than a string may stand there.
    """
    try:
        sections = value.values()
        "".join(chain.from_iterable(map(dict.values, sections)))  # takes strings of dicts and nothing else
    except (AttributeError, TypeError):
        return -1
    return 2 * len(value) + 4 * sum(map(len, sections))


def _quotes_inside(value: dict[str, dict[str, str]]) -> int:
    """How many of the characters of an object of objects of strings are quotes."""
    return sum("".join(content.values()).count('"') for content in value.values())


def _has_duplicates(text: str, start: int) -> bool:
    """Whether some object of a value holds a key twice, asked of the standard library pair by pair."""
    found = False

    def fold(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        nonlocal found
        folded = dict(pairs)
        found = found or len(folded) != len(pairs)
        return folded

    _decoder(object_pairs_hook=fold).scan_once(text, start)  # type: ignore[attr-defined]
    return found


def _refuse_depth(value: Any, depth: int = 0) -> None:
    """Values of no known shape may be absurdly deep: the exact reader draws the line."""
    level = [value]
    while level:
        depth += 1
        if depth > MAX_DEPTH:
            raise _Unusual
        inner = [each.values() if isinstance(each, dict) else each for each in level if isinstance(each, dict | list)]
        level = list(chain.from_iterable(inner))


def _refuse_half_pairs(text: str, members: Members) -> None:
    """Surrogate escapes are rare enough to look at every escape. What stands behind the value is not read at all."""
    if "\\" not in text or not _HALF.search(text, members.start, members.end):
        return
    whole = re.compile(_WHOLE, re.DOTALL).match
    at = text.find("\\", members.start, members.end)
    while at >= 0:
        match = whole(text, at, members.end)
        if not match:
            raise _Unusual
        at = text.find("\\", match.end(), members.end)
