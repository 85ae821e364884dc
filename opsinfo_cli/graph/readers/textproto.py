"""The text form of protocol buffers, in any layout, as a tree.

Source: Protocol Buffers documentation, "Text Format Language Specification"
(protobuf.dev/reference/protobuf/textformat-spec).
"""

from __future__ import annotations

import re
import sys
from typing import TYPE_CHECKING

from .wire import DEEPEST

if TYPE_CHECKING:
    from typing import Any, TypeAlias

    Message: TypeAlias = dict[str, list[Any]]

_BLANK = re.compile(rb"(?:[\s,;]+|#[^\n]*)*+" if sys.version_info >= (3, 11) else rb"(?:[\s,;]+|#[^\n]*)*")
_WORD = re.compile(rb"[A-Za-z_][\w.]*|\[[\w./-]{1,400}\]|-?\s?[\w.][\w.+-]*")
_ESCAPE = re.compile(rb"\\([0-7]{1,3}|[xX][0-9a-fA-F]{1,2}|u[0-9a-fA-F]{4}|U[0-9a-fA-F]{8}|.)", re.S)
_SIMPLE = {b"n": b"\n", b"r": b"\r", b"t": b"\t", b"a": b"\a", b"b": b"\b", b"f": b"\f", b"v": b"\v"}


class TextFault(Exception):
    """Text that is not of this form.

    :ivar at: the byte, in the text that was read
    """

    def __init__(self, at: int, message: str) -> None:
        super().__init__(message)
        self.at = at
        self.message = message


def unescaped(body: bytes) -> bytes:
    """Return the bytes of a string between its quotes."""
    return _ESCAPE.sub(_meant, body) if b"\\" in body else body


def _meant(match: re.Match[bytes]) -> bytes:
    escape = match[1]
    first = escape[:1]
    if first in b"01234567":
        return bytes([int(escape, 8) & 255])
    if first in b"xX" and len(escape) > 1:
        return bytes([int(escape[1:], 16)])
    if first in b"uU" and len(escape) > 1:
        code = int(escape[1:], 16)
        return chr(code).encode("utf-8", "replace") if code < 0x110000 else b"?"
    return _SIMPLE.get(escape, escape)


def string(body: bytes) -> str:
    """Return the text of a string between its quotes."""
    return unescaped(body).decode("utf-8", "replace")


def string_end(text: bytes, at: int) -> int:
    """Return the offset after the closing quote of the string that begins at ``at``.

    :raises TextFault: if the string does not end in its line
    """
    quote = text[at : at + 1]
    end = at
    while True:
        end = text.find(quote, end + 1)
        if end < 0:
            raise TextFault(at, "an unterminated string")
        slashes = end - 1
        while text[slashes : slashes + 1] == b"\\":
            slashes -= 1
        if (end - 1 - slashes) % 2 == 0:
            break
    if text.find(b"\n", at, end) >= 0:
        raise TextFault(at, "a string does not end in its line")
    return end + 1


def parse(text: bytes) -> Message:
    """Return the message of a text: lists of values by field name.

    A value is a word or number as text, a string as bytes, or a message.

    :raises TextFault: if the text is broken or nested too deep
    """
    return _Parser(text).parse()


class _Parser:
    def __init__(self, text: bytes) -> None:
        self._text = text
        self._at = 0

    def parse(self) -> Message:
        return self._message(b"", 0)

    def _message(self, closing: bytes, depth: int) -> Message:
        """Return the fields up to the closing bracket, which is skipped; empty: up to the end."""
        if depth > DEEPEST:
            raise TextFault(self._at, f"messages are nested more than {DEEPEST} deep")
        message: Message = {}
        while (sign := self._next()) != closing:
            if not sign:
                raise TextFault(self._at, "the text ends inside a message")
            name = self._word("a field's name")
            colon = self._next() == b":"
            self._at += colon
            self._values(message.setdefault(name, []), colon, depth)
        self._at += len(closing)
        return message

    def _values(self, values: list[Any], colon: bool, depth: int) -> None:
        """Read the text after a field's name: a value or a list of values."""
        sign = self._next()
        if sign == b"[":
            self._at += 1
            while (sign := self._next()) != b"]":
                values.append(self._value(sign, True, depth))
            self._at += 1
        else:
            values.append(self._value(sign, colon, depth))

    def _value(self, sign: bytes, colon: bool, depth: int) -> Any:
        if sign in (b"{", b"<"):
            self._at += 1
            return self._message(b"}" if sign == b"{" else b">", depth + 1)
        if not colon:
            raise TextFault(self._at, "expected a colon or a message after a field's name")
        return self._string() if sign in (b'"', b"'") else self._word("a value")

    def _next(self) -> bytes:
        """The next sign; empty at the end."""
        if match := _BLANK.match(self._text, self._at):
            self._at = match.end()
        return self._text[self._at : self._at + 1]

    def _word(self, wanted: str) -> str:
        match = _WORD.match(self._text, self._at)
        if not match:
            raise TextFault(self._at, f"expected {wanted}")
        self._at = match.end()
        return match[0].decode("ascii", "replace")

    def _string(self) -> bytes:
        """A string; adjacent pieces are joined."""
        parts = []
        while self._next() in (b'"', b"'"):
            end = string_end(self._text, self._at)
            parts.append(unescaped(self._text[self._at + 1 : end - 1]))
            self._at = end
        return b"".join(parts)
