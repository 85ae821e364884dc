"""Objects of objects of objects of strings in one uniform layout, as vendors write them.

They are loaded in pieces, which is faster than member by member. Keys are searched at their expected places.
"""

from __future__ import annotations

from itertools import chain
from typing import TYPE_CHECKING

from .json_values import Members, NeedsExactReader, RawMember, decoder, has_unicode_escape, key_at, quotes_of

if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Any

    from .json_values import Decode, Judge

    Spans = tuple[str, int, int, int, int]
    """A key, its span, and the span of its value."""

_PIECE = 1 << 17
"""The characters of a piece, so that its values fit the processor's cache."""


def regular_members(text: str, start: int, first: int, judge: Judge | None, keeps: bool = True) -> Members | None:
    """Return the members of the object at ``start``, whose first key is at ``first``; None if it is not uniform.

    :param judge: called with each value in turn; its results are returned with them
    :param keeps: whether values with a result are returned; if not, the next piece is loaded into their memory
    """
    members: list[RawMember] = []
    names: set[str] = set()
    end = start
    try:
        between = _between(text, first)
        for content, at, end in _pieces(text, first, between) if between else ():
            placed = _holds_no_key_twice(text, at, end, content) and _placed(text, content, at, end, between)
            if not placed:
                return None
            members += _members(content, placed, judge, keeps)
            names |= set().union(*content.values(), *chain.from_iterable(map(dict.values, content.values())))
    except (NeedsExactReader, ValueError, StopIteration, RecursionError):
        return None  # not JSON, or a piece was cut inside a string that looks like the end of a member
    if not members or len({member.key for member in members}) != len(members):
        return None
    return Members(members, start, end + 1, frozenset(names))


def _between(text: str, first: int) -> str:
    """Return the text from the last string of the first member to the next key, which may separate all members."""
    value, end = decoder()(text, key_at(text, first)[2])
    between = text[text.rfind('"', first, end) : text.find('"', end) + 1]
    signs = "".join(letter for letter in between if letter not in _BLANKS)
    is_usual = signs == '"}},"' and quotes_of([value]) >= 0
    return "" if not is_usual or has_unicode_escape(text) else between  # a quote may be written in hexadecimal


def _pieces(text: str, at: int, between: str) -> Iterator[tuple[dict[str, Any], int, int]]:
    """Yield the values of some members at a time, with their span; the last span ends at the end of the root.

    If each piece is an object when braces are put around it, so are all of them together.

    :raises ValueError: if a piece is not an object
    :raises NeedsExactReader: if the text ends too early, or contains anything that is not handled here
    """
    decode = decoder()
    closed = between.rindex("}") + 1
    while (cut := text.find(between, at + _PIECE)) >= 0:
        piece = "{" + text[at : cut + closed] + "}"
        content, end = _object(decode, piece)
        if end != len(piece):
            raise NeedsExactReader
        yield content, at, cut + closed
        at = cut + len(between) - 1
    content, end = _object(decode, "{" + text[at:])
    yield content, at, at + end - 2


def _object(decode: Decode, text: str) -> tuple[dict[str, Any], int]:
    try:
        return decode(text, 0)
    except StopIteration:
        raise ValueError("no value") from None


def _members(content: dict[str, Any], placed: list[Spans], judge: Judge | None, keeps: bool) -> Iterator[RawMember]:
    for key, key_start, key_end, start, end in placed:
        value = content[key]
        judged = judge(value) if judge else None
        kept = value if keeps or judged is None else None
        yield RawMember(key, kept, key_start, key_end, start, end, False, True, judged)


def _placed(text: str, content: dict[str, Any], at: int, last: int, between: str) -> list[Spans] | None:
    """Return the keys of ``content`` with the spans of its members, the first at ``at``; None if one does not follow
    ``between``.

    What is found is the key. The quote at the end of ``between`` opens a string, for the letter behind it could not
    follow one. So the quote before closes one, the two braces close a section and a member, and what is opened is a key
    of the outermost object, in which none appears twice.
    """
    spans: list[Spans] = []
    closed = between.rindex("}") + 1
    if not text.startswith(f'"{next(iter(content))}"', at) or any("\\" in key for key in content):
        return None
    coming = iter([*content, None])
    next(coming)
    for key, following in zip(content, coming, strict=True):
        if following is None:
            after, end = last, text.rfind("}", at, last) + 1
        else:
            found = text.find(f'{between}{following}"', at, last)
            if found < 0 or following[:1] in _BEHIND_STRINGS:  # written with escapes, or after other text
                return None
            after, end = found + len(between) - 1, found + closed
        key_end = at + len(key) + 2
        spans.append((key, at, key_end, text.find("{", key_end), end))
        at = after
    return spans


_BLANKS = " \t\n\r"
_BEHIND_STRINGS = frozenset(["", *_BLANKS, *":,}]"])
"""Characters that may follow a string; a key that begins with one, or is empty, is not handled here."""


def _holds_no_key_twice(text: str, start: int, end: int, content: dict[str, Any]) -> bool:
    """Return whether a text is an object of objects of objects of strings without repeated keys."""
    quotes = quotes_of(content.values())
    return quotes >= 0 and text.count('"', start, end) - _quotes_inside(text, start, end) == quotes + 2 * len(content)


def _quotes_inside(text: str, start: int, end: int) -> int:
    """Return the number of quotes within strings, each after a backslash."""
    count = 0
    at = text.find("\\", start, end)
    while at >= 0:
        count += text[at + 1] == '"'
        at = text.find("\\", at + 2, end)
    return count
