"""C++ text to tokens, directives apart.

A token is its text as written, so that ``"("`` the string and ``(`` the bracket stay different, and a place: one number
for a file and an offset in it (:class:`SourceMap`), because lines are asked for a few tokens only.
"""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import NamedTuple


class Token(NamedTuple):
    """
    :param place: for :meth:`SourceMap.at`
    :param hidden: macros that it came of, which do not expand in it
    """

    text: str
    place: int
    hidden: frozenset[str] = frozenset()


class SourceLine(NamedTuple):
    """:param line: 1-based"""

    file: str
    line: int


@dataclass(eq=False, repr=False)
class SourceMap:
    """The places of all files that were read, laid end to end."""

    _starts: list[int] = field(default_factory=list)
    _files: list[str] = field(default_factory=list)
    _texts: list[str] = field(default_factory=list)
    _line_ends: dict[int, list[int]] = field(default_factory=dict)
    _end: int = 0

    def add(self, file: str, text: str) -> int:
        """Return the place of the first character of a file."""
        start = self._end
        self._starts.append(start)
        self._files.append(file)
        self._texts.append(text)
        self._end += len(text) + 1
        return start

    def at(self, place: int) -> SourceLine:
        index = bisect_right(self._starts, place) - 1
        if index not in self._line_ends:
            self._line_ends[index] = [match.start() for match in re.finditer("\n", self._texts[index])]
        return SourceLine(self._files[index], bisect_left(self._line_ends[index], place - self._starts[index]) + 1)

    def text(self, start: int, end: int) -> str:
        """Return the text between two places of one file."""
        index = bisect_right(self._starts, start) - 1
        return self._texts[index][start - self._starts[index] : end - self._starts[index]]


class SourceFault(Exception):
    """What cannot be read or is not interpreted.

    :param place: for :meth:`SourceMap.at`
    """

    def __init__(self, reason: str, place: int) -> None:
        super().__init__(reason)
        self.reason = reason
        self.place = place

    def at(self, place: int) -> SourceFault:
        """Return the same fault at another place."""
        return type(self)(self.reason, place)


class NotDefined(SourceFault):
    """A name that no source or header of the project defines; a header that is not in the project may."""


class Directive(NamedTuple):
    """A line that begins with ``#``.

    :param word: ``include``; empty for the directive without effect
    :param rest: what follows the word, without comments
    """

    word: str
    place: int
    rest: list[Token]


_TOKEN = re.compile(
    r"""
      //(?:[^\n\\]|\\[ \t]*\r?\n|\\.)*                           # the end of a comment or raw string may be missing:
    | /\*(?:.*?\*/|.*)                                            # it is then looked for once, not for each beginning
    | (?:u8|[LuU])?R"(?P<mark>[^()\\\s]{0,16})\((?:.*?\)(?P=mark)"|.*)
    | (?:u8|[LuU])?"(?:[^"\\\n]|\\.)*"
    | '(?:[^'\\\n]|\\.)*'
    | \.?[0-9](?:[eEpP][+-]|'?[0-9A-Za-z_.])*
    | [A-Za-z_]\w*
    | %:|::|->|\+\+|--|<<=?|>=|<=|==|!=|&&|\|\||[-+*/%&|^]=|\.\.\.|\#\#
    | \\\r?\n
    | \S
    """,
    re.DOTALL | re.VERBOSE | re.ASCII,
)
"""``>>`` is two tokens, because it mostly ends two template lists."""


_SPELLED = {"and": "&&", "or": "||", "not": "!", "bitand": "&", "bitor": "|", "xor": "^", "compl": "~"}
_SPELLED |= {"not_eq": "!=", "and_eq": "&=", "or_eq": "|=", "xor_eq": "^="}
"""Operators that C++ also writes as words."""


def lex(text: str, start: int) -> Iterator[list[Token] | Directive]:
    """Yield the directives of a text, and the tokens between them.

    :param start: the place of its first character
    :raises SourceFault: if a comment or raw string is not closed
    """
    tokens: list[Token] = []
    directive, line_end, last_end, is_first = None, 0, 0, True
    for match in _TOKEN.finditer(text):
        word, at = match[0], match.start()
        if directive is not None and at >= line_end:
            yield _directive(directive, tokens)
            directive, tokens = None, []
        if word == "%:":
            raise SourceFault("`%:` is not interpreted", start + at)
        if directive is not None and word.startswith("/*") and match.end() > line_end:
            line_end = _end_of_line(text, match.end())
        is_first = is_first or "\n" in text[last_end:at]  # a comment before it leaves a word the first of its line
        if word == "#" and directive is None and is_first:
            if tokens:
                yield tokens
            directive, tokens, line_end = start + at, [], _end_of_line(text, at)
        elif not word.startswith(("//", "/*", "\\")):
            tokens.append(Token(_SPELLED.get(word, word), start + at))
            is_first = False
        if match.end() == len(text) and _is_open(word, match["mark"]):
            raise SourceFault("a comment or raw string is not closed", start + at)
        last_end = match.end()
    if directive is not None:
        yield _directive(directive, tokens)
    elif tokens:
        yield tokens


_BLANKS = re.compile(r"(?:\s|\\\r?\n|//[^\n]*\n|/\*(?:[^*]|\*(?!/))*\*/)*")


def with_blanks(tokens: list[Token], places: SourceMap) -> str | None:
    """Return the text of tokens with one blank where the source has blanks or comments between them; None if the source
    does not have them one after the other.
    """
    text, end = "", 0
    for token in tokens:
        if text and token.place != end:
            if token.place < end or not _BLANKS.fullmatch(places.text(end, token.place)):
                return None
            text += " "
        text += token.text
        end = token.place + len(token.text)
    return text


def _is_open(word: str, mark: str | None) -> bool:
    if word.startswith("/*"):
        return len(word) < 4 or not word.endswith("*/")
    return mark is not None and not word.endswith(f'){mark}"')


def _directive(place: int, tokens: list[Token]) -> Directive:
    return Directive(tokens[0].text if tokens else "", place, tokens[1:])


def _end_of_line(text: str, at: int) -> int:
    """Return where the line of a directive ends; a backslash at the end of a line continues it."""
    end = text.find("\n", at)
    while end > 0 and text[at:end].rstrip().endswith("\\"):
        at, end = end + 1, text.find("\n", end + 1)
    return len(text) if end < 0 else end
