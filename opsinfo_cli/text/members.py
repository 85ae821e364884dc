"""The members of a large object with their spans, as fast as a plain load.

The top level is walked here, the values are read by the standard library's scanner. Texts for which that scanner is
not exact (places of errors, NaN, half surrogates, depth) are left to :mod:`.scanner`.
"""

from __future__ import annotations

import re
from itertools import chain
from typing import TYPE_CHECKING

from .json_values import (
    MAX_DEPTH,
    Members,
    NeedsExactReader,
    RawMember,
    after_blanks,
    decoder,
    has_unicode_escape,
    key_at,
    quotes_of,
)
from .source import Source
from .uniform_members import regular_members

if TYPE_CHECKING:
    from typing import Any

    from .document import Document, Node
    from .json_values import Judge

_BEHIND_WORD, _BEHIND_NUMBER = "[A-Za-z0-9_]", r"[\w.+-]"
_HALF = r"\\u[dD][89a-fA-F]"
_WHOLE = r"(?:\\(?:[^u]|u(?![dD][89a-fA-F])|u[dD][89abAB][0-9a-fA-F]{2}\\u[dD][c-fC-F][0-9a-fA-F]{2})){1,999}"
"""Consecutive escapes, surrogates in pairs; a limited number, so that matching stays cheap."""


def read_members(source: Source, judge: Judge | None = None, keeps: bool = True) -> Members | Document:
    """Return the members of the root object, or the exact scan if the text has faults.

    :param judge: called with each value of a large regular text, once, while the value is in the cache
    :param keeps: whether values with a result of ``judge`` are returned
    """
    try:
        members = _walk(source.text, judge, keeps)
        _refuse_half_pairs(source.text, members)
        return members
    except (NeedsExactReader, ValueError, StopIteration, RecursionError):
        from .scanner import scan

        document = scan(source)
        return document if document.faults or document.root is None else _exact(document, document.root)


def _exact(document: Document, root: Node) -> Members:
    """Return the members of the exact reader, which accepts some values that the fast one cannot read."""
    if root.kind != "object":
        return Members(None, root.start, root.end)
    members = []
    for key, node in root:
        value: Any = node.plain()
        sound = quotes_of([value]) >= 0
        members.append(
            RawMember(str(key.value), value, key.start, key.end, node.start, node.end, _repeats_a_key(node), sound)
        )
    return Members(members, root.start, root.end)


def _repeats_a_key(node: Node) -> bool:
    if len(node.by(str)) < len(node.members):
        return True
    return any(map(_repeats_a_key, [*(member.value for member in node), *node.items]))


def _walk(text: str, judge: Judge | None, keeps: bool) -> Members:
    start = after_blanks(text, 0)
    if text[start : start + 1] != "{":
        value, end = decoder()(text, start)
        behind = _BEHIND_WORD if text[start].isalpha() else _BEHIND_NUMBER
        if text[start] not in '["' and re.match(behind, text[end : end + 1]):
            raise NeedsExactReader  # it only begins like a word or number of JSON
        _refuse_depth(value)
        return Members(None, start, end)
    first = after_blanks(text, start + 1)
    if text[first : first + 1] == "}":
        return Members([], start, first + 1)
    return regular_members(text, start, first, judge, keeps) or _one_by_one(text, start, first)


def _one_by_one(text: str, start: int, at: int) -> Members:
    decode = decoder()
    usual_key, separator = re.compile(_KEY).match, re.compile(_SEPARATOR).match
    members: list[RawMember] = []
    while True:
        head = usual_key(text, at)
        key, key_end, value_start = (head[1], head.end(1) + 1, head.end()) if head else key_at(text, at)
        value, end = decode(text, value_start)
        quotes = quotes_of([value])
        duplicates = text.count('"', value_start, end) != quotes and _has_duplicates(text, value_start)
        members.append(RawMember(key, value, at, key_end, value_start, end, duplicates, quotes >= 0))
        behind = separator(text, end)
        if not behind:
            raise NeedsExactReader
        if behind[1] == "}":
            for member in {each.key: each for each in members}.values():
                if not member.is_sound:
                    _refuse_depth(member.value, 1)
            return Members(members, start, behind.end(1))
        at = behind.end()


_KEY = r'"([^"\\\x00-\x1f]*)"[ \t\n\r]*:[ \t\n\r]*'
"""A key without escapes, and the text between it and its value."""
_SEPARATOR = r"[ \t\n\r]*([,}])[ \t\n\r]*"


def _has_duplicates(text: str, start: int) -> bool:
    """Return whether a key appears twice in an object of a value."""
    found = False

    def fold(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        nonlocal found
        folded = dict(pairs)
        found = found or len(folded) != len(pairs)
        return folded

    decoder(object_pairs_hook=fold)(text, start)
    return found


def _refuse_depth(value: Any, depth: int = 0) -> None:
    """:raises NeedsExactReader: if the value may be nested too deeply"""
    level = [value]
    while level:
        depth += 1
        if depth > MAX_DEPTH:
            raise NeedsExactReader
        inner = [each.values() if isinstance(each, dict) else each for each in level if isinstance(each, dict | list)]
        level = list(chain.from_iterable(inner))


def _refuse_half_pairs(text: str, members: Members) -> None:
    """:raises NeedsExactReader: if a surrogate escape is unpaired; text after the value is not checked"""
    if not has_unicode_escape(text) or not re.compile(_HALF).search(text, members.start, members.end):
        return
    whole = re.compile(_WHOLE, re.DOTALL).match
    at = text.find("\\", members.start, members.end)
    while at >= 0:
        match = whole(text, at, members.end)
        if not match:
            raise NeedsExactReader
        at = text.find("\\", match.end(), members.end)
