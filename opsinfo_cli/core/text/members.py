"""The members of a large JSON object with their spans, almost as fast as a plain load.

Only the object itself is walked here; its values are read by the standard library's scanner. Texts for which that
scanner is not exact (places of errors, NaN, surrogates, depth) are left to :mod:`.scanner`.
"""

from __future__ import annotations

import re
from itertools import chain
from json import JSONDecoder
from json.decoder import scanstring  # type: ignore[attr-defined]
from typing import TYPE_CHECKING, NamedTuple

from .scanner import MAX_DEPTH, Document, Node, after_blanks, is_too_large, scan
from .source import Source

if TYPE_CHECKING:
    from typing import Any


class RawMember(NamedTuple):
    """``key`` spans ``key_start:key_end``, including quotes; the value spans ``start:end``."""

    key: str
    value: Any
    """Of equal keys the last, as in the engine."""
    key_start: int
    key_end: int
    start: int
    end: int
    has_duplicates: bool
    """Whether a key appears twice in an object of the value."""
    is_sound: bool
    """Whether the value is an object of objects of strings."""


class Members(NamedTuple):
    """``members`` is None if the value is not an object; ``start:end`` spans the value."""

    members: list[RawMember] | None
    start: int
    end: int


class NotExact(Exception):
    """The standard library's scanner cannot read this text as the engine does."""


class _Number:
    """A number as written, because converting 5,000 digits takes too long. Valid files have none."""

    def __init__(self, text: str) -> None:
        if is_too_large(text):
            raise NotExact
        self.text = text

    def __repr__(self) -> str:
        return self.text


class _Values:
    """The standard library's scanner, which notes repeated keys."""

    def __init__(self) -> None:
        self.repeats_a_key = False
        decoder = JSONDecoder(
            parse_int=_Number,
            parse_float=_Number,
            parse_constant=self._constant,
            object_pairs_hook=self._object,
        )
        self.scan = decoder.scan_once  # type: ignore[attr-defined]

    def _object(self, pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        content = dict(pairs)
        if len(content) != len(pairs):
            self.repeats_a_key = True
        return content

    def _constant(self, _: str) -> Any:
        raise NotExact


NOT_EXACT = (NotExact, ValueError, StopIteration, RecursionError)


def read_members(source: Source) -> Members | Document:
    """Return the members of the root object, or the exact scan if the text has faults."""
    try:
        return members_at(source.text, after_blanks(source.text, 0))
    except NOT_EXACT:
        document = scan(source)
        return document if document.faults or document.root is None else _exact(document.root)


def objects_in(text: str, start: int) -> list[Members]:
    """Return the objects of the valid array that begins at ``start``."""
    found = []
    at = after_blanks(text, start + 1)
    while text[at] != "]":
        found.append(members_at(text, at))
        at = after_blanks(text, found[-1].end)
        at = after_blanks(text, at + 1) if text[at] == "," else at
    return found


def end_of_value(text: str, start: int) -> int:
    """Return the offset after the value that begins at ``start``.

    :raises ValueError: if there is no value
    """
    try:
        end: int = _Values().scan(text, start)[1]
    except NOT_EXACT:
        raise ValueError("no value") from None
    return end


def members_at(text: str, start: int) -> Members:
    """Return the members of the value that begins at ``start``.

    :raises NotExact: or another exception of `NOT_EXACT`, if only the exact scanner reads this
    """
    outcome = _walk(text, start) if text[start : start + 1] == "{" else _other(text, start)
    if re.compile(_SURROGATE_ESCAPE).search(text, outcome.start, outcome.end):
        raise NotExact  # it may be half of a pair
    return outcome


_SURROGATE_ESCAPE = r"\\u[dD][89a-fA-F]"
_AFTER_WORD, _AFTER_NUMBER = "[A-Za-z0-9_]", r"[\w.+-]"
_KEY = r'"([^"\\\x00-\x1f]*)"[ \t\n\r]*:[ \t\n\r]*'
"""A key without escapes, and the text between it and its value."""
_SEPARATOR = r"[ \t\n\r]*([,}])[ \t\n\r]*"


def _other(text: str, start: int) -> Members:
    value, end = _Values().scan(text, start)
    following = _AFTER_WORD if text[start].isalpha() else _AFTER_NUMBER
    if text[start] not in '["' and re.match(following, text[end : end + 1]):
        raise NotExact  # it only begins like a word or number of JSON
    _require_depth(value, 1)
    return Members(None, start, end)


def _walk(text: str, start: int) -> Members:
    at = after_blanks(text, start + 1)
    if text[at : at + 1] == "}":
        return Members([], start, at + 1)
    values = _Values()
    usual_key, separator = re.compile(_KEY).match, re.compile(_SEPARATOR).match
    members: list[RawMember] = []
    while True:
        head = usual_key(text, at)
        key, key_end, value_start = (head[1], head.end(1) + 1, head.end()) if head else _key_at(text, at)
        values.repeats_a_key = False
        value, end = values.scan(text, value_start)
        is_sound = _is_sound(value)
        if not is_sound:
            _require_depth(value, 2)
        members.append(RawMember(key, value, at, key_end, value_start, end, values.repeats_a_key, is_sound))
        behind = separator(text, end)
        if not behind:
            raise NotExact
        if behind[1] == "}":
            return Members(members, start, behind.end(1))
        at = behind.end()


def _key_at(text: str, at: int) -> tuple[str, int, int]:
    """Return a key with escapes, the offset after it, and the offset of its value."""
    if text[at : at + 1] != '"':
        raise NotExact
    key, end = scanstring(text, at + 1, True)
    colon = after_blanks(text, end)
    if text[colon : colon + 1] != ":":
        raise NotExact
    return key, end, after_blanks(text, colon + 1)


def _is_sound(value: Any) -> bool:
    try:
        "".join(chain.from_iterable(map(dict.values, value.values())))  # takes strings and nothing else
    except (TypeError, AttributeError):
        return False
    return True


def _require_depth(value: Any, depth: int) -> None:
    """:raises NotExact: if the value may be nested too deeply"""
    if depth > MAX_DEPTH:
        raise NotExact
    for inner in value.values() if isinstance(value, dict) else value if isinstance(value, list) else ():
        _require_depth(inner, depth + 1)


def _exact(root: Node) -> Members:
    """Return the members that the exact scanner found, which accepts some texts that the fast one does not."""
    if root.kind != "object":
        return Members(None, root.start, root.end)
    members = []
    for key, node in root:
        value: Any = node.plain(_Number)
        repeats = _repeats_a_key(node)
        members.append(
            RawMember(str(key.value), value, key.start, key.end, node.start, node.end, repeats, _is_sound(value))
        )
    return Members(members, root.start, root.end)


def _repeats_a_key(node: Node) -> bool:
    if len(node.by(str)) < len(node.members):
        return True
    return any(map(_repeats_a_key, [*(member.value for member in node), *node.items]))
