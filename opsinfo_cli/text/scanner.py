"""A JSON reader that keeps the span of every value; it steps over faults that can be fixed, and records them.

A text without faults is one that the engine accepts (nlohmann::json reading a stream): no comments, no trailing commas,
no NaN; text after the first value is left unread. Slower than :mod:`.members`, and exact.

Source: hicann/ge at ffdcbc9f
- compiler/engines/nn_engine/opskernel/ops_store/ops_kernel_utils.cc
"""

from __future__ import annotations

import re
from json import JSONDecodeError
from json.decoder import scanstring  # type: ignore[attr-defined]
from typing import TYPE_CHECKING

from .document import Document, Fault, Member, Node
from .json_values import MAX_DEPTH, after_blanks, is_too_large
from .source import Source

if TYPE_CHECKING:
    from .patch import Edit

# compiled when first used, because most texts have no comments, numbers or faults
_REST_OF_LINE = r"[ \t\r]*\n"
_NUMBER = r"-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?(?:[eE][+-]?[0-9]+)?"
_COMMENT = r"(?s)//[^\n\r]*|#[^\n\r]*|/\*.*?\*/"
_WORD = r"(?s)[A-Za-z_][A-Za-z0-9_]*|-?[A-Za-z]+|."
_SURROGATE = "[\ud800-\udfff]"
_STRING_FAULTS = {
    "Invalid control character at": "a control character in a string",
    "Unterminated string starting at": "an unterminated string",
    "Invalid \\escape": "an invalid JSON escape",
    "Invalid \\uXXXX escape": "four hexadecimal digits must follow `\\u`",
}
_LITERALS = {"true": True, "false": False, "null": None}


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
        self.deep: list[Fault] = []
        """Values that are nested too deep and not replaced by a later value of the same key."""

    def document(self, start: int) -> Node:
        self.at = start
        self.skip()
        if self.at >= len(self.text):
            raise _Unreadable(Fault("empty-file", "the file is empty", start, start))
        root = self.value(1)
        if self.deep:
            raise _Unreadable(self.deep[0])
        return root

    def skip(self) -> None:
        """Step over blanks and comments; each comment is a fault."""
        while True:
            since = self.at
            self.at = after_blanks(self.text, since)
            comment = self.text[self.at : self.at + 1] in ("/", "#") and re.compile(_COMMENT).match(self.text, self.at)
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
        return _edit(begin, line_end.end() if alone and line_end else end, "")

    def value(self, depth: int) -> Node:
        if depth > MAX_DEPTH:
            return self.too_deep()
        character = self.text[self.at : self.at + 1]
        if character == '"':
            return self.string()
        if character in ("{", "["):
            return self.container(character, depth)
        return self.scalar()

    def too_deep(self) -> Node:
        """Step over a value without recursion; it is a fault unless a later member with the same key replaces it."""
        start = self.at
        fault = self.syntax(f"nested deeper than {MAX_DEPTH} levels")
        open_: list[str] = []
        try:
            while self.opens(open_) or self.is_followed(open_):
                pass
        except _Unreadable:
            raise fault from None
        self.deep.append(fault.fault)
        return Node("object" if self.text[start] == "{" else "array", start, self.at)

    def opens(self, open_: list[str]) -> bool:
        """Step over a string, a scalar or an empty container, or into a container.

        :returns: whether a value comes next"""
        character = self.text[self.at : self.at + 1]
        if character not in ("{", "["):
            _ = self.string() if character == '"' else self.scalar()
            return False
        closing = "}" if character == "{" else "]"
        self.at += 1
        self.skip()
        if self.text.startswith(closing, self.at):
            self.at += 1
            return False
        open_.append(closing)
        if closing == "}":
            self.key()
        return True

    def is_followed(self, open_: list[str]) -> bool:
        """Step over closing brackets after a value, or a comma.

        :returns: whether a value comes next"""
        while open_:
            self.skip()
            if self.text.startswith(open_[-1], self.at):
                open_.pop()
                self.at += 1
            elif self.comma() is None:
                raise self.syntax("expected `,` or a closing bracket")
            else:
                self.skip()
                if open_[-1] == "}":
                    self.key()
                return True
        return False

    def string(self) -> Node:
        start = self.at
        try:
            value, self.at = scanstring(self.text, start + 1, True)
        except JSONDecodeError as error:
            self.at = min(error.pos, len(self.text))
            said = _STRING_FAULTS.get(error.msg.split(":")[0], error.msg[0].lower() + error.msg[1:])
            raise _Unreadable(Fault("syntax", said, self.at, self.at + 1)) from None
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
        said = {"'": "strings must be in double quotes"}.get(
            word.group(), f"a JSON value cannot begin with `{word.group()}`"
        )
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
            fix = _edit(comma, comma + 1, "")
            self.faults.append(Fault("trailing-comma", f"a comma before `{closing}`", comma, comma + 1, fix))
        self.at += 1
        node.end = self.at
        if self.deep and node.members:
            self.forget_replaced(node)
        return node

    def forget_replaced(self, node: Node) -> None:
        """Drop the faults of a member that a later one replaces, because the engine never reads it."""
        kept = node.by(str)
        gone = [each.value for each in node.members if kept[each.name] is not each]
        self.deep = [fault for fault in self.deep if not any(each.start <= fault.start < each.end for each in gone)]

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
            raise self.syntax(f"expected `,` or a closing bracket, not `{self.text[self.at]}`")
        end = node.members[-1].value.end if node.members else node.items[-1].end
        self.faults.append(Fault("missing-comma", "a comma is missing here", end, end, _edit(end, end, ",")))

    def member(self, depth: int) -> Member:
        key = self.key()
        return Member(key, self.value(depth + 1))

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


def _edit(start: int, end: int, text: str) -> Edit:
    from .patch import Edit

    return Edit(start, end, text)
