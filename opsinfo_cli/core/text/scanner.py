"""JSON with the span of every value. Faults that can be fixed are stepped over and recorded.

A text without faults is one that the engine accepts (nlohmann::json reading a stream): no comments, no trailing commas,
no NaN; text after the first value is left unread. Slower than :mod:`.members`, and exact.

Source: hicann/ge at ffdcbc9f
- compiler/engines/nn_engine/opskernel/ops_store/ops_kernel_utils.cc
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from json import JSONDecodeError
from json.decoder import WHITESPACE, scanstring  # type: ignore[attr-defined]
from typing import NamedTuple

from .escape import INVISIBLE
from .patch import Edit, Patch
from .source import Source

MAX_DEPTH = 128
"""The deepest nesting that is read; the engine's files have three levels."""

# compiled when first used, because most texts have no comments, numbers or faults
_REST_OF_LINE = r"[ \t\r]*\n"
_NUMBER = r"-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?(?:[eE][+-]?[0-9]+)?"
COMMENT = r"(?:(?://|#)[^\n\r]*|/\*[^*]*\*+(?:[^*/][^*]*\*+)*/)"
"""It ends at its first `*/`: text is divided into comments in one way only, also where what follows does not match."""
_WORD = r"(?s)[A-Za-z_][A-Za-z0-9_]*|-?[A-Za-z]+|."
_SURROGATE = "[\ud800-\udfff]"
_STRING_FAULTS = {
    "Invalid control character at": "a control character in a string",
    "Unterminated string starting at": "an unterminated string",
    "Invalid \\escape": "an invalid JSON escape",
    "Invalid \\uXXXX escape": "four hexadecimal digits must follow `\\u`",
}
_KINDS = {'"': "string", "{": "object", "[": "array", **dict.fromkeys("-0123456789", "number")}
"""The kind of a value by its first character."""
_LITERALS = {"true": True, "false": False, "null": None}


KEEP_COMMENTS = "keep comments in a .jsonc: `opsinfo fmt FILE.jsonc -o FILE.json` makes the engine's file of it"
"""The hint at a comment."""


class Fault(NamedTuple):
    """A fault of the text.

    :param name: the name of the finding: syntax, comment, trailing-comma, missing-comma, invisible-character,
        empty-file
    :param fix: the edit that fixes it, if there is one
    """

    name: str
    message: str
    start: int
    end: int
    fix: Edit | None = None


class Node:
    """A JSON value and its span. ``kind`` is object, array, string, number or literal."""

    __slots__ = ("_by", "end", "items", "kind", "members", "start", "value")

    def __init__(self, kind: str, start: int, end: int = 0, value: str | bool | None = None) -> None:
        self.kind = kind
        self.start = start
        self.end = end
        self.value = value
        self.members: list[Member] = [] if kind == "object" else _NO_MEMBERS
        self.items: list[Node] = [] if kind == "array" else _NO_ITEMS
        self._by: tuple[Callable[[str], str], dict[str, Member]] | None = None

    def __iter__(self) -> Iterator[Member]:
        return iter(self.members)

    @property
    def parts(self) -> Sequence[Member | Node]:
        return self.items or self.members

    def get(self, key: str) -> Node | None:
        """Return the value that the engine reads: the last of equal keys."""
        member = self.by(str).get(key)
        return member.value if member else None

    def by(self, fold: Callable[[str], str]) -> dict[str, Member]:
        """Return the members by folded key, cached for one ``fold``.

        Of different keys that fold to the same one, the first in byte order is used; of equal keys, the last.
        """
        if self._by is None or self._by[0] is not fold:
            found: dict[str, Member] = {}
            for member in self.members:
                key = fold(member.name)
                if member.name <= found.setdefault(key, member).name:
                    found[key] = member
            self._by = fold, found
        return self._by[1]

    def plain(self, number: Callable[[str], object] = float) -> object:
        """Return the value without spans, with the last of equal keys, as in the engine.

        :param number: makes a value of a number as written
        """
        if self.kind == "object":
            return {member.name: member.value.plain(number) for member in self.members}
        if self.kind == "array":
            return [item.plain(number) for item in self.items]
        if self.kind == "number":
            return number(str(self.value))
        return self.value


class Member(NamedTuple):
    """A key and its value; ``key`` is a string node."""

    key: Node
    value: Node

    @property
    def start(self) -> int:
        return self.key.start

    @property
    def end(self) -> int:
        return self.value.end

    @property
    def name(self) -> str:
        return str(self.key.value)


