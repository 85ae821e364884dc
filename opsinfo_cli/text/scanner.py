"""A reader that knows where everything stands: strict RFC 8259, or tolerant so that faults can be named and mended.

Strict is what the engine accepts (nlohmann::json reading a stream, engine.md 1.9): no comments, no trailing commas,
no NaN; text after the first value is left unread. Slower than :mod:`.members`, and exact.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from json import JSONDecodeError
from json.decoder import scanstring  # type: ignore[attr-defined]

from ..errors import Damaged
from ..typed import NamedTuple
from .json_values import MAX_DEPTH, is_too_large
from .patch import Edit
from .source import Source

_BLANK = re.compile(r"[ \t\n\r]*")
_REST_OF_LINE = re.compile(r"[ \t\r]*\n")
_NUMBER = re.compile(r"-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?(?:[eE][+-]?[0-9]+)?")
_COMMENT = re.compile(r"//[^\n\r]*|#[^\n\r]*|/\*.*?\*/", re.DOTALL)
_WORD = re.compile(r"[A-Za-z_][A-Za-z0-9_]*|-?[A-Za-z]+|.", re.DOTALL)
_SURROGATE = re.compile("[\ud800-\udfff]")
_STRING_FAULTS = {
    "Invalid control character at": "a control character in a string",
    "Unterminated string starting at": "a string that does not end",
    "Invalid \\escape": "no JSON escape",
    "Invalid \\uXXXX escape": "four hexadecimal digits must follow `\\u`",
}
_LITERALS = {"true": True, "false": False, "null": None}


class Fault(NamedTuple):
    """One thing wrong with the text.

    :param name: the name of the finding: syntax, comment, trailing-comma, missing-comma, empty-file
    :param mend: the edit that mends it, where there is one
    """

    name: str
    message: str
    start: int
    end: int
    mend: Edit | None = None


class Node:
    """A JSON value and its span. ``kind`` is object, array, string, number or literal."""

    __slots__ = ("_by", "end", "items", "kind", "members", "start", "value")

    def __init__(self, kind: str, start: int, end: int = 0, value: str | bool | None = None) -> None:
        self.kind = kind
        self.start = start
        self.end = end
        self.value = value
        self.members: list[Member] = []
        self.items: list[Node] = []
        self._by: tuple[Callable[[str], str], dict[str, Member]] | None = None

    def __iter__(self) -> Iterator[Member]:
        return iter(self.members)

    def get(self, key: str) -> Node | None:
        """The value the engine reads: of equal keys the last."""
        member = self.by(str).get(key)
        return member.value if member else None

    def by(self, fold: Callable[[str], str]) -> dict[str, Member]:
        """The members by their folded keys, remembered for one way to fold.

        Of keys that fold alike the first in byte order counts, of equal ones the last.
        """
        if self._by is None or self._by[0] is not fold:
            found: dict[str, Member] = {}
            for member in self.members:
                key = fold(member.name)
                if member.name <= found.setdefault(key, member).name:
                    found[key] = member
            self._by = fold, found
        return self._by[1]

    def plain(self) -> object:
        """The value without spans, equal keys folded as the engine folds them. Numbers become floats."""
        if self.kind == "object":
            return {member.name: member.value.plain() for member in self.members}
        if self.kind == "array":
            return [item.plain() for item in self.items]
        if self.kind == "number":
            return float(str(self.value))
        return self.value


class Member(NamedTuple):
    """A key and its value; ``key`` is a string node."""

    key: Node
    value: Node

    @property
    def name(self) -> str:
        return str(self.key.value)


class Document(NamedTuple):
    """The outcome of a scan: ``root`` is None where a fault could not be stepped over."""

    source: Source
    root: Node | None
    faults: list[Fault]
    end: int
    """Offset behind the first value; what follows, blanks apart, the engine never reads."""

    @property
    def tail(self) -> int | None:
        """Where text after the first value begins, or None."""
        at = _BLANK.match(self.source.text, self.end).end()  # type: ignore[union-attr]
        return at if at < len(self.source.text) and self.root is not None else None

    def require_root(self) -> Node:
        """The root of a text without faults.

        :raises Damaged: with the place of the first fault
        """
        if self.faults or self.root is None:
            fault = self.faults[0]
            place = self.source.place(fault.start)
            mendable = all(each.mend for each in self.faults)
            raise Damaged(
                fault.message,
                path=self.source.path,
                line=place.line,
                column=place.column,
                hint="`opsinfo fmt` mends this" if mendable else None,
            )
        return self.root


class _Unreadable(Exception):
    def __init__(self, fault: Fault) -> None:
        self.fault = fault


def scan(source: Source, start: int = 0) -> Document:
    """Read one value of ``source`` with spans, stepping over what can be mended.

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
        """Step over blanks; comments too, each with its fault."""
        while True:
            since = self.at
            self.at = _BLANK.match(self.text, since).end()  # type: ignore[union-attr]
            comment = _COMMENT.match(self.text, self.at)
            if not comment:
                return
            mend = self._without(since, *comment.span())
            self.faults.append(Fault("comment", "JSON has no comments", *comment.span(), mend=mend))
            self.at = comment.end()

    def _without(self, since: int, start: int, end: int) -> Edit:
        """Take a comment away: its whole line where it stands alone, else with the blanks before it.

        :param since: where the blanks before it begin; no more than those are looked at, lines may be long
        """
        text = self.text
        begin = since + len(text[since:start].rstrip(" \t"))
        alone = begin == 0 or text[begin - 1] == "\n"
        line_end = _REST_OF_LINE.match(text, end)
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
            said = _STRING_FAULTS.get(error.msg.split(":")[0], error.msg[0].lower() + error.msg[1:])
            raise _Unreadable(Fault("syntax", said, self.at, self.at + 1)) from None
        if "\\u" in self.text[start : self.at] and _SURROGATE.search(value):
            raise _Unreadable(Fault("syntax", "half of a surrogate pair in a string", start, self.at))
        return Node("string", start, self.at, value)

    def scalar(self) -> Node:
        start = self.at
        number = _NUMBER.match(self.text, start)
        if number:
            self.at = number.end()
            if re.match(r"[\w.+-]", self.text[self.at : self.at + 1]):
                raise self.syntax("no JSON number is written so")
            if is_too_large(number.group()):
                self.faults.append(Fault("syntax", "a number too large for the engine's reader", start, self.at))
            return Node("number", start, self.at, number.group())
        word = _WORD.match(self.text, start)
        if word and word.group() in _LITERALS:
            self.at = word.end()
            return Node("literal", start, self.at, _LITERALS[word.group()])
        if not word:
            raise self.syntax("the file ends where a value should stand")
        said = {"'": "strings stand in double quotes"}.get(word.group(), f"no JSON value begins with `{word.group()}`")
        raise _Unreadable(Fault("syntax", said, start, word.end()))

    def container(self, opening: str, depth: int) -> Node:
        closing = "}" if opening == "{" else "]"
        node = Node("object" if opening == "{" else "array", self.at)
        self.at += 1
        comma: int | None = None
        while True:
            self.skip()
            if self.text.startswith(closing, self.at):
                break
            if node.members or node.items:
                self.check_comma(comma, node)
            if opening == "{":
                node.members.append(self.member(depth))
            else:
                node.items.append(self.value(depth + 1))
            comma = self.comma()
        if comma is not None:
            mend = Edit(comma, comma + 1, "")
            self.faults.append(Fault("trailing-comma", f"a comma before `{closing}`", comma, comma + 1, mend))
        self.at += 1
        node.end = self.at
        return node

    def comma(self) -> int | None:
        self.skip()
        if not self.text.startswith(",", self.at):
            return None
        self.at += 1
        return self.at - 1

    def check_comma(self, comma: int | None, node: Node) -> None:
        if comma is not None:
            return
        if self.at >= len(self.text):
            raise self.syntax("the file ends inside " + ("an object" if node.members else "an array"))
        if not re.match(r'["\[{\-0-9a-z]', self.text[self.at]):
            raise self.syntax(f"`,` or a closing bracket expected, not `{self.text[self.at]}`")
        end = node.members[-1].value.end if node.members else node.items[-1].end
        self.faults.append(Fault("missing-comma", "a comma is missing here", end, end, Edit(end, end, ",")))

    def member(self, depth: int) -> Member:
        if not self.text.startswith('"', self.at):
            if self.at >= len(self.text):
                raise self.syntax("the file ends inside an object")
            raise self.syntax(f"a key in double quotes expected, not `{self.text[self.at]}`")
        key = self.string()
        self.skip()
        if not self.text.startswith(":", self.at):
            raise self.syntax("`:` expected after a key")
        self.at += 1
        self.skip()
        return Member(key, self.value(depth + 1))

    def syntax(self, message: str) -> _Unreadable:
        return _Unreadable(Fault("syntax", message, self.at, min(self.at + 1, len(self.text))))