_NO_MEMBERS: list[Member] = []
_NO_ITEMS: list[Node] = []
"""Shared by the many nodes without parts; nobody may add to them."""


class Document(NamedTuple):
    """The result of a scan: ``root`` is None if the scan stopped at a fault."""

    source: Source
    root: Node | None
    faults: list[Fault]
    end: int
    """Offset after the first value; the engine never reads what follows it."""

    @property
    def tail(self) -> int | None:
        """The offset of text after the first value; None if there is none."""
        at = after_blanks(self.source.text, self.end)
        return at if at < len(self.source.text) and self.root is not None else None

    def require_root(self) -> Node:
        """:raises Damaged: if the text has faults; has the place of the first one"""
        faults = self.refused
        if faults or self.root is None:
            hint = "`opsinfo fmt` fixes the syntax" if all(fault.fix for fault in faults) else None
            if faults and faults[0].name == "comment":
                hint = KEEP_COMMENTS
            raise self.source.damaged(faults[0].message, faults[0].start, hint)
        return self.root

    @property
    def refused(self) -> list[Fault]:
        """The faults of the text; comments, and commas behind the last part, are none of a ``.jsonc``."""
        if not self.source.is_commented:
            return self.faults
        return [fault for fault in self.faults if fault.name not in ("comment", "trailing-comma")]


def after_blanks(text: str, at: int) -> int:
    """Return the offset of the next character that is not blank."""
    end: int = WHITESPACE.match(text, at).end()
    return end


def is_too_large(number: str) -> bool:
    """Return whether the engine's reader throws at a JSON number beyond a double (nlohmann's out_of_range.406)."""
    return abs(float(number)) == float("inf")


class _Unreadable(Exception):
    def __init__(self, fault: Fault) -> None:
        self.fault = fault


def scan(source: Source, start: int = 0) -> Document:
    """Read one value of ``source`` with spans, stepping over faults that can be fixed.

    A document without faults is what the engine accepts.
    """
    scanner = _Scanner(source.text)
    root: Node | None = None
    try:
        root = scanner.document(start)
    except _Unreadable as stop:
        scanner.faults.append(stop.fault)
    return Document(source, root, scanner.faults, scanner.at)


class _Scanner:
    def __init__(self, text: str) -> None:
        self.text = text
        self.at = 0
        self.faults: list[Fault] = []

    def document(self, start: int) -> Node:
        self.at = start
        self.skip()
        if self.at >= len(self.text):
            raise _Unreadable(Fault("empty-file", "the file is empty", start, start))
        return self.value(1)

    def skip(self) -> None:
        """Step over blanks and comments; each comment is a fault."""
        while True:
            since = self.at
            self.at = after_blanks(self.text, since)
            comment = self.text[self.at : self.at + 1] in ("/", "#") and re.compile(COMMENT).match(self.text, self.at)
            if not comment and (blank := INVISIBLE.match(self.text, self.at)):
                fix = Edit(*blank.span(), " ")
                message = "an invisible character that is no blank of JSON"
                self.faults.append(Fault("invisible-character", message, *blank.span(), fix=fix))
                self.at += 1
                continue
            if not comment:
                return
            fix = self._without(since, *comment.span())
            self.faults.append(Fault("comment", "JSON has no comments", *comment.span(), fix=fix))
            self.at = comment.end()

    def _without(self, since: int, start: int, end: int) -> Edit:
        """Remove a comment: with its line if nothing else is on it, else with the blanks before it.

        :param since: offset of the blanks before it; earlier text is not read, because lines may be long
        """
        text = self.text
        begin = since + len(text[since:start].rstrip(" \t"))
        alone = begin == 0 or text[begin - 1] == "\n"
        line_end = re.compile(_REST_OF_LINE).match(text, end)
        return Edit(begin, line_end.end() if alone and line_end else end, "")

    def value(self, depth: int) -> Node:
        if depth > MAX_DEPTH:
            raise self.syntax(f"nested deeper than {MAX_DEPTH} levels")
        character = self.text[self.at : self.at + 1]
        if character == '"':
            return self.string()
        if character in ("{", "["):
            return self.container(character, depth)
        return self.scalar()

    def string(self) -> Node:
        start = self.at
        try:
            value, self.at = scanstring(self.text, start + 1, True)
        except JSONDecodeError as error:
            self.at = min(error.pos, len(self.text))
            message = _STRING_FAULTS.get(error.msg.split(":")[0], error.msg[0].lower() + error.msg[1:])
            raise _Unreadable(Fault("syntax", message, self.at, self.at + 1)) from None
        if "\\u" in self.text[start : self.at] and re.search(_SURROGATE, value):
            raise _Unreadable(Fault("syntax", "a lone surrogate in a string", start, self.at))
        return Node("string", start, self.at, value)

    def scalar(self) -> Node:
        start = self.at
        number = re.compile(_NUMBER).match(self.text, start)
        if number:
            self.at = number.end()
            if re.match(r"[\w.+-]", self.text[self.at : self.at + 1]):
                raise self.syntax("an invalid JSON number")
            if is_too_large(number.group()):
                self.faults.append(Fault("syntax", "a number too large for the engine's reader", start, self.at))
            return Node("number", start, self.at, number.group())
        word = re.compile(_WORD).match(self.text, start)
        if word and word.group() in _LITERALS:
            self.at = word.end()
            return Node("literal", start, self.at, _LITERALS[word.group()])
        if not word:
            raise self.syntax("expected a value, found the end of the file")
        message = {"'": "strings must be in double quotes"}.get(
            word.group(), f"a JSON value cannot begin with `{word.group()}`"
        )
        raise _Unreadable(Fault("syntax", message, start, word.end()))

    def container(self, opening: str, depth: int) -> Node:
        closing = "}" if opening == "{" else "]"
        node = Node("object" if opening == "{" else "array", self.at)
        self.at += 1
        comma: int | None = None
        while True:
            self.skip()
            if self.text.startswith(closing, self.at):
                break
            if comma is None and (node.members or node.items):
                self.miss_comma(node)
            if opening == "{":
                key = self.key()
                node.members.append(Member(key, self.value(depth + 1)))
            else:
                node.items.append(self.value(depth + 1))
            self.skip()
            comma = self.at if self.text.startswith(",", self.at) else None
            if comma is not None:
                self.at += 1
        if comma is not None:
            fix = Edit(comma, comma + 1, "")
            self.faults.append(Fault("trailing-comma", f"a comma before `{closing}`", comma, comma + 1, fix))
        self.at += 1
        node.end = self.at
        return node

    def miss_comma(self, node: Node) -> None:
        if self.at >= len(self.text):
            raise self.syntax("the file ends inside " + ("an object" if node.members else "an array"))
        if node.items and _KINDS.get(self.text[self.at], node.items[-1].kind) != node.items[-1].kind:
            raise self.syntax(f"expected `,` or a closing bracket, not `{self.text[self.at]}`")
        if not re.match(r'["\[{\-0-9a-z]', self.text[self.at]):
            raise self.syntax(f"expected `,` or a closing bracket, not `{self.text[self.at]}`")
        end = node.members[-1].value.end if node.members else node.items[-1].end
        self.faults.append(Fault("missing-comma", "a comma is missing here", end, end, Edit(end, end, ",")))

    def key(self) -> Node:
        """Read a key with the colon and the blanks after it."""
        if not self.text.startswith('"', self.at):
            if self.at >= len(self.text):
                raise self.syntax("the file ends inside an object")
            raise self.syntax(f"expected a key in double quotes, not `{self.text[self.at]}`")
        key = self.string()
        self.skip()
        if not self.text.startswith(":", self.at):
            raise self.syntax("expected `:` after a key")
        self.at += 1
        self.skip()
        return key

    def syntax(self, message: str) -> _Unreadable:
        return _Unreadable(Fault("syntax", message, self.at, min(self.at + 1, len(self.text))))


def syntax_patch(document: Document) -> Patch:
    """Return the smallest edits that fix the faults of a text.

    :raises Damaged: if a fault cannot be fixed
    """
    if any(fault.fix is None for fault in document.faults):
        document.faults.sort(key=lambda fault: fault.fix is not None)
        document.require_root()
    edits = {fault.fix for fault in document.faults if fault.fix}
    if document.tail is not None:
        edits.add(without_tail(document.source.text, document.end))
    return Patch(document.source.sha256, tuple(sorted(edits)), drop_bom=document.source.bom)


def without_tail(text: str, end: int) -> Edit:
    """:param end: offset after the first value"""
    newline = "\r\n" if "\r\n" in text else "\n"
    return Edit(end, len(text), newline if text.endswith("\n") else "")
